internal import Frames
internal import Identity
internal import Logging
internal import NIOCore
internal import Pairing
internal import PeerConnection
internal import SecureTransport
internal import Server
internal import Signaling
internal import Storage

/// The child's identity towards others: name, identity key and certificate.
struct NodeProfile: Sendable {
  let name: String
  private let identity: NodeIdentity
  private let certificate: Certificate

  /// 16 hexadecimal digits.
  var id: String { identity.id }

  init(_ identity: NodeIdentity, _ configuration: ChildConfiguration) throws {
    self.identity = identity
    name = configuration.name ?? ChildConfiguration.defaultName(id: identity.id)
    certificate = try Certificate(
      key: identity.key, addresses: LocalAddresses.current(includingLoopback: true))
  }

  /// The peer connections of all viewers, on one event loop.
  func makeHub(on loop: any EventLoop) throws -> PeerHub {
    OpenSSLTransports.prepare()
    let transports = try OpenSSLTransports(key: identity.key, certificate: certificate)
    // One more: a session that makes room ends only after its successor's offer has been accepted.
    return PeerHub(eventLoop: loop, limit: ViewerAdmission.places + 1, now: { MonotonicClock.now }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: CryptoHashes(),
        random: SystemRandomNumberGenerator(), wallClock: MonotonicClock.wallClockReference)
    }
  }

  func pairingResponder() -> PairingResponder {
    PairingResponder(
      identity: identity, name: name, crypto: PairingPrimitives(), random: SystemRandomNumberGenerator())
  }

  /// Signs messages sent through a room.
  func signedEnvelope() -> SignedEnvelope {
    SignedEnvelope(
      id: identity.id, signer: identity, verifier: PairingPrimitives())
  }

  /// The proof to a room server elsewhere that the room with our id is ours.
  func hostProof(server: String, challenge: String) -> String {
    signedEnvelope().seal(
      HostProof(child: id, server: server, challenge: challenge, publicKeySPKI: identity.publicKeySPKI))
  }

  /// For the HTTPS port: over the identity key, whoever signs it. Parents that have paired know the key.
  func issuedCertificates(_ file: AtomicFile, logger: Logger) -> IssuedCertificates {
    IssuedCertificates(file, key: identity.key, logger: logger)
  }

  func tls(_ certificate: Certificate) throws(SecureError) -> TLSContext {
    try TLSContext(key: identity.key, certificate: certificate)
  }
}
