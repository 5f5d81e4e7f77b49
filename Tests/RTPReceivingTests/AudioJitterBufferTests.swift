import TestSupport
import Testing
import Wire

@testable import RTPReceiving

@Suite struct AudioJitterBufferTests {
  /// One packet each 20 ms, inserted at `milliseconds`, and nothing else.
  private static func insert(
    _ sequences: [Int64], into buffer: inout AudioJitterBuffer, at milliseconds: Double, hasCopy: Bool = false
  ) {
    for sequence in sequences {
      buffer.insert(
        AudioCall.payload(milliseconds: 20, sequence: sequence, hasCopy: hasCopy), sequence: sequence,
        timestamp: UInt32(truncatingIfNeeded: sequence &* 960), isRecovered: false,
        now: .zero + .nanoseconds(Int64(milliseconds * 1e6)))
    }
  }

  /// Sequence numbers of what is played up to `milliseconds`: negative for a copy, 0 for concealment, nil for silence.
  private static func play(_ buffer: inout AudioJitterBuffer, until milliseconds: Int) -> [Int64?] {
    buffer.handleTimeout(now: .zero + .milliseconds(milliseconds))
    var result: [Int64?] = []
    while let element = buffer.poll() {
      switch element.content {
      case .packet(let payload): result.append(AudioCall.sequence(of: payload))
      case .forwardErrorCorrection(let next): result.append(-AudioCall.sequence(of: next))
      case .concealment: result.append(0)
      case .silence: result.append(nil)
      }
    }
    return result
  }

  private static func makeBuffer() -> AudioJitterBuffer {
    AudioJitterBuffer(configuration: AudioJitterBufferConfiguration(), clockRate: 48_000)
  }

  @Test func playingBeginsWithTheFirstPacket() {
    var buffer = Self.makeBuffer()
    #expect(buffer.nextDeadline == nil && buffer.currentDelay == .zero)
    #expect(Self.play(&buffer, until: 1000) == [])
    Self.insert([7], into: &buffer, at: 1000)
    #expect(buffer.nextDeadline == .zero + .milliseconds(1040))
    #expect(buffer.currentDelay == .milliseconds(20))
    #expect(Self.play(&buffer, until: 1039) == [])
    #expect(Self.play(&buffer, until: 1040) == [7])
    #expect(buffer.nextDeadline == .zero + .milliseconds(1060))
  }

  @Test func playingDoesNotBeginWithACopy() {
    var buffer = Self.makeBuffer()
    buffer.insert([8, 0, 0, 0, 0, 6], sequence: 6, timestamp: 6 * 960, isRecovered: true, now: .zero)
    #expect(buffer.nextDeadline == nil)
    Self.insert([7], into: &buffer, at: 0)
    #expect(Self.play(&buffer, until: 40) == [7])
    #expect(buffer.counters.packetsDiscarded == 0)
  }

  @Test func elementsTellTheirTimestampsAndLengths() {
    var call = AudioCall()
    call.run(for: .seconds(3))
    call.pause(milliseconds: 200)
    call.run(for: .seconds(3))
    var next = call.played[0].element.rtpTimestamp
    #expect(next == 5000)
    for played in call.played {
      #expect(played.element.rtpTimestamp == next || played.element.isAfterDiscontinuity)
      next = played.element.rtpTimestamp &+ UInt32(played.element.samples)
      #expect(played.element.captureTime == nil)
    }
    #expect(call.played[0].element.isAfterDiscontinuity)
    #expect(call.played.filter(\.element.isAfterDiscontinuity).count <= 3)
  }

  @Test func lostPacketComesFromTheCopyInTheNextOne() {
    var buffer = Self.makeBuffer()
    Self.insert([1], into: &buffer, at: 0, hasCopy: true)
    Self.insert([3], into: &buffer, at: 40, hasCopy: true)
    #expect(Self.play(&buffer, until: 80) == [1, -3, 3])
    #expect(buffer.counters.fecSamplesUsed == 960)
    #expect(buffer.counters.concealedSamples == 0)
  }

  @Test func copyRepairsTheLastOfSeveralLostPackets() {
    var buffer = Self.makeBuffer()
    Self.insert([1], into: &buffer, at: 0, hasCopy: true)
    Self.insert([4], into: &buffer, at: 55, hasCopy: true)
    #expect(Self.play(&buffer, until: 100) == [1, 0, -4, 4])
  }

