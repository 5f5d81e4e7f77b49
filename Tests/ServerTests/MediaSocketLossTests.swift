import Identity
import NIOCore
import NIOPosix
import PeerConnection
import SDP
import SecureTransport
import TestSupport
import Testing
import Wire

@testable import Server

@Suite(.timeLimit(.minutes(1))) struct MediaSocketLossTests {
  private static func hub(on loop: any EventLoop) async throws -> PeerHub {
    let identity = NodeIdentity.generate()
    let transports = try OpenSSLTransports(key: identity.key, certificate: Certificate(key: identity.key))
    let start = ContinuousClock.now
    let hub = PeerHub(eventLoop: loop, limit: 2, now: { .zero + (ContinuousClock.now - start) }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: TestHashes(),
        random: SystemRandomNumberGenerator(), wallClock: WallClockReference(instant: .zero, unixNanoseconds: 0))
    }
    try await hub.bind(ports: 0...0)
    return hub
  }

  /// The system refuses datagrams to a broadcast address (EACCES), as it does all while the network is down
  /// (ENETUNREACH).
  @Test func aDatagramThatCannotBeSentDoesNotEndTheOthers() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (ours, theirs) = (try await Self.hub(on: loop), try await Self.hub(on: loop))
    let (connected, up) = AsyncStream.makeStream(of: Void.self)
    let nothing = PeerConnectionConfiguration(media: [])
    let port = try await loop.submit {
      ours.onEvent = { _, event in if case .stateChanged(.connected) = event { up.yield() } }
      let (peer, offer) = try ours.offer(configuration: nothing, wantsDataChannel: true, includingLoopback: true)
      let (gone, made) = try theirs.connect(offer: offer, configuration: nothing, includingLoopback: true)
      theirs.close(gone)
      var answer = made
      for index in answer.media.indices {
        answer.media[index].candidates = ["candidate:9 1 udp 2130706431 127.255.255.255 9 typ host"]
      }
      let misleading = answer
      try ours.with(peer) { connection, now in try connection.accept(misleading, now: now) }
      return ours.port
    }.get()
    try await Task.sleep(for: .milliseconds(200))
    try await loop.submit {
      let (peer, offer) = try ours.offer(configuration: nothing, wantsDataChannel: true, includingLoopback: true)
      let (_, answer) = try theirs.connect(offer: offer, configuration: nothing, includingLoopback: true)
      try ours.with(peer) { connection, now in try connection.accept(answer, now: now) }
      #expect(ours.port == port)
    }.get()
    for await _ in connected { break }
    await ours.shutDown()
    await theirs.shutDown()
  }
}
