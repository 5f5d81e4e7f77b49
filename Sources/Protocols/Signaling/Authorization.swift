public import Pairing

/// What the shell found about the credentials of a request.
public enum Authorization: Hashable, Sendable {
  /// None were sent.
  case none
  /// They are wrong, revoked or expired.
  case invalid
  case granted(Permissions)
}