  @Test func lostPacketWithoutACopyIsConcealed() {
    var buffer = Self.makeBuffer()
    Self.insert([1], into: &buffer, at: 0)
    Self.insert([3], into: &buffer, at: 40)
    #expect(Self.play(&buffer, until: 60) == [1, 0])
    // Too late.
    Self.insert([2], into: &buffer, at: 61)
    #expect(buffer.counters.packetsDiscarded == 1)
    #expect(Self.play(&buffer, until: 80) == [3])
    #expect(buffer.counters.concealmentEvents == 1)
    #expect(buffer.counters.concealedSamples == 960)
  }

  @Test func retransmittedPacketTakesItsPlace() {
    var buffer = Self.makeBuffer()
    Self.insert([1], into: &buffer, at: 0)
    Self.insert([3], into: &buffer, at: 40)
    buffer.insert(
      [8, 0, 0, 0, 0, 2], sequence: 2, timestamp: 1920, isRecovered: true, now: .zero + .milliseconds(59))
    #expect(Self.play(&buffer, until: 80) == [1, 2, 3])
  }

  @Test func latePacketIsPlayedWhenNothingElseIsThere() {
    var buffer = Self.makeBuffer()
    Self.insert([1], into: &buffer, at: 0)
    #expect(Self.play(&buffer, until: 60) == [1, 0])
    Self.insert([2], into: &buffer, at: 70)
    #expect(Self.play(&buffer, until: 80) == [2])
    #expect(buffer.counters.insertedSamplesForDeceleration == 960)
    Self.insert([3], into: &buffer, at: 90)
    #expect(Self.play(&buffer, until: 100) == [3])
    #expect(buffer.counters.packetsDiscarded == 0)
  }

  @Test func latePacketIsLeftOutWhenTheNextOneIsThere() {
    var buffer = Self.makeBuffer()
    Self.insert([1], into: &buffer, at: 0)
    #expect(Self.play(&buffer, until: 60) == [1, 0])
    Self.insert([2, 3], into: &buffer, at: 70)
    #expect(Self.play(&buffer, until: 80) == [3])
    #expect(buffer.counters.packetsDiscarded == 1)
    #expect(buffer.counters.insertedSamplesForDeceleration == 0)
  }

  @Test func duplicatesChangeNothing() {
    var plain = AudioCall()
    var doubled = AudioCall()
    doubled.duplicates = true
    plain.run(for: .seconds(5))
    doubled.run(for: .seconds(5))
    #expect(doubled.counters.duplicatePackets > 200)
    doubled.buffer.counters.duplicatePackets = 0
    #expect(doubled.counters == plain.counters)
    #expect(doubled.sequences == plain.sequences)
  }

  @Test func reorderedPacketsPlayInOrder() {
    var call = AudioCall()
    var index = 0
    call.path = { _, _ in
      index += 1
      return index % 3 == 0 ? 10 : 35
    }
    call.run(for: .seconds(10))
    call.forget()
    call.run(for: .seconds(10))
    #expect(call.isInOrder && call.isWithoutHoles)
    #expect(call.concealedShare == 0)
  }

  @Test func countersWrap() {
    var call = AudioCall()
    call.nextSequence = 65_530
    call.nextTimestamp = UInt32.max - 5000
    call.run(for: .seconds(3))
    #expect(call.concealedShare == 0 && call.isInOrder)
    #expect(call.sequences.count > 140)
  }

  @Test(arguments: [10, 20, 40, 60])
  func packetsOfAllLengthsPlay(milliseconds: Int) {
    var call = AudioCall()
    call.packetMilliseconds = milliseconds
    call.carriesCopies = true
    var index = 0
    call.path = { random, _ in
      index += 1
      return index % 40 == 0 ? nil : 10 + .random(in: 0..<5, using: &random)
    }
    call.run(for: .seconds(60))
    #expect(call.isInOrder && call.isWithoutHoles)
    #expect(call.concealedShare < 0.004)
    #expect(call.counters.fecSamplesUsed > UInt64(milliseconds * 48) * 15)
    call.forget()
    call.run(for: .seconds(10))
    #expect(call.meanDelay < 40 + 2.5 * Double(max(20, milliseconds)))
  }

