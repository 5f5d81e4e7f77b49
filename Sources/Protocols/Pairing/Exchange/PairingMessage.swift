/// What a parent asks of the child, one HTTP request each. Core form; the JSON form is `PairingMessages`' affair.
public enum PairingRequest: Hashable, Sendable {
  /// For a code: how is it stretched?
  case begin
  /// The prover's share for a code, under the parameters with this salt.
  case share(salt: [UInt8], share: [UInt8])
  /// The prover's share for a link: which one is told by `PairingBytes.linkID`.
  case link(id: [UInt8], share: [UInt8])
  /// The parent's confirmation, and its sealed introduction.
  case finish(session: [UInt8], confirmation: [UInt8], sealed: [UInt8])
  /// The child's answer did not fit the code: this was a wrong try, and the child need not wait for more.
  case abandon(session: [UInt8])
}

/// What the child answers.
public enum PairingReply: Hashable, Sendable {
  /// PBKDF2 over the code.
  case parameters(salt: [UInt8], iterations: Int)
  /// The verifier's share and confirmation, for a code or a link.
  case share(session: [UInt8], share: [UInt8], confirmation: [UInt8])
  /// The child's sealed introduction, with what the parent may do from now on.
  case finished(sealed: [UInt8])
}

/// Why the child does not go on.
public enum PairingRefusal: Error, Hashable, Sendable {
  /// No code is valid now.
  case windowClosed
  /// No such link, or it was used or has expired, or the parent does not know its secret.
  case unknownLink
  /// The session ended or never was.
  case unknownSession
  /// The code was wrong.
  case wrongCode(triesLeft: Int)
  /// The next try is allowed after this time.
  case tooManyTries(retryAfter: Duration)
  /// The text names the rule.
  case badMessage(String)
}

/// Sizes of the fields above, in bytes. Everything but the sealed parts has one size.
public enum PairingSize {
  public static let salt = 16
  public static let linkID = 16
  public static let session = 16
  public static let share = P256Point.byteCount
  public static let confirmation = SPAKE2Plus.confirmationByteCount
  public static let sealed = 1...1024
  /// What a prover accepts. Less would make guessing cheap for who stole the child's record; more would hold up the
  /// parent for a stranger.
  public static let iterations = 1000...200_000
}
