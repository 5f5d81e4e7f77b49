import TestSupport
import Testing
import Wire

@testable import RTPReceiving

@Suite struct AudioDelayTests {
  private static func lossy(_ share: Double) -> (inout SeededGenerator, Instant) -> Double? {
    { random, _ in
      Double.random(in: 0..<1, using: &random) < share ? nil : 10 + .random(in: 0..<2, using: &random)
    }
  }

  @Test func steadyStreamIsPlayedWithLittleDelayAndWithoutConcealment() {
    var call = AudioCall()
    call.run(for: .seconds(20))
    #expect(call.concealedShare == 0)
    #expect(call.sequences.count > 990)
    #expect(call.isWithoutHoles && call.isInOrder)
    #expect(call.buffer.targetDelay == .milliseconds(20))
    call.forget()
    call.run(for: .seconds(5))
    // 10 ms of path and 20 ms of buffer.
    #expect(abs(call.meanDelay - 30) < 1)
    // The way from the first delay to this one is one packet.
    #expect(call.counters.removedSamplesForAcceleration == 960)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func copiesMakeUpForRandomLoss(seed: UInt64) {
    var call = AudioCall(seed: seed)
    call.carriesCopies = true
    call.path = Self.lossy(0.05)
    call.run(for: .seconds(60))
    #expect(call.concealedShare < 0.005)
    #expect(call.share { if case .forwardErrorCorrection = $0 { true } else { false } } > 0.03)
    #expect(call.isWithoutHoles && call.isInOrder)
    #expect(call.meanDelay < 65)
    #expect(call.played.allSatisfy { $0.element.samples == 960 })
  }

  @Test(arguments: [20.0, 60, 120])
  func retransmissionsAreWaitedForWhereThereIsLoss(roundTrip: Double) {
    var call = AudioCall()
    call.buffer.setRecoveryTime(.milliseconds(Int(roundTrip) + 2))
    // Noticed with the next packet.
    call.retransmission = 10 + 20 + 2 + roundTrip
    call.run(for: .seconds(5))
    #expect(call.buffer.targetDelay == .milliseconds(20))
    call.path = Self.lossy(0.05)
    call.run(for: .seconds(5))
    call.forget()
    call.run(for: .seconds(30))
    #expect(call.concealedShare < 0.002)
    #expect(call.meanDelay < roundTrip + 65)
    call.path = { _, _ in 10 }
    call.run(for: .seconds(70))
    #expect(call.buffer.targetDelay == .milliseconds(20))
    call.forget()
    call.run(for: .seconds(5))
    #expect(call.meanDelay < 51)
  }

