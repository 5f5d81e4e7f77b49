internal import Discovery
internal import Frames
internal import Identity
internal import NIOCore
internal import NIOPosix
internal import PeerConnection
internal import SecureTransport
internal import Server

/// One event loop with a UDP socket for peer connections, used by every session of this program.
struct PeerEndpoint: Sendable {
  private let group: MultiThreadedEventLoopGroup
  let loop: any EventLoop
  let hub: PeerHub

  /// - Parameter identity: the key behind our DTLS certificate. A paired child knows it; for others any will do.
  static func open(identity: NodeIdentity, marking: MediaMarking) async throws -> PeerEndpoint {
    // While the handshake runs.
    Task.detached { OpenSSLTransports.prepare() }
    let transports = try OpenSSLTransports(key: identity.key, certificate: Certificate(key: identity.key))
    let endpoint = PeerEndpoint(transports)
    do {
      try await endpoint.hub.bind(ports: 0...0, marking: marking)
      return endpoint
    } catch {
      try? await endpoint.group.shutdownGracefully()
      throw error
    }
  }

  private init(_ transports: OpenSSLTransports) {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    loop = group.next()
    hub = PeerHub(eventLoop: loop, limit: 4, now: { MonotonicClock.now }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: CryptoHashes(), random: SystemRandomNumberGenerator(),
        wallClock: MonotonicClock.wallClockReference)
    }
    let resolver = HostResolver()
    hub.resolveName = { name, found in resolver.resolve(name, found: found) }
  }

  /// Closes every connection and the socket. Call `stopLoop` when nothing needs the loop any more.
  func shutDown(sayingGoodbye: Bool) async {
    await hub.shutDown(sayingGoodbye: sayingGoodbye)
  }

  func stopLoop() async {
    try? await group.shutdownGracefully()
  }
}
