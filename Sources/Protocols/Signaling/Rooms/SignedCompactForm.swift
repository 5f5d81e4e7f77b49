internal import Pairing
internal import Wire

/// A JWS in compact form, parsed but not verified. RFC 7515 section 3.1.
struct SignedCompactForm {
  /// The JSON of the protected header.
  let header: [UInt8]
  let payload: [UInt8]
  /// ES256: R and S, 32 bytes each. RFC 7518 section 3.4.
  let signature: [UInt8]
  /// The signing input: the first two parts as received, with the dot. RFC 7515 section 5.2.
  let signingInput: [UInt8]

  init(parsing text: String) throws(SignalingRefusal) {
    guard text.utf8.count <= SignedMessage.maximumBytes else { throw .malformed("over the size limit") }
    let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed("a compact JWS has three parts") }
    guard let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { throw .malformed("the parts of a JWS are base64url") }
    guard signature.count == IdentityKey.signatureByteCount else { throw .malformed("an ES256 signature has 64 bytes") }
    self.header = header
    self.payload = payload
    self.signature = signature
    signingInput = Array(text[..<parts[1].endIndex].utf8)
  }

  /// The compact form of a payload to be signed.
  static func text(header: [UInt8], payload: [UInt8], sign: ([UInt8]) -> [UInt8]) -> String {
    let signingInput = Base64URL.encode(header) + "." + Base64URL.encode(payload)
    return signingInput + "." + Base64URL.encode(sign(Array(signingInput.utf8)))
  }
}