  @Test func retransmissionsThatTakeTooLongAreNotWaitedFor() {
    var call = AudioCall()
    call.buffer.setRecoveryTime(.milliseconds(400))
    call.retransmission = 440
    call.path = Self.lossy(0.05)
    call.run(for: .seconds(20))
    #expect(call.meanDelay < 60)
    #expect(abs(call.concealedShare - 0.05) < 0.02)
    call.buffer.setRecoveryTime(.seconds(1 << 40))
    call.run(for: .seconds(1))
    #expect(call.buffer.targetDelay < .milliseconds(100))
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func jitterOfEachPacketIsLearnt(seed: UInt64) {
    var call = AudioCall(seed: seed)
    call.path = { random, _ in .random(in: 0..<80, using: &random) }
    call.run(for: .seconds(5))
    #expect(call.concealedShare < 0.1)
    call.forget()
    call.run(for: .seconds(30))
    #expect(call.concealedShare < 0.005)
    #expect(call.isWithoutHoles && call.isInOrder)
    #expect((70...85).contains(call.buffer.targetDelay.inMilliseconds))
    #expect(call.meanDelay < 110)
  }

  @Test func delayShrinksAgainWhenJitterEnds() {
    var call = AudioCall()
    call.path = { random, _ in .random(in: 0..<80, using: &random) }
    call.run(for: .seconds(60))
    #expect(call.buffer.targetDelay >= .milliseconds(70))
    call.path = { _, _ in 10 }
    call.run(for: .seconds(60))
    #expect(call.buffer.targetDelay == .milliseconds(20))
    call.forget()
    call.run(for: .seconds(10))
    #expect(call.meanDelay < 51)
    #expect(call.concealedShare == 0)
  }

  /// The path holds packets and lets them go together, as a radio that saves power does.
  @Test(arguments: [300, 1500, 6000])
  func pathThatHoldsPacketsNowAndThenIsLearnt(period: Int) {
    var call = AudioCall()
    call.path = { _, at in
      let phase = Double(at.nanoseconds % Int64(period * 1_000_000)) / 1e6
      return 5 + max(0, 80 - phase)
    }
    call.run(for: .seconds(30))
    call.forget()
    call.run(for: .seconds(60))
    #expect(call.concealedShare < 0.005)
    #expect(call.meanDelay < 125)
    #expect(call.isWithoutHoles && call.isInOrder)
  }

  @Test func oneHiccupDoesNotMakeTheDelayLongForLong() {
    var call = AudioCall()
    call.run(for: .seconds(20))
    call.path = { _, at in 10 + max(0, 20_150 - Double(at.nanoseconds) / 1e6) }
    call.run(for: .seconds(5))
    call.forget()
    call.run(for: .seconds(5))
    #expect(call.meanDelay < 51)
    #expect(call.concealedShare == 0)
  }

  @Test func delayStaysWithinItsBounds() {
    var call = AudioCall()
    call.path = { random, _ in .random(in: 0..<2000, using: &random) }
    call.run(for: .seconds(30))
    #expect(call.buffer.targetDelay <= .milliseconds(500))
    #expect(call.isWithoutHoles && call.isInOrder)
  }

  /// Much more than clocks differ, in an hour and in six minutes.
  @Test(arguments: [(1e-4, 3600), (-1e-4, 3600), (1e-3, 360), (-1e-3, 360)])
  func driftBetweenTheClocksIsAbsorbed(drift: Double, seconds: Int) {
    var call = AudioCall()
    call.packetMilliseconds = 60
    call.drift = drift
    call.path = { random, _ in 10 + .random(in: 0..<5, using: &random) }
    var longest = 0.0
    for _ in 0..<seconds / 30 {
      call.forget()
      call.run(for: .seconds(30))
      longest = max(longest, call.meanDelay)
    }
    // 360 ms have to be made up for. As much as clocks differ is followed; only what is beyond 500 ppm takes jumps, and
    // the beginning one.
    let counters = call.counters
    let made = Double(
      drift > 0 ? counters.removedSamplesForAcceleration : counters.insertedSamplesForDeceleration)
    #expect((abs(drift) > 500e-6 ? 100...300 : 0...60).contains(made / 48))
    #expect(Double(counters.concealedSamples) / 48 <= (drift > 0 ? 0 : 480))
    #expect(longest < 100)
    #expect(counters.packetsDiscarded == 0)
  }

  @Test func playingCatchesUpAfterAStall() {
    var call = AudioCall()
    call.path = { _, at in
      let time = Double(at.nanoseconds) / 1e6
      return 10 + (time > 3000 && time < 5000 ? 5000 - time : 0)
    }
    call.run(for: .seconds(3))
    call.forget()
    call.run(for: .milliseconds(1900))
    // A second of made-up sound, then nothing.
    #expect(call.concealedShare > 0.9)
    #expect(call.buffer.nextDeadline == nil)
    call.run(for: .milliseconds(300))
    call.forget()
    call.run(for: .seconds(2))
    #expect(call.meanDelay < 60)
    #expect(call.concealedShare == 0)
    #expect(call.isInOrder)
  }

  @Test func longerPathIsFollowed() {
    var call = AudioCall()
    call.path = { _, at in at.nanoseconds < 5_000_000_000 ? 10 : 310 }
    call.run(for: .seconds(5))
    call.forget()
    call.run(for: .seconds(10))
    #expect(call.share { $0 == .concealment || $0 == .silence } * 10_000 < 330)
    #expect(call.meanDelay < 360)
    call.path = { _, _ in 10 }
    call.run(for: .seconds(1))
    call.forget()
    call.run(for: .seconds(60))
    #expect(call.meanDelay < 360)
    call.forget()
    call.run(for: .seconds(5))
    #expect(call.meanDelay < 60)
  }
}
