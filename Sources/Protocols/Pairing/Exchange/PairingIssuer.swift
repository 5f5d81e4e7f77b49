public import Wire

/// Who made an invitation or opened the pairing window. Both end when their issuer loses the right to offer them.
public enum PairingIssuer: Hashable, Sendable {
  /// The administrator of the child's machine, through the daemon's socket.
  case administrator
  /// A paired parent with `admin`, by the id of its pair record.
  case parent(id: String)
}

/// An invitation that can still be used. It does not contain the link's secret.
public struct PairingInvitation: Hashable, Sendable {
  /// 8 lower-case hexadecimal digits: random, and unrelated to the secret.
  public let id: String
  public let issuer: PairingIssuer
  public let terms: PairingTerms
  /// The first moment at which its link is refused.
  public let expiresAt: Instant
}

/// The pairing window while it is open. It does not contain the code.
public struct PairingOpening: Hashable, Sendable {
  public let issuer: PairingIssuer
  public let terms: PairingTerms
  /// When it closes without a pairing.
  public let closesAt: Instant
}
