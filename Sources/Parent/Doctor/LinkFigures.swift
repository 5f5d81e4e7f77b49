internal import Wire

/// What `cradle-parent doctor` measured while it watched a child for some seconds.
public struct LinkFigures: Encodable, Hashable, Sendable {
  /// Milliseconds.
  public struct RoundTrip: Encodable, Hashable, Sendable {
    public var p50: Double
    public var p95: Double
    public var max: Double
  }

  public var seconds: Double = 0
  /// Pings that were answered, over the `control` channel.
  public var pings = 0
  public var unanswered = 0
  /// Nil without an answer.
  public var roundTripMs: RoundTrip?
  /// Answers that arrived 150 ms later than the median.
  public var spikes = 0
  /// How far the child's clock is ahead of ours. 0 when it is less than half a round trip, which is the error of
  /// measurement.
  public var clockAheadMs: Double?

  /// Sound and picture together.
  public var packetsReceived: UInt64 = 0
  /// Before retransmission.
  public var packetsLost: Int64 = 0
  public var packetsRecovered: UInt64 = 0
  /// Of those sent; nil when nothing arrived.
  public var lostPercent: Double?

  /// Nil when no picture was asked for.
  public var framesPerSecond: Double?
  public var width: Int?
  public var height: Int?
  public var freezeCount = 0
  public var freezeMs: Double = 0
  /// How much of the sound was lost and concealed; nil without sound.
  public var concealedPercent: Double?
  public var reconnects = 0
  /// Estimated delay of the picture, glass to glass: see `behind`. Nil without a picture.
  public var behindMs: Double?

  /// Milliseconds. A delay this much above the usual one is noticed: W3C webrtc-stats counts it as a freeze.
  static let spike: Double = 150

  /// One answered ping. `clockAheadMs`: the child's clock in its answer, less ours halfway between sending and receiving.
  struct Ping: Hashable, Sendable {
    var roundTripMs: Double
    var clockAheadMs: Double
  }

  init(seconds: Double, pings: [Ping], unanswered: Int, watched: WatchStatistics?) {
    self.seconds = seconds.tenths
    self.pings = pings.count
    self.unanswered = unanswered
    let sorted = pings.sorted { $0.roundTripMs < $1.roundTripMs }
    if let first = sorted.first, let last = sorted.last {
      let at = { (share: Double) in sorted[Int(saturating: share * Double(sorted.count - 1))].roundTripMs }
      let median = at(0.5)
      roundTripMs = RoundTrip(p50: median.tenths, p95: at(0.95).tenths, max: last.roundTripMs.tenths)
      spikes = sorted.filter { $0.roundTripMs > median + Self.spike }.count
      // The fastest ping was delayed least, so its midpoint is the most accurate.
      clockAheadMs = abs(first.clockAheadMs) <= first.roundTripMs / 2 ? 0 : first.clockAheadMs.tenths
    }
    guard let watched else { return }
    packetsReceived = watched.packetsReceived
    packetsLost = max(0, watched.packetsLost)
    packetsRecovered = watched.packetsRecovered
    let arrived = Double(packetsReceived) - Double(packetsRecovered)
    if packetsReceived > 0 {
      lostPercent = (Double(packetsLost) / max(1, arrived + Double(packetsLost)) * 10_000).rounded() / 100
    }
    freezeCount = watched.freezeCount
    freezeMs = watched.freezeMs
    concealedPercent = watched.concealedPercent
    reconnects = watched.reconnects
    guard watched.framesDecoded > 0 else { return }
    framesPerSecond = watched.framesPerSecond
    width = watched.width
    height = watched.height
    behindMs = behind(watched)
  }

  /// Estimated delay of the picture: the network, decoding, and two frame intervals (one for the camera to read the
  /// picture out, one for encoding and the screen). Only a picture that carries a timecode can be measured exactly.
  ///
  /// For the network it takes half of the 95th percentile of round trips. With loss, retransmitted pings distort that
  /// percentile; it then takes half a median round trip, and one more for a retransmission.
  private func behind(_ watched: WatchStatistics) -> Double? {
    guard watched.framesPerSecond > 0, let roundTripMs else { return nil }
    let processing = max(0, (watched.latencyEstimateMs ?? 0) - (watched.roundTripMs ?? 0) / 2)
    let isLossy = (lostPercent ?? 0) > LinkQuality.loss.good
    let network = isLossy ? roundTripMs.p50 * 1.5 : roundTripMs.p95 / 2
    return (network + processing + 2 * 1000 / watched.framesPerSecond).tenths
  }
}
