internal import Wire

/// Why a SPAKE2+ run ended without a key.
public enum SPAKE2PlusError: Error, Hashable, Sendable {
  /// The peer's share is not on the curve, or would give the identity. RFC 9383 section 3.3.
  case invalidShare
  /// The peer does not know the password, or a message was changed.
  case wrongConfirmation
  /// The call is not valid in the current state.
  case outOfOrder
}

/// What both sides of one run agree on beforehand. RFC 9383 section 3.1.
public struct SPAKE2PlusNames: Hashable, Sendable {
  /// Binds the run to its application and its parameters.
  public var context: [UInt8]
  public var prover: [UInt8]
  public var verifier: [UInt8]
}

/// SPAKE2+ with P256-SHA256-HKDF-SHA256-HMAC-SHA256: the part common to prover and verifier. RFC 9383.
enum SPAKE2Plus {
  // The constants of section 4, uncompressed. Nobody knows their discrete logarithms.
  static let m = P256Point(
    checkedBytes: [
      0x04, 0x88, 0x6e, 0x2f, 0x97, 0xac, 0xe4, 0x6e, 0x55, 0xba, 0x9d, 0xd7, 0x24, 0x25, 0x79, 0xf2, 0x99, 0x3b, 0x64,
      0xe1, 0x6e, 0xf3, 0xdc, 0xab, 0x95, 0xaf, 0xd4, 0x97, 0x33, 0x3d, 0x8f, 0xa1, 0x2f, 0x5f, 0xf3, 0x55, 0x16, 0x3e,
      0x43, 0xce, 0x22, 0x4e, 0x0b, 0x0e, 0x65, 0xff, 0x02, 0xac, 0x8e, 0x5c, 0x7b, 0xe0, 0x94, 0x19, 0xc7, 0x85, 0xe0,
      0xca, 0x54, 0x7d, 0x55, 0xa1, 0x2e, 0x2d, 0x20,
    ])
  static let n = P256Point(
    checkedBytes: [
      0x04, 0xd8, 0xbb, 0xd6, 0xc6, 0x39, 0xc6, 0x29, 0x37, 0xb0, 0x4d, 0x99, 0x7f, 0x38, 0xc3, 0x77, 0x07, 0x19, 0xc6,
      0x29, 0xd7, 0x01, 0x4d, 0x49, 0xa2, 0x4b, 0x4f, 0x98, 0xba, 0xa1, 0x29, 0x2b, 0x49, 0x07, 0xd6, 0x0a, 0xa6, 0xbf,
      0xad, 0xe4, 0x50, 0x08, 0xa6, 0x36, 0x33, 0x7f, 0x51, 0x68, 0xc6, 0x4d, 0x9b, 0xd3, 0x60, 0x34, 0x80, 0x8c, 0xd5,
      0x64, 0x49, 0x0b, 0x1e, 0x65, 0x6e, 0xdb, 0xe7,
    ])

  static let confirmationByteCount = 32

  /// The keys derived from a run. Section 3.4.
  struct Keys: Sendable {
    let confirmProver: [UInt8]
    let confirmVerifier: [UInt8]
    let shared: [UInt8]
  }

  static func keys(
    names: SPAKE2PlusNames, shareP: P256Point, shareV: P256Point, z: P256Point, v: P256Point, w0: P256Scalar,
    hashes: any Hashes
  ) -> Keys {
    var transcript = ByteWriter(reservingCapacity: 640)
    let parts = [
      names.context, names.prover, names.verifier, m.bytes, n.bytes, shareP.bytes, shareV.bytes, z.bytes, v.bytes,
      w0.bytes,
    ]
    for part in parts {
      // Section 3.3: lengths are 8-byte little-endian numbers.
      transcript.write(UInt64(part.count).byteSwapped)
      transcript.write(contentsOf: part)
    }
    let main = hashes.sha256(transcript.bytes)
    let confirmation = HKDF.derive(from: main, info: Array("ConfirmationKeys".utf8), count: 64, hashes: hashes)
    return Keys(
      confirmProver: Array(confirmation[..<32]), confirmVerifier: Array(confirmation[32...]),
      shared: HKDF.derive(from: main, info: Array("SharedKey".utf8), count: 32, hashes: hashes))
  }

  /// `scalar * G + w0 * mask`: either side's share. Nil for the identity.
  static func share(_ scalar: P256Scalar, w0: P256Scalar, mask: P256Point, group: any P256Group) -> P256Point? {
    guard let own = group.multiplyGenerator(by: scalar), let masked = group.multiply(mask, by: w0) else { return nil }
    return group.add(own, masked)
  }

  /// `share - w0 * mask`: the peer's scalar times the generator. Nil for the identity.
  static func unmask(_ share: P256Point, w0: P256Scalar, mask: P256Point, group: any P256Group) -> P256Point? {
    group.multiply(mask, by: w0).flatMap { group.add(share, group.negate($0)) }
  }
}

/// What the prover derives from the password. RFC 9383 section 3.2.
public struct SPAKE2PlusSecrets: Sendable {
  let w0: P256Scalar
  let w1: P256Scalar
}

extension SPAKE2PlusSecrets {
  /// Each half has 64 bits more than n, so that reducing it leaves no bias.
  static let halvesByteCount = 80

  /// The input to the key derivation function.
  static func input(password: [UInt8], names: SPAKE2PlusNames) -> [UInt8] {
    var input = ByteWriter()
    for part in [password, names.prover, names.verifier] {
      input.write(UInt64(part.count).byteSwapped)
      input.write(contentsOf: part)
    }
    return input.bytes
  }

  /// - Parameter halves: The key derivation function's output, `halvesByteCount` bytes.
  init(halves: [UInt8], group: any P256Group) {
    w0 = group.scalar(reducing: Array(halves[..<40]))
    w1 = group.scalar(reducing: Array(halves[40...]))
  }
}

/// What the verifier stores instead of the password. RFC 9383 section 3.2.
public struct SPAKE2PlusRecord: Sendable {
  let w0: P256Scalar
  let l: P256Point
}

extension SPAKE2PlusRecord {
  /// Nil if w1 is zero, for which no password is known.
  init?(_ secrets: SPAKE2PlusSecrets, group: any P256Group) {
    guard let l = group.multiplyGenerator(by: secrets.w1) else { return nil }
    self.init(w0: secrets.w0, l: l)
  }
}
