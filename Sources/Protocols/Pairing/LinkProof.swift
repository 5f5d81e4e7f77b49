internal import Wire

/// The proofs of one pairing by link: both sides show that they know the secret, by HMAC over both identity keys and
/// both nonces. INTERFACES.md, "Pairing".
struct LinkProof: Sendable {
  let transcript: [UInt8]
  let parentProof: [UInt8]
  let childProof: [UInt8]
  /// What the introductions are sealed under.
  let agreedKey: [UInt8]

  init(
    secret: PairingSecret, session: [UInt8], parentKey: [UInt8], parentNonce: [UInt8], childKey: [UInt8],
    childNonce: [UInt8], hashes: any Hashes
  ) {
    var writer = PairingBytes.writer(label: "link transcript")
    for part in [session, parentKey, parentNonce, childKey, childNonce] { writer.write(part: part) }
    transcript = hashes.sha256(writer.bytes)
    let key = HKDF.derive(
      from: secret.bytes, salt: transcript, info: PairingBytes.label("link keys"), count: 64, hashes: hashes)
    // The roles' labels keep either side from sending back what it was sent.
    let proofKey = Array(key[..<32])
    parentProof = hashes.hmacSHA256(key: proofKey, message: PairingBytes.label("link, the parent") + writer.bytes)
    childProof = hashes.hmacSHA256(key: proofKey, message: PairingBytes.label("link, the child") + writer.bytes)
    agreedKey = Array(key[32...])
  }
}
