internal import Wire

/// What the person at the parent says about the check words, once both ends have stored the pair. interfaces/wire.md, "Pairing".
public enum PairingVerdict: String, Hashable, Sendable, CaseIterable {
  /// The words are the same: the pair is completed.
  case confirm
  /// They differ, or the parent could not keep the pair: the child removes it.
  case cancel

  /// Proves that the verdict comes from the parent of this run. Only its two ends know the agreed key, and a proof of one
  /// verdict is none of the other.
  func proof(agreedKey: [UInt8], transcript: [UInt8], hashes: any Hashes) -> [UInt8] {
    HKDF.derive(
      from: agreedKey, salt: transcript, info: PairingBytes.label(rawValue), count: PairingSize.proof, hashes: hashes)
  }
}
