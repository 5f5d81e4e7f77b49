public import Pairing

/// Verifies signatures of other nodes.
public protocol MessageVerifier: Sendable {
  /// Whether `signature` over `message` was made with the private half of `publicKey` (DER SubjectPublicKeyInfo): ECDSA on
  /// P-256 with SHA-256, R and S of 32 bytes each, big-endian (RFC 7518 section 3.4). Also false for a malformed key.
  func isSignature(_ signature: [UInt8], over message: [UInt8], by publicKey: [UInt8]) -> Bool
}

/// Signs messages of this node and verifies those of others.
public struct SignedEnvelope: Sendable {
  /// This node's id: 16 lower-case hexadecimal digits.
  public let id: String
  private let signer: any IdentitySigner
  private let verifier: any MessageVerifier

  public init(id: String, signer: any IdentitySigner, verifier: any MessageVerifier) {
    self.id = id
    self.signer = signer
    self.verifier = verifier
  }

  /// The message as a compact JWS.
  public func seal(_ message: SignedMessage) -> String {
    seal(payload: SignedMessageJSON.payload(message))
  }

  /// The message, after verifying the sender's signature. The payload is not parsed before that.
  ///
  /// - Parameter key: returns the public key (SPKI) of the node that the header names; throws when it may not talk to us.
  /// - Throws: what `key` throws, `malformed`, `badSignature`, `wrongSender` or `wrongRecipient`.
  public func open(
    _ text: String, key: (_ id: String) throws(SignalingRefusal) -> [UInt8]
  ) throws(SignalingRefusal) -> SignedMessage {
    let form = try SignedCompactForm(parsing: text)
    let sender = try SignedMessageJSON.signer(ofHeader: form.header)
    let key = try key(sender)
    guard verifier.isSignature(form.signature, over: form.signingInput, by: key) else { throw .badSignature }
    return try message(form, from: sender)
  }

  /// Our presence as a compact JWS.
  public func seal(_ presence: Presence) -> String {
    seal(payload: SignedMessageJSON.payload(presence))
  }

  /// Our proof as a compact JWS.
  public func seal(_ proof: HostProof) -> String {
    seal(payload: SignedMessageJSON.payload(proof))
  }

  private func seal(payload: [UInt8]) -> String {
    SignedCompactForm.text(header: SignedMessageJSON.header(id: id), payload: payload, sign: signer.sign)
  }

  /// The presence of a child, after verifying its signature.
  ///
  /// - Throws: `malformed`, `badSignature` or `wrongSender`.
  public func openPresence(_ text: String, of child: PairedPeer) throws(SignalingRefusal) -> Presence {
    guard text.utf8.count <= Presence.maximumBytes else { throw .malformed("over the size limit") }
    let form = try SignedCompactForm(parsing: text)
    guard try SignedMessageJSON.signer(ofHeader: form.header) == child.id else { throw .wrongSender }
    guard verifier.isSignature(form.signature, over: form.signingInput, by: child.publicKeySPKI) else {
      throw .badSignature
    }
    let presence = try SignedMessageJSON.presence(ofPayload: form.payload)
    guard presence.child == child.id else { throw .wrongSender }
    return presence
  }

  /// The unverified content of a message whose key is unknown. To be used for nothing but a refusal.
  func claim(_ text: String) throws(SignalingRefusal) -> SignedMessage {
    let form = try SignedCompactForm(parsing: text)
    return try message(form, from: SignedMessageJSON.signer(ofHeader: form.header))
  }

  private func message(_ form: SignedCompactForm, from sender: String) throws(SignalingRefusal) -> SignedMessage {
    let message = try SignedMessageJSON.message(ofPayload: form.payload)
    // A message must not be reflected to its sender or forwarded to another node.
    guard message.from == sender else { throw .wrongSender }
    guard message.to == id else { throw .wrongRecipient }
    return message
  }
}
