import Identity
import NIOCore
import NIOPosix
import PeerConnection
import SDP
import SecureTransport
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Server

@Suite(.timeLimit(.minutes(1))) struct MediaSocketLossTests {
  private static func hub(
    on loop: any EventLoop, fastPaths: PeerHub.FastPaths = .init()
  ) async throws -> PeerHub {
    let identity = NodeIdentity.generate()
    let transports = try OpenSSLTransports(key: identity.key, certificate: Certificate(key: identity.key))
    let start = ContinuousClock.now
    let hub = PeerHub(
      eventLoop: loop, limit: 2, now: { .zero + (ContinuousClock.now - start) }, fastPaths: fastPaths
    ) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: TestHashes(),
        random: SystemRandomNumberGenerator(), wallClock: WallClockReference(instant: .zero, unixNanoseconds: 0))
    }
    try await hub.bind(ports: 0...0)
    return hub
  }

  private static let nothing = PeerConnectionConfiguration(media: [])

  /// A peer of `ours` that is told to reach the other side at `candidate`.
  private static func mislead(_ ours: PeerHub, _ theirs: PeerHub, to candidate: String) throws {
    let (peer, offer) = try ours.offer(configuration: nothing, wantsDataChannel: true, includingLoopback: true)
    let (gone, made) = try theirs.connect(offer: offer, configuration: nothing, includingLoopback: true)
    theirs.close(gone)
    var answer = made
    for index in answer.media.indices { answer.media[index].candidates = [candidate] }
    let misleading = answer
    try ours.with(peer) { connection, now in try connection.accept(misleading, now: now) }
  }

  private static func connect(_ ours: PeerHub, _ theirs: PeerHub) throws {
    let (peer, offer) = try ours.offer(configuration: nothing, wantsDataChannel: true, includingLoopback: true)
    let (_, answer) = try theirs.connect(offer: offer, configuration: nothing, includingLoopback: true)
    try ours.with(peer) { connection, now in try connection.accept(answer, now: now) }
  }

  /// The system refuses datagrams to a broadcast address (EACCES), and to one without a route (ENETUNREACH, EINVAL).
  @Test(arguments: ["127.255.255.255", "192.0.0.0", "fd00:1:2:3::1"])
  func aDestinationThatTakesNothingLeavesTheSocketOpen(address: String) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (ours, theirs) = (try await Self.hub(on: loop), try await Self.hub(on: loop))
    let (connected, up) = AsyncStream.makeStream(of: Void.self)
    let socket = try await loop.submit {
      ours.onEvent = { _, event in if case .stateChanged(.connected) = event { up.yield() } }
      try Self.mislead(ours, theirs, to: "candidate:9 1 udp 2130706431 \(address) 9 typ host")
      return ours.socket
    }.get()
    // Several checks have been tried by then.
    try await Task.sleep(for: .milliseconds(300))
    try await loop.submit {
      #expect(ours.socket === socket && socket?.channel.isActive == true)
      try Self.connect(ours, theirs)
    }.get()
    for await _ in connected { break }
    await ours.shutDown()
    await theirs.shutDown()
  }

  @Test func aLostSocketIsReplacedOnTheSamePort() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (ours, theirs) = (try await Self.hub(on: loop), try await Self.hub(on: loop))
    let (connected, up) = AsyncStream.makeStream(of: Void.self)
    let socket = try #require(
      try await loop.submit {
        ours.onEvent = { _, event in if case .stateChanged(.connected) = event { up.yield() } }
        return ours.socket
      }.get())
    try await socket.channel.close().get()
    for _ in 0..<200 where try await loop.submit({ ours.socket === socket }).get() {
      try await Task.sleep(for: .milliseconds(20))
    }
    try await loop.submit {
      #expect(ours.socket !== socket && ours.port == socket.port)
      try Self.connect(ours, theirs)
    }.get()
    for await _ in connected { break }
    await ours.shutDown()
    await theirs.shutDown()
  }

  @Test func peersConnectWithoutTheFastPaths() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (ours, theirs) = (
      try await Self.hub(on: loop, fastPaths: .none), try await Self.hub(on: loop, fastPaths: .none)
    )
    let (connected, up) = AsyncStream.makeStream(of: Void.self)
    try await loop.submit {
      ours.onEvent = { _, event in if case .stateChanged(.connected) = event { up.yield() } }
      try Self.connect(ours, theirs)
    }.get()
    for await _ in connected { break }
    await ours.shutDown()
    await theirs.shutDown()
  }

  /// A browser hides its addresses behind names, draft-ietf-mmusic-mdns-ice-candidates.
  @Test func aNameIsLookedUpAndItsAddressConnects() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (ours, theirs) = (try await Self.hub(on: loop), try await Self.hub(on: loop))
    let (connected, up) = AsyncStream.makeStream(of: Void.self)
    let name = "2b9ae35f-53d1-4b4d-8e4c-4bb4fcd2a0c1.local"
    let asked = Mutex<[String]>([])
    try await loop.submit {
      ours.onEvent = { _, event in if case .stateChanged(.connected) = event { up.yield() } }
      ours.resolveName = { name, found in
        asked.withLock { $0.append(name) }
        found(.v4(0x7f00_0001))
      }
      let (peer, offer) = try ours.offer(
        configuration: Self.nothing, wantsDataChannel: true, includingLoopback: true)
      // They cannot find us.
      var hidden = offer
      for index in hidden.media.indices { hidden.media[index].candidates = [] }
      let (_, made) = try theirs.connect(offer: hidden, configuration: Self.nothing, includingLoopback: true)
      var answer = made
      for index in answer.media.indices {
        answer.media[index].candidates = (0..<40).map { "candidate:\($0) 1 udp 2130706431 \($0)\(name) 9 typ host" }
        answer.media[index].candidates[0] = "candidate:0 1 udp 2130706431 \(name) \(theirs.port) typ host"
      }
      let named = answer
      try ours.with(peer) { connection, now in try connection.accept(named, now: now) }
    }.get()
    for await _ in connected { break }
    let names = asked.withLock { $0 }
    #expect(names.first == name && (1...16).contains(names.count))
    await ours.shutDown()
    await theirs.shutDown()
  }
}
