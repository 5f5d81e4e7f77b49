import PeerConnection
import RTP
import RTPReceiving
import SDP
import Simulation
import TestSupport
import Testing
import Wire

/// The bad networks of docs/NETWORK.md in fake time, with the parent that we wrote.
@Suite struct BadNetworksTests {
  private static func pair(seed: UInt64) throws -> SimulatedPair {
    let pair = try SimulatedPair.connected(seed: seed, streaming: true) { side, configuration in
      configuration.receivedAudio.earliness = .milliseconds(24)
      configuration.playoutDelay = side == .child ? .live : nil
      for index in configuration.media.indices where configuration.media[index].kind == .audio {
        configuration.media[index].codecs = [.opus, .opusRED]
      }
    }
    pair.link = .init(delay: .milliseconds(5))
    pair.run(for: .seconds(4))
    return pair
  }

  /// What a person saw and heard.
  struct Outcome: CustomStringConvertible {
    /// Of those that were taken, percent.
    var pictures: Double
    var longestGap: Duration
    /// Of all sound, percent.
    var madeUp: Double

    init(_ pair: SimulatedPair, for duration: Duration, each body: () -> Void = {}) {
      let start = pair.now
      let (sounds, made) = (pair.viewer.sounds.count, pair.viewer.concealments + pair.viewer.silences)
      body()
      pair.run(for: start + duration - pair.now)
      let end = pair.now
      // What was taken at the very end is not shown yet.
      let taken = pair.camera?.sentAt.values.count { $0 >= start && $0 < end - .milliseconds(500) } ?? 0
      let shown = pair.screen.shownAt.filter { $0.at >= start && $0.at < end - .milliseconds(500) }.map(\.at)
      pictures = 100 * Double(shown.count) / Double(taken)
      longestGap = zip([start] + shown, shown).map { $1 - $0 }.max() ?? duration
      let concealed = pair.viewer.concealments + pair.viewer.silences - made
      madeUp = 100 * Double(concealed) / Double(pair.viewer.sounds.count - sounds + concealed)
    }

    var description: String {
      "\(pictures) % of the pictures, longest gap \(Int(longestGap.inMilliseconds)) ms, \(madeUp) % made up"
    }
  }

  /// The goals are those of the table for a browser.
  struct Row: Sendable, CustomTestStringConvertible {
    var loss: Double
    var meanBurst: Double
    var pictures: Double
    var gap: Int
    var madeUp: Double
    var testDescription: String { "\(Int(loss * 100)) % in runs of \(Int(meanBurst))" }
  }

  static let rows = [
    Row(loss: 0.02, meanBurst: 1, pictures: 99.5, gap: 200, madeUp: 0.3),
    Row(loss: 0.05, meanBurst: 1, pictures: 99, gap: 300, madeUp: 0.3),
    Row(loss: 0.1, meanBurst: 1, pictures: 98, gap: 300, madeUp: 0.5),
    Row(loss: 0.2, meanBurst: 1, pictures: 95, gap: 300, madeUp: 1),
    Row(loss: 0.05, meanBurst: 3, pictures: 99, gap: 500, madeUp: 2),
    Row(loss: 0.1, meanBurst: 3, pictures: 98, gap: 500, madeUp: 2),
  ]

  @Test(arguments: rows, 1...2 as ClosedRange<UInt64>)
  func pictureAndSoundSurviveLoss(row: Row, seed: UInt64) throws {
    let pair = try Self.pair(seed: seed)
    pair.toParent.bursts = GilbertLoss(rate: row.loss, meanBurst: row.meanBurst)
    pair.toChild.bursts = GilbertLoss(rate: row.loss, meanBurst: row.meanBurst)
    let outcome = Outcome(pair, for: .seconds(30))
    Measured.note("\(row.testDescription), seed \(seed): \(outcome)")
    #expect(outcome.pictures >= row.pictures)
    #expect(outcome.longestGap <= .milliseconds(row.gap))
    #expect(outcome.madeUp <= row.madeUp)
    #expect(pair.viewer.brokenPictures == 0 && pair.viewer.brokenSounds == 0)
  }

  /// A radio that is away for a moment every 10 s: each time the picture stands still, and not for long.
  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func aBlackoutIsOneShortFreeze(seed: UInt64) throws {
    let pair = try Self.pair(seed: seed)
    let outcome = Outcome(pair, for: .seconds(31)) {
      for _ in 0..<3 {
        pair.link.isCut = true
        pair.run(for: .milliseconds(200))
        pair.link.isCut = false
        pair.run(for: .milliseconds(9800))
      }
    }
    Measured.note("200 ms of nothing every 10 s, seed \(seed): \(outcome)")
    #expect(outcome.longestGap <= .milliseconds(400))
    #expect(outcome.pictures >= 99)
    // Nobody can hear what was said in a gap of 200 ms; nothing else is missing.
    #expect(outcome.madeUp <= 3)
  }

  @Test func lossInRunsIsAsOftenAndAsLongAsAsked() {
    var random = SeededGenerator(seed: 3)
    var loss = GilbertLoss(rate: 0.1, meanBurst: 3)
    let lost = (0..<100_000).map { _ in loss.loses(&random) }
    let count = lost.count { $0 }
    let runs = zip([false] + lost, lost).count { !$0 && $1 }
    #expect((9_000...11_000).contains(count))
    #expect((2.8...3.2).contains(Double(count) / Double(runs)))
  }
}
