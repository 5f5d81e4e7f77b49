/// Whether messages pass between a parent and the child, where the child's presence alone is no answer: at a broker the one who
/// may read it need not be allowed to write. interfaces/wire.md, "Meeting places".
public enum MeetingCheck {
  /// What is sent to the child in place of a signed message. The child dismisses whoever sends it, as it does all whom it does
  /// not know, and leaves no trace of it.
  public static let message = "check"
}
