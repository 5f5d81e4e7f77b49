import Glibc
import NIOCore
import NIOPosix
import SecureTransport
import Testing
import Wire

@testable import Server

/// The first bytes of a connection from a proxy. Examples of version 2 are HAProxy's.
@Suite struct ProxyHeaderTests {
  private static func binary(_ head: [UInt8], _ rest: [UInt8] = []) -> [UInt8] {
    [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10] + head + rest
  }

  private static func line(_ text: String, end: String = "\r\n") -> [UInt8] { Array((text + end).utf8) }

  private static let addresses: [UInt8] = [192, 0, 2, 7, 192, 0, 2, 1, 0xc3, 0x50, 1, 0xbb]
  private static let four = binary([0x21, 0x11, 0, 12], addresses)
  private static let six = binary(
    [0x21, 0x21, 0, 36],
    [
      0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
      0xc3,
      0x50, 1, 0xbb,
    ])

  private static func address(_ text: String, _ port: UInt16 = 50_000) throws -> TransportAddress {
    TransportAddress(ip: try #require(IPAddress(text)), port: port)
  }

  @Test(arguments: [
    (four, "192.0.2.7"), (six, "2001:db8::7"), (line("PROXY TCP4 192.0.2.7 192.0.2.1 50000 443"), "192.0.2.7"),
    (line("PROXY TCP6 2001:db8::7 2001:db8::1 50000 443"), "2001:db8::7"),
  ])
  func theClientsAddressIsRead(bytes: [UInt8], address: String) throws {
    let expected = try Self.address(address)
    let header = try #require(try ProxyHeader(bytes + [22, 3, 1]))
    #expect(header.source == expected)
    #expect(header.length == bytes.count)
    for count in bytes.indices { #expect(try ProxyHeader(Array(bytes[..<count])) == nil, "\(count)") }
  }

  /// Version 2 may go on with anything, whose length it says.
  @Test func whatFollowsTheAddressesIsSkipped() throws {
    let bytes = Self.binary([0x21, 0x11, 0, 17], Self.addresses + [4, 0, 2, 1, 1])
    let expected = try Self.address("192.0.2.7")
    let header = try #require(try ProxyHeader(bytes))
    #expect(header.source == expected && header.length == bytes.count)
  }

  @Test(arguments: [
    binary([0x20, 0x11, 0, 12], addresses), binary([0x20, 0, 0, 0]), binary([0x21, 0x31, 0, 1, 7]),
    line("PROXY UNKNOWN"), line("PROXY UNKNOWN ffff::1 ffff::2 1 2"),
  ])
  func aProxyThatSpeaksForItselfNamesNobody(bytes: [UInt8]) throws {
    let header = try #require(try ProxyHeader(bytes))
    #expect(header.source == nil && header.length == bytes.count)
  }

  @Test(arguments: [
    [22, 3, 1, 2, 0], line("GET / HTTP/1.1"), binary([0x11, 0x11, 0, 12]), binary([0x22, 0x11, 0, 12]),
    binary([0x21, 0x11, 0, 11], addresses), binary([0x21, 0x11, 0xff, 0xff]),
    line("PROXY TCP4 192.0.2.7 192.0.2.1 50000 443", end: "\n"), line("PROXY TCP4 192.0.2.7 192.0.2.1 50000"),
    line("PROXY TCP4 meet.example.org 192.0.2.1 50000 443"), line("PROXY "),
    line("PROXY TCP4 192.0.2.7 192.0.2.1 65536 443"), line("PROXY UDP4 192.0.2.7 192.0.2.1 1 443"),
    line("PROXY UNKNOWN " + String(repeating: "x", count: 100)),
  ])
  func anythingElseIsRefused(bytes: [UInt8]) {
    #expect(throws: WireError.self) { try ProxyHeader(bytes) }
  }

  // MARK: - At a server

  /// What a client got that sends some bytes before its TLS; nil: the connection was closed.
  private static func answer(
    to preface: [UInt8], proxies: TrustedProxies, field: String = "", host: String = "localhost"
  ) async throws -> String? {
    let key = PrivateKey.generate()
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let server = try await HTTPServer.start(
      host: "127.0.0.1", port: 0, tls: TLSContext(key: key, certificate: Certificate(key: key)), proxies: proxies,
      on: loop
    ) { request in
      let from = request.remoteAddress.map { "\($0.ip)" } ?? "nowhere"
      let local = request.isLocal ? ", local" : ""
      let text = "from \(from)\(request.isFromLoopback ? ", loopback" : "")\(field.isEmpty ? "" : local)."
      return loop.makeSucceededFuture(HTTPResponse(contentType: "text/plain", text: text))
    }
    let client = try TLSContext(trust: .judged { _ in true })
    let answered = loop.makePromise(of: String.self)
    let channel = try await ClientBootstrap(group: loop).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(Preface(preface))
        try pipeline.addHandler(TLSHandler(TLSConnection(client: client, of: .name("localhost"))))
        try pipeline.addHandler(Collector(answered))
      }
    }.connect(host: "127.0.0.1", port: server.port).get()
    channel.writeAndFlush(
      ByteBuffer(
        string: "GET / HTTP/1.1\r\n"
          + host.replacing("PORT", with: "\(server.port)").split(separator: ",").map { "Host: \($0)\r\n" }.joined()
          + "\(field)Connection: close\r\n\r\n"), promise: nil)
    let text = try await answered.futureResult.get()
    await server.stop()
    return text.split(separator: "\r\n\r\n").dropFirst().first.map(String.init)
  }

