internal import Wire

/// The password of a SPAKE2+ run: a code that a person types, or the secret of a link. The proof is the same for both;
/// only the key derivation and the bound context differ. interfaces/wire.md, "Pairing".
enum PairingPassword: Sendable {
  case code(PairingCode, salt: [UInt8], iterations: Int)
  case link(PairingSecret)

  /// RFC 9383 section 3.2. A code deliberately takes `iterations` of PBKDF2. A link's 128 random bits need no
  /// stretching: HKDF suffices.
  func secrets(crypto: any PairingCrypto) -> SPAKE2PlusSecrets {
    switch self {
    case .code(let code, let salt, let iterations):
      let names = PairingBytes.names(salt: salt, iterations: iterations)
      return SPAKE2PlusSecrets(
        halves: crypto.stretch(
          password: SPAKE2PlusSecrets.input(password: code.digits, names: names), salt: salt, iterations: iterations,
          count: SPAKE2PlusSecrets.halvesByteCount),
        group: crypto)
    case .link(let secret):
      let names = PairingBytes.names(link: PairingBytes.linkID(secret, hashes: crypto.hashes))
      return SPAKE2PlusSecrets(
        halves: HKDF.derive(
          from: SPAKE2PlusSecrets.input(password: secret.bytes, names: names), info: PairingBytes.label("link secrets"),
          count: SPAKE2PlusSecrets.halvesByteCount, hashes: crypto.hashes),
        group: crypto)
    }
  }
}
