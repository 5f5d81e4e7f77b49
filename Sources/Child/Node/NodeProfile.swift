internal import Frames
internal import Identity
internal import Messages
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
      id: identity.id, signer: identity, verifier: PairingPrimitives(), format: SignedMessageJSON())
  }

  /// The proof to a room server elsewhere that the room with our id is ours.
  func hostProof(server: String, challenge: String) -> String {
    signedEnvelope().seal(
      HostProof(child: id, server: server, challenge: challenge, publicKeySPKI: identity.publicKeySPKI))
  }

  /// For the HTTPS port: with the family's own files, else issued by the node's root, else self-signed. Parents that have
  /// paired know the identity key, whoever vouches for it.
  func tls(
    _ configuration: ChildConfiguration, root: NodeCertificate?, date: UnixTime
  ) throws(NodeError) -> TLSContext {
    var certificate = certificate
    do throws(SecureError) {
      if let root { certificate = try root.issue(for: identity.key, listen: configuration.listen.host, date: date) }
    } catch {
      throw .tls("\(error)")
    }
    return try NodeTLS.context(configuration.tls, identity: identity, certificate: certificate)
  }
}
