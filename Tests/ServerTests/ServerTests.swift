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

@Suite struct SocketAddressTests {
  @Test(arguments: ["192.0.2.7", "2001:db8::7"])
  func typedAddressesSurviveADualStackSocket(text: String) throws {
    let address = TransportAddress(ip: try #require(IPAddress(text)), port: 40_000)
    let socket = try #require(SocketAddress(address, forIPv6Socket: true))
    #expect(socket.protocol == .inet6)
    #expect(socket.transportAddress == address)
  }

  @Test func anIPv4SocketTakesNoIPv6Peer() throws {
    let six = TransportAddress(ip: .v6(0, 1), port: 1)
    #expect(SocketAddress(six, forIPv6Socket: false) == nil)
    let four = TransportAddress(ip: .v4(0x7f00_0001), port: 1)
    #expect(SocketAddress(four, forIPv6Socket: false)?.transportAddress == four)
  }
}

@Suite struct PeerHubTests {
  private func hub(limit: Int, on loop: any EventLoop) throws -> PeerHub {
    let identity = NodeIdentity.generate()
    let transports = try OpenSSLTransports(key: identity.key, certificate: Certificate(key: identity.key))
    return PeerHub(eventLoop: loop, limit: limit, now: { Instant.zero + .seconds(1) }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: TestHashes(),
        random: SystemRandomNumberGenerator(),
        wallClock: WallClockReference(instant: .zero, unixNanoseconds: 0))
    }
  }

  private static let media = [
    LocalMedia(
      kind: .video, direction: .sendOnly, codecs: [.vp8, .rtx], headerExtensions: [], ssrc: 1, rtxSSRC: 2,
      cname: "a", streamID: "a", trackID: "a")
  ]

  @Test func takesNoMoreThanItsLimitAndMakesRoomWhenOneLeaves() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let hub = try hub(limit: 1, on: loop)
    try await hub.bind(ports: 0...0)
    let offer = try SessionDescription(parsing: Fixture.text("offer-chromium-recvonly.sdp"))
    try await loop.submit {
      #expect(hub.port != 0)
      let connect = {
        try hub.connect(
          offer: offer, configuration: PeerConnectionConfiguration(media: Self.media), includingLoopback: true)
      }
      let (first, answer) = try connect()
      #expect(answer.media.count == offer.media.count)
      #expect(throws: PeerHubError.self) { try connect() }
      #expect(hub.count == 1)
      hub.close(first)
      #expect(hub.count == 0)
      _ = try connect()
    }.get()
    await hub.shutDown()
    try await loop.submit { #expect(hub.count == 0) }.get()
  }

  @Test func anOfferThatCannotBeAnsweredLeavesNothingBehind() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let hub = try hub(limit: 4, on: loop)
    try await hub.bind(ports: 0...0)
    var offer = try SessionDescription(parsing: Fixture.text("offer-chromium-recvonly.sdp"))
    for index in offer.media.indices { offer.media[index].fingerprints = [] }
    let broken = offer
    try await loop.submit {
      #expect(throws: PeerHubError.self) {
        try hub.connect(
          offer: broken, configuration: PeerConnectionConfiguration(media: Self.media), includingLoopback: true)
      }
      #expect(hub.count == 0)
    }.get()
    await hub.shutDown()
  }
}

@Suite struct CommandSocketTests {
  @Test func asksAndAnswersLineByLineAndSaysWhenNobodyIsThere() async throws {
    let path = "/tmp/cradle-test-\(UInt64.random(in: 0...UInt64.max)).sock"
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let socket = try await CommandSocket.start(path: path, on: loop) { line in
      loop.makeSucceededFuture(line.reversed())
    }
    let answer = try await NIOThreadPool.singleton.runIfActive { try CommandClient.ask(path: path, line: [1, 2, 3]) }
    #expect(answer == [3, 2, 1])
    await socket.stop()
    #expect(throws: CommandClientError.self) { try CommandClient.ask(path: path, line: [1]) }
  }

  /// Commands that come together are taken one after the other, and none while the last answer has not been read.
  @Test func whoReadsNothingIsAskedForNothingMore() async throws {
    let path = "/tmp/cradle-test-\(UInt64.random(in: 0...UInt64.max)).sock"
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (taken, received) = (Taken(), Taken())
    let socket = try await CommandSocket.start(path: path, on: loop) { line in
      taken.lines.withLock { $0.append(line) }
      return loop.makeSucceededFuture(line + Array(repeating: UInt8(ascii: "."), count: 10_000))
    }
    let client = try await ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(LineCollector(received))
        }
      }.connect(unixDomainSocketPath: path).get()
    let lines = (0..<3000).map { Array("\($0)".utf8) }
    client.writeAndFlush(ByteBuffer(bytes: lines.joined(separator: [UInt8(ascii: "\n")]) + [10]), promise: nil)
    try await Task.sleep(for: .milliseconds(300))
    // What the kernel takes is some hundred kilobytes.
    #expect(taken.lines.withLock { $0.count } < 300)
    try await client.setOption(.autoRead, value: true).get()
    while received.lines.withLock({ $0.count }) < lines.count, client.isActive {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(received.lines.withLock { $0.map { $0.filter { $0 != UInt8(ascii: ".") } } } == lines)
    try? await client.close()
    await socket.stop()
  }

  /// A client that is gone gets no answers made, and there are so many clients at once.
  @Test func whoIsGoneIsAskedForNothingMore() async throws {
    let path = "/tmp/cradle-test-\(UInt64.random(in: 0...UInt64.max)).sock"
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let taken = Taken()
    let socket = try await CommandSocket.start(path: path, on: loop) { line in
      taken.lines.withLock { $0.append(line) }
      return loop.makeSucceededFuture(Array(repeating: UInt8(ascii: "."), count: 10_000))
    }
    let bootstrap = ClientBootstrap(group: loop).channelOption(.autoRead, value: false)
    let client = try await bootstrap.connect(unixDomainSocketPath: path).get()
    client.writeAndFlush(ByteBuffer(string: String(repeating: "x\n", count: 3000)), promise: nil)
    try await Task.sleep(for: .milliseconds(200))
    try await client.close()
    try await Task.sleep(for: .milliseconds(200))
    #expect((1..<300).contains(taken.lines.withLock { $0.count }))
    var clients: [any Channel] = []
    for _ in 0..<40 { clients.append(try await bootstrap.connect(unixDomainSocketPath: path).get()) }
    for client in clients { try? await client.setOption(.autoRead, value: true).get() }
    try await Task.sleep(for: .milliseconds(200))
    #expect(clients.count(where: \.isActive) == 32)
    for client in clients { try? await client.close() }
    await socket.stop()
  }

  private final class Taken: Sendable {
    let lines = Mutex<[[UInt8]]>([])
  }

  private final class LineCollector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let received: Taken
    private var rest: [UInt8] = []

    init(_ received: Taken) {
      self.received = received
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      rest += unwrapInboundIn(data).readableBytesView
      let parts = rest.split(separator: 10, omittingEmptySubsequences: false)
      rest = Array(parts.last ?? [])
      received.lines.withLock { $0 += parts.dropLast().map(Array.init) }
    }
  }
}
