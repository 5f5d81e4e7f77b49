internal import Wire

/// Picture and sound of one moment.
public enum LipSync {
  /// Sound may come so much later than its picture before anybody notices. ITU-R BT.1359-1: detected from 125 ms on.
  public static let unnoticed: Duration = .milliseconds(125)

  /// How long to hold a picture back whose sound comes `lag` later. A small delay counts for more than being exactly in
  /// step: what nobody notices is left.
  public static func hold(soundLag lag: Duration) -> Duration {
    max(.zero, lag - unnoticed)
  }
}
