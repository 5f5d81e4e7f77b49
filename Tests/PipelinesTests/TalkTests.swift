import Codecs
import DeviceNames
import Devices
import Frames
import Pipelines
import RTPReceiving
import Sound
import Synchronization
import Testing
import Wire

/// The way of a voice: microphone to packets at one end, packets to the speaker's ring at the other.
struct TalkTests {
  /// What the filter that follows the speaker's clock keeps, in samples, and a few for its rate.
  private static let filter = 30
  /// Later than anything here takes.
  private var soon: Instant { MonotonicClock.now + .seconds(60) }

  @Test func wordsThatWaitedForTheSpeakerAreAllHeardAndTheDelayGoesDown() {
    let ring = PlaybackRing(target: .milliseconds(10), patience: .milliseconds(600))
    // Half a second before the speaker runs, a ramp, then on in real time.
    let words = (0..<24_000).map { Int16($0) }
    ring.write(words)
    var heard: [Int16] = []
    var samples = [Int16](repeating: 0, count: 480)
    for block in 0..<3000 {
      ring.read(into: &samples)
      if heard.count < 24_000 { heard += samples }
      if block % 2 == 1 { ring.write([Int16](repeating: 24_000, count: 960)) }
    }
    // No word is left out, only told a little faster.
    let steps = zip(heard[480...], heard[481...]).map { Int($1) - Int($0) }
    #expect(steps.allSatisfy { (0...2).contains($0) })
    #expect(ring.statistics.lostSamples == 0 && ring.statistics.underruns == 0)
    #expect(ring.statistics.level < 4800, "\(ring.statistics)")
  }

  @Test func playingBeginsWithAStockOfThirtyMilliseconds() {
    let ring = PlaybackRing(target: .milliseconds(10), patience: .milliseconds(600))
    var samples = [Int16](repeating: 0, count: 480)
    ring.write([Int16](repeating: 9000, count: 960))
    ring.read(into: &samples)
    #expect(samples.allSatisfy { $0 == 0 })
    ring.write([Int16](repeating: 9000, count: 960))
    ring.read(into: &samples)
    #expect(samples.last == 9000 && ring.statistics.level == 1440)
  }

  @Test func theMicrophoneBecomesPacketsWhenSomebodyListens() throws {
    let packets = Mailbox<EncodedAudioPacket>(capacity: 1000)
    let pipeline = AudioPipeline(device: .test, deliver: { packets.put($0) }, microphoneChanged: { _ in })
    pipeline.start()
    defer { pipeline.stop() }
    while pipeline.counters.captured < 15 { MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(10)) }
    #expect(packets.take(until: MonotonicClock.now) == nil && abs(pipeline.counters.levelDb + 20) < 1)
    pipeline.setDemand(true)
    let first = try #require(packets.take(until: soon))
    let second = try #require(packets.take(until: soon))
    #expect(second.samplePosition == first.samplePosition + 960)
    #expect(try OpusDecoder().decode(first.data).count == 960)
    guard case .running = pipeline.microphone else { return #expect(Bool(false)) }
  }

