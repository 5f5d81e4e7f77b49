internal import Wire

/// Keeps picture and sound in sync.
public enum LipSync {
  /// How far sound may lag its picture. Nobody notices less than 40 ms either way (EBU R37; ITU-R BT.1359-1: from 45 ms of
  /// early sound on); half of it is left for what varies.
  public static let tolerance: Duration = .milliseconds(20)

  /// How long to delay a picture whose sound comes `lag` later. Low delay matters more than exact sync: an unnoticeable
  /// lag is left.
  public static func hold(soundLag lag: Duration) -> Duration {
    max(.zero, lag - tolerance)
  }
}

/// How much later pictures were shown than their sound was heard.
public struct LipSyncFigures: Sendable {
  private var signed = LatencyHistogram()
  private var unsigned = LatencyHistogram()
  /// Added to what may be negative.
  private static let origin = 2000

  mutating func add(_ difference: Duration) {
    let milliseconds = Int(saturating: difference.inMilliseconds.rounded())
    signed.add(milliseconds: min(max(milliseconds, -Self.origin), Self.origin) + Self.origin)
    unsigned.add(milliseconds: abs(max(milliseconds, -Self.origin)))
  }

  mutating func reset() {
    signed.reset()
    unsigned.reset()
  }

  /// The median in ms: positive where pictures are later than their sound. Nil while no sound is heard.
  public var median: Int? { signed.percentile(0.5).map { $0 - Self.origin } }
  /// The difference in ms, either way, that 95 of 100 pictures did not exceed.
  public var extent: Int? { unsigned.percentile(0.95) }
}
