internal import Wire

/// The identity of one end, exchanged in the last part of every pairing.
struct Introduction: Hashable, Sendable {
  let publicKey: [UInt8]
  /// Cleaned by `PairName.cleaned`.
  let name: String
}

/// What the child granted to the parent.
public struct PairingGrant: Hashable, Sendable {
  /// The parent's name at the child.
  public var name: String
  public var permissions: Permissions
  /// When the child starts to refuse this parent; nil for never.
  public var expiresAt: UnixTime?
}

/// Exchanges identity keys and names under the agreed key. Each side also signs the transcript with the key that it
/// introduces, so that nobody can pair another's key.
struct Introductions: Sendable {
  private let parentSeals: [UInt8]
  private let childSeals: [UInt8]
  private let transcript: [UInt8]
  private let crypto: any PairingCrypto
  /// Of either verdict of the parent.
  let verdictProofs: [PairingVerdict: [UInt8]]

  init(agreedKey: [UInt8], transcript: [UInt8], crypto: any PairingCrypto) {
    let keys = HKDF.derive(
      from: agreedKey, salt: transcript, info: PairingBytes.label("sealing keys"), count: 32, hashes: crypto.hashes)
    parentSeals = Array(keys[..<16])
    childSeals = Array(keys[16...])
    self.transcript = transcript
    self.crypto = crypto
    let proofs = PairingVerdict.allCases.map { verdict in
      (verdict, verdict.proof(agreedKey: agreedKey, transcript: transcript, hashes: crypto.hashes))
    }
    verdictProofs = Dictionary(uniqueKeysWithValues: proofs)
  }

  func checkWords(parentKey: [UInt8], childKey: [UInt8]) -> CheckWords {
    CheckWords(transcript: transcript, parentKey: parentKey, childKey: childKey, hashes: crypto.hashes)
  }

  // MARK: - The parent's

  func sealParent(name: String, identity: any IdentitySigner) -> [UInt8] {
    let head = introduction(name: name, identity: identity)
    return seal(head, signedBy: identity, label: "parent signs", about: [], key: parentSeals)
  }

  /// Nil if the seal is not valid, the content is malformed, or its key did not sign it.
  func openParent(_ sealed: [UInt8]) -> Introduction? {
    guard let (head, signature) = open(sealed, key: parentSeals) else { return nil }
    var reader = ByteReader(head)
    guard let parent = try? readIntroduction(&reader, fallback: "Parent"), reader.isAtEnd,
      isSigned(head, signature, by: parent.publicKey, label: "parent signs", about: [])
    else { return nil }
    return parent
  }

  // MARK: - The child's

  /// The child's signature also covers the parent's key: it states whom it has paired.
  func sealChild(name: String, identity: any IdentitySigner, parentKey: [UInt8], grant: PairingGrant) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(contentsOf: introduction(name: name, identity: identity))
    writer.write(part: Array(grant.name.utf8))
    writer.write(grant.permissions.rawValue)
    // 0 for never: nothing expires in 1970.
    writer.write(UInt64(bitPattern: grant.expiresAt?.seconds ?? 0))
    return seal(writer.bytes, signedBy: identity, label: "child signs", about: parentKey, key: childSeals)
  }

  /// Nil as for `openParent`.
  func openChild(_ sealed: [UInt8], parentKey: [UInt8]) -> (Introduction, PairingGrant)? {
    guard let (head, signature) = open(sealed, key: childSeals) else { return nil }
    var reader = ByteReader(head)
    guard let child = try? readIntroduction(&reader, fallback: "Child"), let name = try? reader.readPart(),
      let permissions = try? reader.readUInt8(), let expiry = try? reader.readUInt64(), reader.isAtEnd,
      isSigned(head, signature, by: child.publicKey, label: "child signs", about: parentKey)
    else { return nil }
    let grant = PairingGrant(
      name: PairName.cleaned(String(decoding: name, as: UTF8.self), fallback: "Parent"),
      permissions: Permissions(rawValue: permissions).intersection(.all),
      expiresAt: expiry == 0 ? nil : UnixTime(seconds: Int64(bitPattern: expiry)))
    return (child, grant)
  }

  // MARK: - Both

  private func introduction(name: String, identity: any IdentitySigner) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(part: identity.publicKeySPKI)
    writer.write(part: Array(name.utf8))
    return writer.bytes
  }

  private func readIntroduction(_ reader: inout ByteReader, fallback: String) throws(WireError) -> Introduction {
    let key = try reader.readPart()
    guard key.count == IdentityKey.byteCount else { throw .malformed("an identity key has 91 bytes") }
    let name = String(decoding: try reader.readPart(), as: UTF8.self)
    return Introduction(publicKey: key, name: PairName.cleaned(name, fallback: fallback))
  }

  private func seal(
    _ head: [UInt8], signedBy identity: any IdentitySigner, label: String, about: [UInt8], key: [UInt8]
  ) -> [UInt8] {
    let signature = identity.sign(signedBytes(head, label: label, about: about))
    return crypto.seal(head + signature, key: key, authenticating: transcript)
  }

  private func open(_ sealed: [UInt8], key: [UInt8]) -> (head: [UInt8], signature: [UInt8])? {
    guard PairingSize.sealed.contains(sealed.count),
      let plaintext = crypto.open(sealed, key: key, authenticating: transcript),
      plaintext.count >= IdentityKey.signatureByteCount
    else { return nil }
    let end = plaintext.count - IdentityKey.signatureByteCount
    return (Array(plaintext[..<end]), Array(plaintext[end...]))
  }

  private func isSigned(
    _ head: [UInt8], _ signature: [UInt8], by publicKey: [UInt8], label: String, about: [UInt8]
  ) -> Bool {
    crypto.isSignature(signature, over: signedBytes(head, label: label, about: about), by: publicKey)
  }

  private func signedBytes(_ head: [UInt8], label: String, about: [UInt8]) -> [UInt8] {
    var writer = PairingBytes.writer(label: label)
    for part in [transcript, head, about] { writer.write(part: part) }
    return writer.bytes
  }
}
