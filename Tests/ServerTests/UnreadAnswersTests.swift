import NIOCore
import NIOHTTP1
import NIOPosix
import NIOTLS
import SecureTransport
import Synchronization
import Testing
import Wire

@testable import Server

/// Clients that ask for much and take little of it.
@Suite(.timeLimit(.minutes(2))) struct UnreadAnswersTests {
  /// A server on loopback that counts what it is asked. `/large` is 1 MB; `/held` waits for `release`.
  private final class Lab: Sendable {
    let server: HTTPServer
    let loop: any EventLoop
    let served: Served
    let held: EventLoopPromise<Void>

    final class Served: Sendable {
      let count = Atomic<Int>(0)
    }

    init(_ adjust: (inout HTTPServer.Limits) -> Void = { _ in }, webSocket: WebSocketEndpoint? = nil) async throws {
      var limits = HTTPServer.Limits()
      adjust(&limits)
      let key = PrivateKey.generate()
      let loop = MultiThreadedEventLoopGroup.singleton.next()
      let (served, held) = (Served(), loop.makePromise(of: Void.self))
      server = try await HTTPServer.start(
        host: "127.0.0.1", port: 0, tls: TLSContext(key: key, certificate: Certificate(key: key)), limits: limits,
        webSocket: webSocket, on: loop
      ) { request in
        served.count.wrappingAdd(1, ordering: .relaxed)
        var response = HTTPResponse(contentType: "text/plain", text: "[\(request.path)]")
        if request.path == "/large" { response.body = Array(repeating: UInt8(ascii: "x"), count: 1_000_000) }
        let answer = response
        return request.path == "/held" ? held.futureResult.map { answer } : loop.makeSucceededFuture(answer)
      }
      (self.loop, self.served, self.held) = (loop, served, held)
    }

    func connect(reading: Reader.Way = .everything) async throws -> Client {
      let client = try TLSContext(trust: .judged { _ in true })
      let reader = Reader.Box()
      let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
        .channelOption(.socketOption(.so_rcvbuf), value: 4096)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(TLSHandler(TLSConnection(client: client, of: .name("localhost"))))
            try pipeline.addHandler(Reader(way: reading, box: reader))
          }
        }.connect(host: "127.0.0.1", port: server.port).get()
      return Client(channel: channel, received: reader)
    }

    func stop() async {
      held.succeed(())
      await server.stop()
    }
  }

  private struct Client {
    let channel: any Channel
    let received: Reader.Box

    func ask(_ paths: [String], method: String = "GET") {
      let text = paths.map { "\(method) \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
      channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    }

    func wait(until condition: ([UInt8]) -> Bool) async throws {
      while !received.bytes.withLock({ condition($0) }), channel.isActive {
        try await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  /// Keeps what comes.
  private final class Reader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    enum Way {
      case everything
      /// Nothing after the handshake.
      case nothing
    }

    final class Box: Sendable {
      let bytes = Mutex<[UInt8]>([])
    }

    private let way: Way
    private let box: Box

    init(way: Way, box: Box) {
      (self.way, self.box) = (way, box)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard case .nothing = way, event is TLSUserEvent else { return }
      context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let bytes = unwrapInboundIn(data)
      box.bytes.withLock { $0 += bytes.readableBytesView }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {}
  }

  private static func bodies(_ bytes: [UInt8]) -> [Substring] {
    String(decoding: bytes, as: UTF8.self).split(separator: "[").dropFirst().map { $0.prefix { $0 != "]" } }
  }

  /// No call within a call for each of them: the stack would not do.
  @Test func requestsBehindAHeldAnswerAreAnsweredInOrder() async throws {
    let lab = try await Lab()
    let client = try await lab.connect()
    let paths = (0..<1400).map { "/\($0)" }
    client.ask(["/held"] + paths)
    try await Task.sleep(for: .milliseconds(100))
    // None of them is asked for before the first is answered.
    #expect(lab.served.count.load(ordering: .relaxed) == 1)
    lab.held.succeed(())
    try await client.wait { Self.bodies($0).count == 1401 }
    #expect(client.received.bytes.withLock { Self.bodies($0) } == (["/held"] + paths).map { $0[...] })
    try await client.channel.close()
    await lab.stop()
  }

  /// RFC 9110 section 10.1.1: the body comes after `100 Continue`, or not at all.
  @Test func whoAsksBeforeItsBodyIsAnswered() async throws {
    let lab = try await Lab()
    for (length, expectation, status) in [
      (5, "100-continue", "100 Continue"), (5, "100-Continue", "100 Continue"), (1 << 30, "100-continue", "413"),
    ] {
      let client = try await lab.connect()
      let head = "POST /x HTTP/1.1\r\nHost: a\r\nExpect: \(expectation)\r\nContent-Length: \(length)\r\n\r\n"
      client.channel.writeAndFlush(ByteBuffer(string: head), promise: nil)
      try await client.wait { !$0.isEmpty }
      let text = client.received.bytes.withLock { String(decoding: $0, as: UTF8.self) }
      #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(text)")
      guard status.hasPrefix("100") else { continue }
      #expect(text.hasSuffix("\r\n\r\n") && text.split(separator: "\r\n").count == 1, "\(text)")
      client.channel.writeAndFlush(ByteBuffer(string: "hello"), promise: nil)
      try await client.wait { Self.bodies($0) == ["/x"] }
      try await client.channel.close()
    }
    // Nobody waits for it who does not say so, or speaks HTTP/1.0.
    let client = try await lab.connect()
    let old = "POST /old HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi"
    client.channel.writeAndFlush(ByteBuffer(string: old), promise: nil)
    try await client.wait { Self.bodies($0) == ["/old"] }
    #expect(client.received.bytes.withLock { !String(decoding: $0, as: UTF8.self).contains("100 Continue") })
    await lab.stop()
  }

  @Test func aLongAnswerArrivesWhole() async throws {
    let lab = try await Lab()
    let client = try await lab.connect()
    client.ask(["/large", "/1", "/large", "/2"])
    try await client.wait { Self.bodies($0).count == 2 }
    let text = client.received.bytes.withLock { String(decoding: $0, as: UTF8.self) }
    #expect(text.count { $0 == "x" } >= 2_000_000 && Self.bodies(Array(text.utf8)) == ["/1", "/2"])
    try await client.channel.close()
    await lab.stop()
  }

  @Test(arguments: ["GET", "POST", "HEAD"])
  func whoTakesNothingIsAskedForNothingMoreAndClosed(method: String) async throws {
    let lab = try await Lab { $0.readingTime = .milliseconds(500) }
    let client = try await lab.connect(reading: .nothing)
    // A HEAD's answers are short, so that many of them go to the kernel.
    client.ask(Array(repeating: "/large", count: 1400), method: method)
    while client.channel.isActive {
      client.ask(["/large"], method: method)
      try await Task.sleep(for: .milliseconds(20))
      // It does not see the end of the connection while it does not read, but its writes fail.
    }
    let served = lab.served.count.load(ordering: .relaxed)
    #expect(method == "HEAD" ? served <= 1400 : served == 1, "\(served)")
    await lab.stop()
  }

  @Test func aWebSocketThatTakesNothingIsClosed() async throws {
    let closed = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: WebSocketClosure.self)
    let endpoint = WebSocketEndpoint(path: "/signal") { socket in
      socket.onClose = { closed.succeed($0) }
      socket.onText = { _ in }
      // More than the kernel takes, and less than is too much at once.
      for _ in 0..<200 { socket.send(String(repeating: "x", count: 1000)) }
    }
    let lab = try await Lab({ $0.readingTime = .milliseconds(500) }, webSocket: endpoint)
    let client = try await lab.connect(reading: .nothing)
    client.channel.writeAndFlush(
      ByteBuffer(
        string: "GET /signal HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"), promise: nil)
    #expect(try await closed.futureResult.get() == .lost)
    try? await client.channel.close()
    await lab.stop()
  }
}
