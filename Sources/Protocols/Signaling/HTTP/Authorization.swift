public import Pairing

/// The shell's verdict on the credentials of a request.
public enum Authorization: Hashable, Sendable {
  /// None were sent.
  case none
  /// They are wrong, revoked or expired.
  case invalid
  /// They are wrong once more, after too many that were; the next ones count as `invalid` again after this time.
  case limited(retryAfter: Duration)
  case granted(Permissions)
}
