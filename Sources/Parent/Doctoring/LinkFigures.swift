/// How the link to a child was, over some seconds of watching it: what `cradle-parent doctor` measured.
public struct LinkFigures: Encodable, Hashable, Sendable {
  /// Milliseconds.
  public struct RoundTrip: Encodable, Hashable, Sendable {
    public var p50: Double
    public var p95: Double
    public var max: Double
  }

  public var seconds: Double = 0
  /// Pings that were answered, over the channel that orders take.
  public var pings = 0
  public var unanswered = 0
  /// Nil without an answer.
  public var roundTripMs: RoundTrip?
  /// Answers that came 150 ms later than most.
  public var spikes = 0
  /// The child's clock is ahead of ours by so much; less than half a round trip is not told apart from nothing.
  public var clockAheadMs: Double?

  /// Of sound and picture.
  public var packetsReceived: UInt64 = 0
  /// At first; a retransmission may have brought them.
  public var packetsLost: Int64 = 0
  public var packetsRecovered: UInt64 = 0
  /// Of those sent; nil when nothing came.
  public var lostPercent: Double?

  /// Nil when no picture was asked for.
  public var framesPerSecond: Double?
  public var width: Int?
  public var height: Int?
  public var freezeCount = 0
  public var freezeMs: Double = 0
  /// Share of the sound that had to be made up; nil without sound.
  public var concealedPercent: Double?
  public var reconnects = 0
  /// How far the picture is behind what happens: see `Outlook`. Nil without a picture.
  public var behindMs: Double?

  /// What is this much later than usual is seen and heard: W3C webrtc-stats counts a freeze from there.
  static let spike: Double = 150

  /// From a ping: when it went, when its answer was here (on the monotonic clock, in ms), and what our clock said in
  /// the middle and the child's in its answer, in ms since 1970.
  struct Ping: Hashable, Sendable {
    var roundTripMs: Double
    var clockAheadMs: Double
  }

  init() {}

  init(seconds: Double, pings: [Ping], unanswered: Int, watched: WatchStatistics?) {
    self.seconds = Self.tenths(seconds)
    self.pings = pings.count
    self.unanswered = unanswered
    let sorted = pings.sorted { $0.roundTripMs < $1.roundTripMs }
    if let first = sorted.first, let last = sorted.last {
      let at = { (share: Double) in sorted[Int(share * Double(sorted.count - 1))].roundTripMs }
      let median = at(0.5)
      roundTripMs = RoundTrip(p50: Self.tenths(median), p95: Self.tenths(at(0.95)), max: Self.tenths(last.roundTripMs))
      spikes = sorted.filter { $0.roundTripMs > median + Self.spike }.count
      // The shortest was delayed least on either way, so that its middle is the truest.
      clockAheadMs = abs(first.clockAheadMs) <= first.roundTripMs / 2 ? 0 : Self.tenths(first.clockAheadMs)
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

  /// The way here, what decoding took, and two pictures' time: one for the camera to read the picture out, one for
  /// encoding and for the screen. An estimate: only a picture that carries the time tells exactly.
  ///
  /// The way is half of a bad round trip. Where packets get lost the pings that were sent again spoil that; there it is
  /// half a usual one and the whole one that it takes to have a packet sent again.
  private func behind(_ watched: WatchStatistics) -> Double? {
    guard watched.framesPerSecond > 0, let roundTripMs else { return nil }
    let processing = max(0, (watched.latencyEstimateMs ?? 0) - (watched.roundTripMs ?? 0) / 2)
    let isLossy = (lostPercent ?? 0) > Outlook.loss.good
    let way = isLossy ? roundTripMs.p50 * 1.5 : roundTripMs.p95 / 2
    return Self.tenths(way + processing + 2 * 1000 / watched.framesPerSecond)
  }

  private static func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
