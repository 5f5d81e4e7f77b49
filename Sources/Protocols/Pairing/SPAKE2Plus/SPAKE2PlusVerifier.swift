internal import Wire

/// The side that knows only a record derived from the password: the child. RFC 9383 section 3.3.
struct SPAKE2PlusVerifier: Sendable {
  private enum State: Sendable {
    case waiting(keys: SPAKE2Plus.Keys)
    case finished
  }

  private let crypto: any PairingCrypto
  private var state: State
  /// For the prover, `P256Point.byteCount` bytes.
  let share: [UInt8]
  /// For the prover, which learns from it whether its password was right: this answer costs one try.
  let confirmation: [UInt8]

  /// Handles the prover's share.
  /// - Parameter y: The verifier's secret for this run.
  init(
    names: SPAKE2PlusNames, record: SPAKE2PlusRecord, y: P256Scalar, proverShare: [UInt8], crypto: any PairingCrypto
  ) throws(SPAKE2PlusError) {
    guard let shareP = crypto.point(proverShare),
      let x = SPAKE2Plus.unmask(shareP, w0: record.w0, mask: SPAKE2Plus.m, group: crypto),
      let z = crypto.multiply(x, by: y), let v = crypto.multiply(record.l, by: y),
      let shareV = SPAKE2Plus.share(y, w0: record.w0, mask: SPAKE2Plus.n, group: crypto)
    else { throw .invalidShare }
    let keys = SPAKE2Plus.keys(
      names: names, shareP: shareP, shareV: shareV, z: z, v: v, w0: record.w0, hashes: crypto.hashes)
    self.crypto = crypto
    share = shareV.bytes
    confirmation = crypto.hashes.hmacSHA256(key: keys.confirmVerifier, message: proverShare)
    state = .waiting(keys: keys)
  }

  /// Handles the prover's confirmation, once only, and returns the 32-byte shared key.
  mutating func receive(confirmation: [UInt8]) throws(SPAKE2PlusError) -> [UInt8] {
    guard case .waiting(let keys) = state else { throw .outOfOrder }
    state = .finished
    let expected = crypto.hashes.hmacSHA256(key: keys.confirmProver, message: share)
    guard constantTimeEqual(expected, confirmation) else { throw .wrongConfirmation }
    return keys.shared
  }
}
