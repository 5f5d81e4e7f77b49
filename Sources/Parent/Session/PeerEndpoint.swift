internal import Frames
internal import NIOCore
internal import NIOPosix
internal import PeerConnection
internal import Secure
internal import Server

/// One event loop with a UDP socket for peer connections, used by every session of this program.
struct PeerEndpoint: Sendable {
  private let group: MultiThreadedEventLoopGroup
  let loop: any EventLoop
  let hub: PeerHub

  /// - Parameter identity: the key behind our DTLS certificate. A paired child knows it; for others any will do.
  static func open(identity: NodeIdentity) async throws -> PeerEndpoint {
    let transports = try OpenSSLTransports(identity: identity, certificate: NodeCertificate(identity: identity))
    let endpoint = PeerEndpoint(transports)
    do {
      try await endpoint.hub.bind(ports: 0...0)
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
  }

  /// Closes every connection and the socket. Call `stopLoop` when nothing needs the loop any more.
  func shutDown(sayingGoodbye: Bool) async {
    await hub.shutDown(sayingGoodbye: sayingGoodbye)
  }

  func stopLoop() async {
    try? await group.shutdownGracefully()
  }
}
