/// A request from parent to child, one HTTP request each. `PairingMessages` has the JSON form.
public enum PairingRequest: Hashable, Sendable {
  /// Asks for the parameters of the code's key derivation.
  case begin
  /// The prover's share for a code, under the parameters with this salt.
  case share(salt: [UInt8], share: [UInt8])
  /// The prover's share for a link, identified by `PairingBytes.linkID`.
  case link(id: [UInt8], share: [UInt8])
  /// The parent's confirmation and its sealed introduction. `confirms`: its verdict on the check words will follow.
  case finish(session: [UInt8], confirmation: [UInt8], sealed: [UInt8], confirms: Bool = false)
  /// The child's answer did not match the code: this was a wrong try, and the child need not wait any longer.
  case abandon(session: [UInt8])
  /// The parent's verdict on the check words, with its proof.
  case verdict(PairingVerdict, session: [UInt8], proof: [UInt8])
}

/// A reply from the child.
public enum PairingReply: Hashable, Sendable {
  /// Parameters of PBKDF2 over the code.
  case parameters(salt: [UInt8], iterations: Int)
  /// The verifier's share and confirmation, for a code or a link.
  case share(session: [UInt8], share: [UInt8], confirmation: [UInt8])
  /// The child's sealed introduction, with the parent's permissions.
  case finished(sealed: [UInt8])
  /// The verdict was carried out.
  case settled(PairingVerdict)
}

/// Why the child refuses to continue.
public enum PairingRefusal: Error, Hashable, Sendable {
  /// No code is currently valid.
  case windowClosed
  /// The link is unknown, used or expired, or the parent does not know its secret.
  case unknownLink
  /// The session has ended or never existed.
  case unknownSession
  /// The parent is paired, and neither that pair nor these terms give everything that the other does.
  case alreadyPaired
  /// The code was wrong.
  case wrongCode(triesLeft: Int)
  /// The next try is allowed after this time.
  case tooManyTries(retryAfter: Duration)
  /// The text names the rule.
  case badMessage(String)
}

/// Sizes of the fields above, in bytes. All except the sealed parts have a fixed size.
public enum PairingSize {
  public static let salt = 16
  public static let linkID = 16
  public static let session = 16
  public static let share = P256Point.byteCount
  public static let confirmation = SPAKE2Plus.confirmationByteCount
  public static let sealed = 1...1024
  public static let proof = 32
  /// What a prover accepts. Fewer would make guessing cheap for a thief of the child's record; more would let a
  /// stranger stall the parent.
  public static let iterations = 1000...200_000
}
