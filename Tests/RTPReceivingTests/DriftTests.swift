import Testing
import Wire

@testable import RTPReceiving

/// Two crystals differ by some parts per million, which is 1.4 s in a night.
@Suite struct DriftTests {
  @Test(arguments: [50e-6, -50e-6]) func hoursOfDriftTakeNoJump(drift: Double) {
    var call = AudioCall()
    call.drift = drift
    call.run(for: .seconds(60))
    call.forget()
    let before = call.counters
    var delays: [Double] = []
    // Far more than the buffer could hold: 0.36 s.
    for _ in 0..<2 * 60 {
      call.run(for: .seconds(60))
      delays.append(call.meanDelay)
      call.forget()
    }
    let after = call.counters
    #expect(after.removedSamplesForAcceleration == before.removedSamplesForAcceleration)
    #expect(after.insertedSamplesForDeceleration == before.insertedSamplesForDeceleration)
    #expect(after.concealedSamples == before.concealedSamples)
    // 10 ms of path and 20 ms of buffer.
    #expect(delays.allSatisfy { abs($0 - 30) < 5 }, "\(delays.min()!) to \(delays.max()!) ms")
  }

  @Test func theDifferenceOfTheClocksIsLearnt() {
    var call = AudioCall()
    call.drift = 80e-6
    call.run(for: .seconds(1800))
    #expect(abs(call.buffer.drift.rate - 80_000) < 2000, "\(call.buffer.drift.rate)")
  }

  @Test func whatANetworkDoesIsNoDrift() {
    var regulator = DriftRegulator()
    for _ in 0..<1000 { regulator.note(excess: 200_000_000, elapsed: 20_000_000) }
    #expect(regulator.rate == 0)
    // And never more than half a thousandth.
    for _ in 0..<1_000_000 { regulator.note(excess: 18_000_000, elapsed: 1_000_000_000) }
    #expect(regulator.rate == 500_000)
    #expect(regulator.duration(of: 20_000_000) == 19_990_000)
    regulator.note(excess: .min, elapsed: .max)
    #expect(regulator.rate == 500_000)
  }
}