  private static let proxy: IPAddress = .v4(0x7f00_0001)

  @Test func aProxysWordIsTakenForWhereTheClientIs() async throws {
    let header = Self.four
    #expect(try await Self.answer(to: header, proxies: .header([Self.proxy])) == "from 192.0.2.7.")
    #expect(
      try await Self.answer(to: Array("PROXY UNKNOWN\r\n".utf8), proxies: .header([Self.proxy])) == "from 127.0.0.1.")
    // A client on the proxy's machine came over the proxy all the same.
    let local = Array("PROXY TCP4 127.0.0.1 127.0.0.1 50000 443\r\n".utf8)
    #expect(try await Self.answer(to: local, proxies: .header([Self.proxy])) == "from 127.0.0.1.")
    // A health check of the proxy's own.
    let own = Self.binary([0x20, 0x00, 0, 0])
    #expect(try await Self.answer(to: own, proxies: .header([Self.proxy])) == "from 127.0.0.1, loopback.")
  }

  /// Of a proxy on this machine that speaks HTTP.
  @Test(arguments: [
    "Forwarded: for=192.0.2.7", "X-Forwarded-For: 192.0.2.7", "x-forwarded-proto: https", "X-FORWARDED-HOST: a",
    "X-Forwarded: 1", "Via: 1.1 proxy", "X-Real-IP: 192.0.2.7", "CF-Connecting-IP: 192.0.2.7",
    "X-ProxyUser-Ip: 192.0.2.7", "Fly-Client-IP: 192.0.2.7", "x_forwarded_for: 192.0.2.7", "X_REAL_IP: 192.0.2.7",
    "CF-Ray: 1", "CDN-Loop: a", "WL-Proxy-Client-IP: 192.0.2.7", "True-Client-Cert: 1", "X-Original-URL: /",
    "Remote-Addr: 192.0.2.7", "X-Amzn-Trace-Id: 1", "X-Azure-ClientIP: 192.0.2.7", "Proxy-Connection: close",
  ])
  func aForwardedRequestIsNotLocal(field: String) async throws {
    #expect(try await Self.answer(to: [], proxies: .header([]), field: field + "\r\n") == "from 127.0.0.1.")
  }

  @Test(arguments: [
    ("X-Forwarded-For: 192.0.2.7", "192.0.2.7"), ("x-forwarded-for: [2001:db8::7]:4711", "2001:db8::7"),
    ("X-Forwarded-For: 192.0.2.7:80", "192.0.2.7"), ("X-Forwarded-For: 2001:db8::7", "2001:db8::7"),
    // What the client has written itself stands before what the proxies say.
    ("X-Forwarded-For: 198.51.100.1, 192.0.2.7", "192.0.2.7"),
    ("X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-For: 192.0.2.7, 127.0.0.1", "192.0.2.7"),
    ("X-Forwarded-For: 198.51.100.1, unknown", "127.0.0.1"), ("X-Forwarded-For: 127.0.0.1", "127.0.0.1"),
    ("X-Forwarded-For:", "127.0.0.1"), ("X-Real-IP: 192.0.2.7", "127.0.0.1"),
  ])
  func aProxyOfOursNamesTheClient(field: String, client: String) async throws {
    #expect(try await Self.answer(to: [], proxies: .field([Self.proxy]), field: field + "\r\n") == "from \(client).")
    // From anybody else it is an invention.
    #expect(
      try await Self.answer(to: [], proxies: .field([.v4(0xc000_0202)]), field: field + "\r\n") == "from 127.0.0.1.")
  }

  @Test(arguments: [
    ("Origin: https://evil.example", false), ("Origin: null", false), ("Origin: http://localhost.evil.example", false),
    ("Sec-Fetch-Site: cross-site", false), ("sec-fetch-site: CROSS-SITE", false), ("Origin: https://192.0.2.1", false),
    ("Origin: https://localhost", true), ("Origin: http://127.0.0.1:3000", true), ("Sec-Fetch-Site: same-origin", true),
    ("Sec-Fetch-Site: none", true), ("User-Agent: Prometheus/2.45", true), ("Accept-Encoding: gzip", true),
    ("X-Prometheus-Scrape-Timeout-Seconds: 10", true),
  ])
  func aPageOfElsewhereIsNotLocal(field: String, isLocal: Bool) async throws {
    let answer = try await Self.answer(to: [], proxies: .header([]), field: field + "\r\n")
    #expect(answer == "from 127.0.0.1, loopback\(isLocal ? ", local" : "").")
  }

  /// A browser on this machine that shows a stranger's page, whose name leads to loopback; a proxy that says nothing.
  @Test(arguments: [
    ("evil.example", false), ("evil.example:PORT", false), ("localhost.evil.example", false),
    ("127.0.0.1.evil.example", false),
    ("192.0.2.1:PORT", false), ("[2001:db8::1]", false), ("0.0.0.0", false), ("nursery.local:PORT", false),
    ("localhost,localhost", false), ("2130706433", false), ("HOSTNAME", false), ("HOSTNAME.local:PORT", false),
    ("localhost", true), ("LocalHost:1", true), ("a.localhost:PORT", true), ("127.0.0.1:PORT", true),
    ("127.8.9.1", true),
    ("[::1]:PORT", true), ("HOSTNAME:PORT", true),
  ])
  func onlyWhoNamesThisMachineIsLocal(host: String, isLocal: Bool) async throws {
    var bytes = [CChar](repeating: 0, count: 256)
    #expect(gethostname(&bytes, 255) == 0)
    let whole = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let name = String(whole.prefix { $0 != "." })
    // A machine whose name has dots has no bare one.
    let isLocal = isLocal && (!host.hasPrefix("HOSTNAME:") || name == whole)
    let answer = try await Self.answer(to: [], proxies: .header([]), host: host.replacing("HOSTNAME", with: name))
    #expect(answer == "from 127.0.0.1\(isLocal ? ", loopback" : "").", "\(host)")
  }

  @Test func aProxyThatSaysNothingIsNotServed() async throws {
    #expect(try await Self.answer(to: [], proxies: .header([Self.proxy])) == nil)
  }

  @Test func nobodyElseIsAskedOrBelieved() async throws {
    #expect(try await Self.answer(to: [], proxies: .header([.v4(0xc000_0207)])) == "from 127.0.0.1, loopback.")
    #expect(try await Self.answer(to: Self.four, proxies: .header([.v4(0xc000_0207)])) == nil)
  }
}

/// Sends some bytes as the first.
private final class Preface: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  func channelActive(context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    context.fireChannelActive()
  }
}

/// Everything that comes until the end.
private final class Collector: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let promise: EventLoopPromise<String>
  private var text = ""

  init(_ promise: EventLoopPromise<String>) {
    self.promise = promise
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    text += String(buffer: unwrapInboundIn(data))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {}

  func handlerRemoved(context: ChannelHandlerContext) {
    promise.succeed(text)
  }
}
