internal import Wire

/// Keeps picture and sound in sync.
public enum LipSync {
  /// How far sound may lag its picture unnoticed. ITU-R BT.1359-1: detectable from 125 ms.
  public static let unnoticed: Duration = .milliseconds(125)

  /// How long to delay a picture whose sound comes `lag` later. Low delay matters more than exact sync: an unnoticeable
  /// lag is left.
  public static func hold(soundLag lag: Duration) -> Duration {
    max(.zero, lag - unnoticed)
  }
}