  /// Listeners have the positions as RTP timestamps.
  @Test func theMediaClockGoesOnWhenTheMicrophoneIsOpenedAnew() throws {
    let packets = Mailbox<EncodedAudioPacket>(capacity: 1000)
    let pipeline = AudioPipeline(device: .test, deliver: { packets.put($0) }, microphoneChanged: { _ in })
    pipeline.setDemand(true)
    pipeline.start()
    let first = try #require(packets.take(until: soon))
    pipeline.stop()
    var last = first
    while let packet = packets.take(until: MonotonicClock.now) { last = packet }
    MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(100))
    pipeline.start()
    defer { pipeline.stop() }
    let next = try #require(packets.take(until: soon))
    #expect(next.samplePosition >= last.samplePosition + 960)
    // As far apart as they were captured.
    let apart = Double(next.samplePosition) - Double(last.samplePosition)
    #expect(abs(apart / 48_000 - (next.captureTime - last.captureTime).inSeconds) < 0.001)
  }

  @Test func theLevelIsToldFiveTimesASecondWhetherOrNotSomebodyListens() {
    let told = Mailbox<Double>(capacity: 1000)
    let pipeline = Mutex<AudioPipeline?>(nil)
    let new = AudioPipeline(
      device: .test, deliver: { _ in },
      levelMeasured: { told.put(pipeline.withLock { $0?.counters.levelDb } ?? 0) }, microphoneChanged: { _ in })
    pipeline.withLock { $0 = new }
    new.start()
    let levels = (0..<3).compactMap { _ in told.take(until: soon) }
    let captured = new.counters.captured
    new.stop()
    #expect(levels.count == 3 && levels.allSatisfy { abs($0 + 20) < 1 })
    #expect((30...39).contains(captured))
    pipeline.withLock { $0 = nil }
  }

  @Test func aLostMicrophoneIsSilent() {
    let told = Mailbox<Bool>(capacity: 10)
    let pipeline = AudioPipeline(
      device: .pcm(name: "no such microphone"), deliver: { _ in }, levelMeasured: { told.put(true) },
      microphoneChanged: { _ in })
    pipeline.start()
    #expect(told.take(until: soon) != nil && pipeline.counters.levelDb == -100)
    pipeline.stop()
  }

  /// While no speaker plays, five packets wait for one wake-up; nothing of them is left out.
  @Test func soundThatNobodyHearsIsMeteredAllTheSame() throws {
    let ring = PlaybackRing()
    let sound = ReceivedSound(ring: ring)
    let encoder = try OpusEncoder()
    var generator = ToneGenerator()
    func play(_ count: Int) throws {
      for _ in 0..<count {
        let block = generator.makeBlock(captureTime: .zero, samplePosition: 0, unixNanoseconds: 500_000_000)
        let content = ReceivedAudio.Content.packet(try encoder.encode(block).data)
        sound.play(ReceivedAudio(content: content, rtpTimestamp: 0, samples: 960, isAfterDiscontinuity: false))
      }
    }
    func waitFor(_ samples: Int) {
      while ring.statistics.level < samples - Self.filter {
        MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(5))
      }
    }
    sound.setHeard(false)
    sound.start()
    // Until the thread waits for more.
    MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(50))
    try play(4)
    MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(50))
    try play(6)
    waitFor(5 * 960)
    sound.setHeard(true)
    try play(1)
    waitFor(11 * 960)
    #expect(abs(sound.current.levelDb + 20) < 2)
    sound.stop()
  }

  @Test func receivedSoundComesToTheRingWhateverIsLost() throws {
    let ring = PlaybackRing()
    let sound = ReceivedSound(ring: ring)
    let encoder = try OpusEncoder()
    var generator = ToneGenerator()
    for index in 0..<12 {
      let block = generator.makeBlock(captureTime: .zero, samplePosition: 0, unixNanoseconds: 500_000_000)
      let packet = try encoder.encode(block).data
      let content: ReceivedAudio.Content =
        switch index {
        case 3: .concealment
        case 4: .forwardErrorCorrection(next: packet)
        case 5: .silence
        case 6: .packet([])
        default: .packet(packet)
        }
      sound.play(
        ReceivedAudio(
          content: content, rtpTimestamp: UInt32(960 * index), samples: 960, isAfterDiscontinuity: index == 7))
    }
    sound.start()
    while ring.statistics.level < 12 * 960 - Self.filter {
      MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(5))
    }
    sound.stop()
    #expect((12 * 960 - Self.filter...12 * 960 + 1).contains(ring.statistics.level))
    #expect(sound.current.packetsRefused == 1 && sound.current.levelDb > -40)
    sound.play(ReceivedAudio(content: .silence, rtpTimestamp: 0, samples: 960))
  }
}
