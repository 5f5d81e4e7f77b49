import PeerConnection
import Simulation
import Testing
import Wire

/// A parent knows how old a picture is, although its clock has nothing to do with the child's.
@Suite struct DelayIsEstimatedTests {
  /// By how many milliseconds the age of pictures was misjudged, smallest first.
  private static func errors(_ pair: SimulatedPair, since start: Instant) throws -> [Double] {
    let camera = try #require(pair.camera)
    let errors = pair.viewer.pictures.filter { $0.at >= start }.compactMap { picture in
      picture.localCaptureTime.flatMap { estimate in
        camera.sentAt[picture.number].map { (estimate - $0).inMilliseconds }
      }
    }
    try #require(errors.count > 100)
    return errors.sorted()
  }

  @Test(arguments: [
    SimulatedPair.Link(delay: .milliseconds(5)), .init(delay: .milliseconds(80)),
    .init(delay: .milliseconds(10), jitter: .milliseconds(20)), .init(delay: .milliseconds(20), loss: 0.1),
  ])
  func itIsWhateverTheNetworkDoes(link: SimulatedPair.Link) throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.link = link
    // The first reports, with the round trip of this network; the earlier ones are of another.
    pair.run(for: .seconds(30))
    let start = pair.now
    pair.run(for: .seconds(10))
    let errors = try Self.errors(pair, since: start)
    let bound = 2 + link.jitter.inMilliseconds / 2
    #expect(errors[0] > -bound && errors[errors.count - 1] < bound, "\(errors[0]) to \(errors[errors.count - 1]) ms")
  }

  /// What waits in a queue gets older there, also while the reports and the echoes wait in it, too.
  @Test func aQueueIsNotTakenForADistance() throws {
    let pair = try SimulatedPair.connected(streaming: true)
    pair.run(for: .seconds(20))
    pair.camera?.byteCount = 4000
    pair.link.bitsPerSecond = 400_000
    let start = pair.now
    pair.run(for: .seconds(5))
    let errors = try Self.errors(pair, since: start)
    #expect(errors[0] > -5 && errors[errors.count - 1] < 5, "\(errors[0]) to \(errors[errors.count - 1]) ms")
    let delays = pair.viewer.delays(pair.camera, since: start)
    #expect(try #require(delays.max()) > .milliseconds(100))
  }
}