  @Test func senderMayChangeTheLength() {
    var call = AudioCall()
    for milliseconds in [20, 60, 10, 40, 20] {
      call.packetMilliseconds = milliseconds
      call.run(for: .seconds(5))
    }
    #expect(call.isInOrder && call.isWithoutHoles)
    #expect(call.concealedShare < 0.005)
  }

  @Test func pauseOfTheSenderIsSilence() {
    var call = AudioCall()
    call.run(for: .seconds(5))
    call.forget()
    call.pause(milliseconds: 300)
    call.run(for: .seconds(3))
    // Until the next packet tells that it was a pause, it might have been loss.
    #expect(call.counters.concealedSamples == 300 * 48)
    #expect(call.counters.silentConcealedSamples >= 100 * 48)
    #expect(call.counters.concealmentEvents == 1)
    #expect(call.isInOrder && call.isWithoutHoles)
    #expect(call.meanDelay < 51)
  }

  @Test func pauseThatIsAnnouncedIsSilenceFromItsBeginning() {
    var buffer = Self.makeBuffer()
    Self.insert([1], into: &buffer, at: 0)
    buffer.insert([8], sequence: 2, timestamp: 1920, isRecovered: false, now: .zero + .milliseconds(20))
    buffer.handleTimeout(now: .zero + .milliseconds(160))
    var contents: [ReceivedAudio.Content] = []
    while let element = buffer.poll() { contents.append(element.content) }
    #expect(contents[1] == .packet([8]))
    #expect(contents[2...] == [.silence, .silence, .silence, .silence, .silence])
    #expect(buffer.counters.concealmentEvents == 0)
  }

  @Test func longConcealmentFallsSilentAndPlayingStops() {
    var call = AudioCall()
    call.run(for: .seconds(2))
    call.forget()
    call.path = { _, _ in nil }
    call.run(for: .seconds(5))
    let contents = call.played.map(\.element.content).drop { $0 != .concealment }
    #expect(contents.count == 50)
    #expect(contents.prefix(10).allSatisfy { $0 == .concealment })
    #expect(contents.dropFirst(10).allSatisfy { $0 == .silence })
    #expect(call.buffer.nextDeadline == nil)
    call.forget()
    call.path = { _, _ in 10 }
    call.run(for: .seconds(2))
    #expect(call.played[0].element.isAfterDiscontinuity)
    #expect(call.concealedShare == 0 && call.isInOrder && call.isWithoutHoles)
    #expect(call.meanDelay < 51)
  }

  @Test func restartOfTheSenderGoesOnWithoutAHole() {
    var call = AudioCall()
    call.run(for: .seconds(3))
    call.restart(sequence: 3, timestamp: 4_000_000_000)
    call.forget()
    call.run(for: .seconds(3))
    #expect(call.isWithoutHoles && call.isInOrder)
    #expect(call.sequences.count > 140)
    #expect(call.meanDelay < 51)
    #expect(call.concealedShare < 0.03)
  }

  @Test(arguments: [1_000_000_000, -1_000_000_000, 200_000, -200_000])
  func jumpOfTheTimestampsIsHardlyHeard(by samples: Int) {
    var call = AudioCall()
    call.run(for: .seconds(5))
    call.nextTimestamp &+= UInt32(truncatingIfNeeded: samples)
    call.forget()
    call.run(for: .seconds(5))
    #expect(call.isWithoutHoles && call.isInOrder)
    #expect(call.concealedShare == 0)
    #expect(call.meanDelay < 51)
    #expect(call.played.last?.element.rtpTimestamp.isAfter(serial: call.nextTimestamp) == false)
  }

  @Test func sequenceNumbersThatGoBackForGoodAreFollowed() {
    var call = AudioCall()
    call.run(for: .seconds(3))
    call.nextSequence -= 500
    call.run(for: .seconds(2))
    call.forget()
    call.run(for: .seconds(3))
    #expect(call.concealedShare == 0 && call.meanDelay < 51)
  }

  @Test func sequenceNumbersMayJumpAhead() {
    var call = AudioCall()
    call.run(for: .seconds(3))
    call.nextSequence += 40_000
    call.forget()
    call.run(for: .seconds(3))
    #expect(call.isWithoutHoles && call.isInOrder)
    #expect(call.concealedShare < 0.04 && call.meanDelay < 60)
  }

