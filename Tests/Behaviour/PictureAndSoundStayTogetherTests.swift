import PeerConnection
import RTP
import RTPReceiving
import Simulation
import Testing
import Wire

/// Of one moment, picture and sound reach eye and ear within 40 ms of one another.
@Suite struct PictureAndSoundStayTogetherTests {
  private static func pair(seed: UInt64, steady: Duration = .zero) throws -> SimulatedPair {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true) { side, configuration in
      configuration.receivedAudio.earliness = .milliseconds(24)
      configuration.steadyDelay = side == .parent ? steady : .zero
      configuration.playoutDelay = side == .child ? .live : nil
    }
    pair.speaker = TestSpeaker()
    // Reports of both streams, and what the sound's buffer learns.
    pair.run(for: .seconds(4))
    return pair
  }

  private struct Differences {
    var median: Double
    /// What 95 of 100 pictures do not exceed, either way.
    var extent: Double

    init(_ pair: SimulatedPair, since start: Instant) throws {
      let all = pair.screen.differences(pair.camera, pair.microphone, pair.speaker, since: start)
      try #require(all.count > 100)
      median = all.sorted()[all.count / 2]
      extent = all.map(abs).sorted()[all.count * 95 / 100]
    }
  }

  static let links: [SimulatedPair.Link] = [
    .init(delay: .milliseconds(5)),
    .init(delay: .milliseconds(10), jitter: .milliseconds(20)),
    .init(delay: .milliseconds(10), jitter: .milliseconds(60)),
    .init(delay: .milliseconds(10), loss: 0.05),
    .init(delay: .milliseconds(10), loss: 0.1),
    .init(delay: .milliseconds(10), loss: 0.2),
  ]

  @Test(arguments: links.indices, 1...2 as ClosedRange<UInt64>)
  func theyDoWhateverTheNetworkDoes(link: Int, seed: UInt64) throws {
    let pair = try Self.pair(seed: seed)
    pair.link = Self.links[link]
    pair.run(for: .seconds(6))
    let start = pair.now
    pair.run(for: .seconds(20))
    let differences = try Differences(pair, since: start)
    Measured.note("link \(link): \(differences)")
    // At 20 % of loss a look for a limit now and then holds a picture up.
    let extent = pair.link.loss >= 0.2 ? 50.0 : 40
    #expect(abs(differences.median) <= 30 && differences.extent <= extent)
  }

  @Test(arguments: [300, 1000, 3000]) func theyDoAfterAnOutage(milliseconds: Int) throws {
    let pair = try Self.pair(seed: 1)
    pair.link = .init(delay: .milliseconds(10), jitter: .milliseconds(10))
    pair.run(for: .seconds(4))
    pair.link.isCut = true
    pair.run(for: .milliseconds(milliseconds))
    pair.link.isCut = false
    pair.run(for: .seconds(2))
    let start = pair.now
    pair.run(for: .seconds(10))
    let differences = try Differences(pair, since: start)
    Measured.note("after \(milliseconds) ms: \(differences)")
    #expect(abs(differences.median) <= 30 && differences.extent <= 40)
  }

  @Test func picturesWaitForSteadySound() throws {
    let pair = try Self.pair(seed: 1, steady: .milliseconds(400))
    pair.link = .init(delay: .milliseconds(10), jitter: .milliseconds(10), loss: 0.05)
    let start = pair.now
    pair.run(for: .seconds(20))
    let differences = try Differences(pair, since: start)
    Measured.note("steady: \(differences)")
    #expect(abs(differences.median) <= 30 && differences.extent <= 40)
  }

  /// Where nobody hears the sound, pictures come as evenly as the sender asks for while much is lost.
  @Test func withoutSoundPicturesAreEvenWhileTheSenderAsksForPatience() throws {
    let pair = try Self.pair(seed: 1)
    pair.speaker = nil
    pair.link = .init(delay: .milliseconds(10), loss: 0.1)
    pair.run(for: .seconds(8))
    let start = pair.now
    pair.run(for: .seconds(20))
    let times = pair.screen.shownAt.map(\.at).filter { $0 >= start }
    let intervals = zip(times, times.dropFirst()).map { ($1 - $0).inMilliseconds }.sorted()
    Measured.note("p5 \(intervals[intervals.count / 20]), p95 \(intervals[intervals.count * 95 / 100])")
    try #require(intervals.count > 500)
    #expect(intervals[intervals.count / 20] >= 28 && intervals[intervals.count * 95 / 100] <= 40)
  }
}
