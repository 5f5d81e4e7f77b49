import PeerConnection
import RTPReceiving
import Simulation
import Testing
import Wire

/// A parent sends no media, so no report of the child tells it the round trip; the child answers its reference times.
@Suite struct RoundTripKnownTests {
  @Test(arguments: [(5, 0.0), (40, 0.0), (10, 0.1)])
  func theParentKnowsItWithinSeconds(delay: Int, loss: Double) throws {
    let pair = try SimulatedPair.connected(seed: 3, streaming: true)
    pair.link = .init(delay: .milliseconds(delay), loss: loss)
    pair.run(for: .seconds(12))
    let streams = pair.parent.statistics(now: pair.now).inboundRTP
    let measured = try #require(streams.first).roundTrips
    let roundTrip = try #require(measured.roundTripTime)
    Measured.note("\(delay) ms each way, loss \(loss): \(measured)")
    // The simulated timers have steps of a millisecond.
    #expect(abs(roundTrip * 1000 - Double(2 * delay)) <= 3)
    #expect(measured.roundTripTimeMeasurements >= 6)
    #expect(streams.allSatisfy { $0.roundTrips == measured })
  }
}