  @Test func timeoutsTooManyOrTooLateDoNoHarm() {
    var early = Self.makeBuffer()
    var late = Self.makeBuffer()
    var played: [Int64?] = []
    Self.insert([1, 2], into: &early, at: 0)
    Self.insert([1, 2], into: &late, at: 0)
    for time in 0...140 {
      if time == 30 { Self.insert([3, 4], into: &early, at: 30) }
      early.handleTimeout(now: .zero + .milliseconds(time - 10))
      played += Self.play(&early, until: time)
    }
    Self.insert([3, 4], into: &late, at: 30)
    #expect(Self.play(&late, until: 140) == played)
    #expect(played == [1, 2, 3, 4, 0, 0])
    #expect(late.nextDeadline == early.nextDeadline)
    #expect(Self.play(&late, until: 1_000_000).count < 60)
  }

  @Test func whatIsNoOpusPacketIsRefused() {
    var buffer = Self.makeBuffer()
    let refused: [[UInt8]] = [[], [0x0b], [0x0b, 0], [0x1b, 3], [8] + Array(repeating: 0, count: 7664)]
    for (index, payload) in refused.enumerated() {
      buffer.insert(payload, sequence: Int64(index), timestamp: 0, isRecovered: false, now: .zero)
    }
    #expect(buffer.counters.packetsDiscarded == UInt64(refused.count))
    #expect(buffer.nextDeadline == nil)
  }

  @Test func packetsAndBytesAreBounded() {
    var buffer = Self.makeBuffer()
    Self.insert(Array(1...2000), into: &buffer, at: 0)
    #expect(buffer.packets.count == AudioJitterBufferPackets.capacity)
    #expect(buffer.currentDelay <= .milliseconds(20 * 256))
    #expect(Self.play(&buffer, until: 60) == [1999, 2000])

    var large = Self.makeBuffer()
    for sequence in Int64(1)...200 {
      large.insert(
        [8] + Array(repeating: 0, count: 5000), sequence: sequence, timestamp: UInt32(sequence * 960),
        isRecovered: false, now: .zero)
      #expect(large.packets.byteCount <= 256 * 1024)
    }
    #expect(large.packets.count > 40)
    // Nobody polls.
    for second in 1...100 {
      Self.insert([Int64(1000 + second)], into: &large, at: Double(second) * 10_000)
      large.handleTimeout(now: .zero + .seconds(second * 10 + 5))
    }
    var count = 0
    while large.poll() != nil { count += 1 }
    #expect(count <= 512)
  }

  @Test func countersAddUp() {
    var call = AudioCall(seed: 4)
    call.carriesCopies = true
    call.path = { random, _ in
      Double.random(in: 0..<1, using: &random) < 0.05 ? nil : .random(in: 10..<60, using: &random)
    }
    call.run(for: .seconds(30))
    let counters = call.counters
    func samples(_ isWanted: (ReceivedAudio) -> Bool) -> UInt64 {
      call.played.reduce(0) { $0 + (isWanted($1.element) ? UInt64($1.element.samples) : 0) }
    }
    #expect(counters.totalSamplesReceived == samples { _ in true })
    #expect(counters.fecSamplesUsed == samples(\.isCopy))
    #expect(counters.concealedSamples == samples { $0.content == .concealment || $0.content == .silence })
    #expect(counters.silentConcealedSamples == samples { $0.content == .silence })
    #expect(counters.jitterBufferEmittedCount == UInt64(call.sequences.count) * 960)
    var events: UInt64 = 0
    for (one, next) in zip(call.played, call.played.dropFirst())
    where next.element.content == .concealment && one.element.content != .concealment {
      events += 1
    }
    #expect(counters.concealmentEvents == events)
    // Each packet was sent 10 to 60 ms before it came, 35 on average.
    let emitted = Double(counters.jitterBufferEmittedCount)
    #expect(abs(counters.jitterBufferDelay / emitted - (call.meanDelay - 35) / 1000) < 0.002)
    #expect(counters.jitterBufferTargetDelay / emitted > 0.04)
    #expect(counters.jitterBufferMinimumDelay <= counters.jitterBufferTargetDelay)
  }
}
