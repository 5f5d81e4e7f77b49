internal import Wire

/// The side that knows the password: the parent. RFC 9383 section 3.3.
struct SPAKE2PlusProver: Sendable {
  private enum State: Sendable {
    case waiting(x: P256Scalar, share: P256Point)
    case finished
  }

  /// The prover's result once the verifier has proved itself.
  struct Outcome: Sendable {
    let confirmation: [UInt8]
    let sharedKey: [UInt8]
  }

  let names: SPAKE2PlusNames
  private let secrets: SPAKE2PlusSecrets
  private let crypto: any PairingCrypto
  private var state: State
  /// For the verifier, `P256Point.byteCount` bytes.
  let share: [UInt8]

  /// - Parameter x: The prover's secret for this run. Throws `.invalidShare` if it gives no share, which does not
  ///   happen for random ones.
  init(
    names: SPAKE2PlusNames, secrets: SPAKE2PlusSecrets, x: P256Scalar, crypto: any PairingCrypto
  ) throws(SPAKE2PlusError) {
    guard let share = SPAKE2Plus.share(x, w0: secrets.w0, mask: SPAKE2Plus.m, group: crypto) else {
      throw .invalidShare
    }
    self.names = names
    self.secrets = secrets
    self.crypto = crypto
    self.share = share.bytes
    state = .waiting(x: x, share: share)
  }

  /// Handles the verifier's share and checks that it knows the password. Only once, whatever the result: a second
  /// answer to the same share would be a second guess.
  mutating func receive(share bytes: [UInt8], confirmation: [UInt8]) throws(SPAKE2PlusError) -> Outcome {
    guard case .waiting(let x, let ownShare) = state else { throw .outOfOrder }
    state = .finished
    guard let shareV = crypto.point(bytes),
      let y = SPAKE2Plus.unmask(shareV, w0: secrets.w0, mask: SPAKE2Plus.n, group: crypto),
      let z = crypto.multiply(y, by: x), let v = crypto.multiply(y, by: secrets.w1)
    else { throw .invalidShare }
    let keys = SPAKE2Plus.keys(
      names: names, shareP: ownShare, shareV: shareV, z: z, v: v, w0: secrets.w0, hashes: crypto.hashes)
    // Section 3.4: each side authenticates the other's share.
    let expected = crypto.hashes.hmacSHA256(key: keys.confirmVerifier, message: share)
    guard constantTimeEqual(expected, confirmation) else { throw .wrongConfirmation }
    return Outcome(
      confirmation: crypto.hashes.hmacSHA256(key: keys.confirmProver, message: bytes), sharedKey: keys.shared)
  }
}
