import Glibc
import Identity
import NIOCore
import NIOHTTP1
import NIOPosix
import SDP
import SecureTransport
import Signaling
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Server

/// A server of ours on loopback, and clients for it.
private struct Lab {
  let server: HTTPServer
  let identity: NodeIdentity
  let certificate: Certificate
  let served: Counter

  final class Counter: Sendable {
    let value = Atomic<Int>(0)
  }

  static var loop: any EventLoop { MultiThreadedEventLoopGroup.singleton.next() }

  /// Answers with the request's own words; `/large` with 100 kB, `/slow` never.
  static func start(limits: HTTPServer.Limits = .init(), names: [String] = ["localhost"]) async throws -> Lab {
    let identity = NodeIdentity.generate()
    let certificate = try Certificate(key: identity.key, names: names, addresses: [.v4(0x7f00_0001)])
    let served = Counter()
    let server = try await HTTPServer.start(
      host: "127.0.0.1", port: 0, tls: TLSContext(key: identity.key, certificate: certificate), limits: limits, on: loop
    ) { request in
      served.value.wrappingAdd(1, ordering: .relaxed)
      let loop = Lab.loop
      if request.path == "/slow" { return loop.makePromise().futureResult }
      var response = HTTPResponse(status: .ok, body: request.body)
      if request.path == "/large" { response.body = Array(repeating: 1, count: 100_000) }
      response.headers.add(name: "X-Method", value: request.method.rawValue)
      response.headers.add(name: "X-Host", value: request.headers.first(name: "host") ?? "")
      response.headers.add(name: "X-Query", value: request.query ?? "")
      return loop.makeSucceededFuture(response)
    }
    return Lab(server: server, identity: identity, certificate: certificate, served: served)
  }

  func url(_ target: String = "/", host: String = "127.0.0.1") throws -> HTTPURL {
    try HTTPURL("https://\(host):\(server.port)\(target)")
  }

  func client(
    _ trust: HTTPTrust? = nil, host: String = "127.0.0.1", limits: HTTPClient.Limits = .init()
  ) throws -> HTTPClient {
    try HTTPClient(
      origin: url(host: host).origin, trust: trust ?? .pinnedCertificate(sha256: certificate.sha256), limits: limits,
      eventLoop: Lab.loop)
  }
}

extension HTTPClient {
  fileprivate func ask(
    _ method: HTTPMethod, _ url: HTTPURL, body: [UInt8] = []
  ) async -> Result<HTTPResponse, HTTPClientError> {
    await withCheckedContinuation { continuation in
      eventLoop.execute {
        self.send(HTTPClientRequest(method, url, body: body)) { continuation.resume(returning: $0) }
      }
    }
  }

  fileprivate func connections() async throws -> Int {
    try await eventLoop.submit { self.connectionCount }.get()
  }

  fileprivate func end() async {
    try? await eventLoop.submit { self.close() }.get()
  }
}

extension Result where Failure == HTTPClientError {
  fileprivate var error: HTTPClientError? {
    if case .failure(let error) = self { error } else { nil }
  }
}

@Suite struct HTTPClientTests {
  /// An address that somebody else has named must not lead into the house, by whatever name.
  @Test(arguments: ["127.0.0.1", "localhost"]) func connectsOnlyWhereItMay(_ host: String) async throws {
    let lab = try await Lab.start()
    for (isAllowed, mayReach) in [
      (true, { @Sendable (ip: IPAddress) in ip.isLoopback }), (false, { @Sendable _ in false }),
    ] {
      let client = try HTTPClient(
        origin: lab.url(host: host).origin, trust: .pinnedCertificate(sha256: lab.certificate.sha256),
        eventLoop: Lab.loop,
        mayReach: mayReach)
      let result = await client.ask(.GET, try lab.url(host: host))
      #expect(result.error == (isAllowed ? nil : .forbiddenAddress))
      await client.end()
    }
    #expect(lab.served.value.load(ordering: .relaxed) == 1)
  }

  /// A proxy may make a connection for each request, and the page has more files than handshakes may begin at once.
  @Test func handshakesBeyondABurstWaitForTheirTurn() async throws {
    let lab = try await Lab.start()
    let clients = try (0..<120).map { _ in try lab.client() }
    let url = try lab.url()
    let errors = await withTaskGroup { group in
      for client in clients { group.addTask { await client.ask(.GET, url).error } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(errors.count == 120 && errors.allSatisfy { $0 == nil })
    for client in clients { await client.end() }
  }

  /// A name that somebody else has named may take long: what else is done on NIO's own threads does not wait for it.
  @Test func namesAreLookedUpOnThreadsOfTheirOwn() async throws {
    let lab = try await Lab.start()
    // All of them are busy, with more behind.
    let (busy, held) = (Lab.Counter(), Lab.Counter())
    let tasks = (0..<64).map { _ in
      NIOThreadPool.singleton.runIfActive(eventLoop: Lab.loop) {
        busy.value.wrappingAdd(1, ordering: .relaxed)
        while held.value.load(ordering: .relaxed) == 0 { usleep(10_000) }
      }
    }
    defer { held.value.store(1, ordering: .relaxed) }
    while busy.value.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(5)) }
    try await Task.sleep(for: .milliseconds(100))
    let client = try HTTPClient(
      origin: lab.url(host: "localhost").origin, trust: .pinnedCertificate(sha256: lab.certificate.sha256),
      eventLoop: Lab.loop, mayReach: { $0.isLoopback })
    #expect(try await client.ask(.GET, lab.url(host: "localhost")).error == nil)
    await client.end()
    held.value.store(1, ordering: .relaxed)
    for task in tasks { try await task.get() }
    await lab.server.stop()
  }

  @Test func asksOverOneConnectionAgainAndAgain() async throws {
    let lab = try await Lab.start()
    let client = try lab.client()
    for number in 0..<5 {
      let response = try await client.ask(.POST, lab.url("/a?b=\(number)"), body: [1, 2, 3]).get()
      #expect(response.status == .ok && response.body == [1, 2, 3])
      #expect(response.headers.first(name: "x-query") == "b=\(number)")
      #expect(response.headers.first(name: "x-host") == "127.0.0.1:\(lab.server.port)")
    }
    #expect(try await client.ask(.DELETE, lab.url("/a")).get().headers.first(name: "x-method") == "DELETE")
    #expect(try await client.ask(.PATCH, lab.url("/a")).get().body.isEmpty)
    #expect(try await client.ask(.HEAD, lab.url("/large")).get().body.isEmpty)
    #expect(try await client.connections() == 1)
    await client.end()
    await lab.server.stop()
  }

  @Test func requestsWaitTheirTurnAndAreBounded() async throws {
    let lab = try await Lab.start()
    let client = try lab.client()
    let url = try lab.url("/a")
    let results = await withTaskGroup(of: HTTPClientError?.self) { group in
      for _ in 0..<40 { group.addTask { await client.ask(.POST, url).error } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.contains(.tooManyRequests) && results.filter { $0 == nil }.count >= 16)
    #expect(results.allSatisfy { $0 == nil || $0 == .tooManyRequests })
    #expect(try await client.connections() == 1)
    await client.end()
    #expect(await client.ask(.GET, url).error == .closed)
    await lab.server.stop()
  }

  @Test func aPreparedConnectionIsUsed() async throws {
    let lab = try await Lab.start()
    let client = try lab.client()
    let request = HTTPClientRequest(.GET, try lab.url())
    // In one go: a server does not wait for ever for the first request of a connection.
    let result = await withCheckedContinuation { continuation in
      client.eventLoop.execute {
        client.prepare()
        client.prepare()
        client.send(request) { continuation.resume(returning: $0) }
      }
    }
    #expect(result.error == nil)
    #expect(try await client.connections() == 1)
    await client.end()
    await lab.server.stop()
  }

  @Test func aConnectionThatTheServerClosedIsMadeAgain() async throws {
    var limits = HTTPServer.Limits()
    limits.idleTimeout = .milliseconds(30)
    let lab = try await Lab.start(limits: limits)
    let client = try lab.client()
    _ = try await client.ask(.POST, lab.url()).get()
    try await Task.sleep(for: .seconds(1))
    _ = try await client.ask(.POST, lab.url()).get()
    #expect(try await client.connections() == 2)
    await client.end()
    await lab.server.stop()
  }

  @Test func anIdleConnectionIsGivenUp() async throws {
    let lab = try await Lab.start()
    var limits = HTTPClient.Limits()
    limits.idleTimeout = .milliseconds(20)
    let client = try lab.client(limits: limits)
    _ = try await client.ask(.GET, lab.url()).get()
    try await Task.sleep(for: .seconds(1))
    _ = try await client.ask(.GET, lab.url()).get()
    #expect(try await client.connections() == 2)
    await client.end()
    await lab.server.stop()
  }

  @Test func largeResponsesAreRefused() async throws {
    let lab = try await Lab.start()
    let client = try lab.client()
    #expect(try await client.ask(.GET, lab.url("/large")).error == .responseTooLarge(65536, status: 200))
    #expect(try await client.ask(.GET, lab.url("/small")).error == nil)
    await client.end()
    await lab.server.stop()
  }

  /// What comes of a request on a connection that another one has just used, so that none has to be made for it.
  private func followUp(_ request: HTTPClientRequest, to first: HTTPURL, by client: HTTPClient) async -> Result<
    HTTPResponse, HTTPClientError
  > {
    await withCheckedContinuation { continuation in
      client.eventLoop.execute {
        client.send(HTTPClientRequest(.GET, first)) { _ in
          client.send(request) { continuation.resume(returning: $0) }
        }
      }
    }
  }

  @Test func aSilentServerIsNotWaitedForLong() async throws {
    let lab = try await Lab.start()
    var limits = HTTPClient.Limits()
    limits.requestTimeout = .seconds(2)
    let client = try lab.client(limits: limits)
    let slow = HTTPClientRequest(.GET, try lab.url("/slow"))
    #expect(await followUp(slow, to: try lab.url("/a"), by: client).error == .timedOut(.responding))
    #expect(try await client.ask(.GET, lab.url("/a")).error == nil)
    await client.end()
    await lab.server.stop()
  }

  @Test func aRequestMayBeMoreHastyThanItsClient() async throws {
    let lab = try await Lab.start()
    var limits = HTTPClient.Limits()
    limits.requestTimeout = .minutes(10)
    let client = try lab.client(limits: limits)
    let hasty = HTTPClientRequest(.GET, try lab.url("/slow"), timeout: .milliseconds(30))
    #expect(await followUp(hasty, to: try lab.url("/a"), by: client).error == .timedOut(.responding))
    await client.end()
    await lab.server.stop()
  }

  @Test func closingFailsWhatWaits() async throws {
    let lab = try await Lab.start()
    let client = try lab.client()
    let url = try lab.url("/slow")
    async let first = client.ask(.GET, url)
    async let second = client.ask(.GET, url)
    while lab.served.value.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(5)) }
    await client.end()
    let errors = await [first.error, second.error]
    #expect(errors == [.closed, .closed])
    await lab.server.stop()
  }

  @Test func aWHEPRequestGoesThroughWhole() async throws {
    let lab = try await Lab.start()
    let client = try lab.client()
    var player = WHEPClient(
      configuration: WHEPClientConfiguration(url: try lab.url("/whep"), token: "t"), random: SeededGenerator(seed: 1))
    let offer = try SessionDescription(parsing: Fixture.text("offer-chromium-recvonly.sdp"))
    guard case .send(let request)? = player.start(offer: offer, now: .zero).first else {
      Issue.record("the client sends no request")
      return
    }
    let result = await withCheckedContinuation { continuation in
      client.eventLoop.execute { client.send(request) { continuation.resume(returning: $0) } }
    }
    let response = try result.get()
    #expect(response.status == 200 && response.body == request.body && response.headers["X-Method"] == "POST")
    await client.end()
    await lab.server.stop()
  }
}

@Suite struct HTTPTrustTests {
  @Test func thePinnedKeyIsTrustedWhateverItsCertificate() async throws {
    let lab = try await Lab.start()
    let key = CryptoHashes().sha256(lab.identity.publicKeySPKI)
    let client = try lab.client(.pinnedKey(sha256: key))
    #expect(try await client.ask(.GET, lab.url()).error == nil)
    await client.end()
    await lab.server.stop()
  }

  @Test func anotherCertificateIsRefusedByItsDigestBeforeAnythingIsSaid() async throws {
    let lab = try await Lab.start()
    let wrong = [UInt8](repeating: 7, count: 32)
    let refusal = HTTPClientError.certificateNotTrusted(sha256: lab.certificate.sha256)
    for trust in [HTTPTrust.pinnedCertificate(sha256: wrong), .pinnedKey(sha256: wrong), .firstUse { _ in false }] {
      let client = try lab.client(trust)
      #expect(try await client.ask(.POST, lab.url()).error == refusal)
      await client.end()
    }
    #expect(lab.served.value.load(ordering: .relaxed) == 0)
    #expect(refusal.description.contains("SHA-256 is"))
    await lab.server.stop()
  }

  @Test func theOwnerSaysAtFirstUse() async throws {
    let lab = try await Lab.start()
    let expected = CryptoHashes().sha256(lab.identity.publicKeySPKI)
    let client = try lab.client(.firstUse { $0 == expected })
    #expect(try await client.ask(.GET, lab.url()).error == nil)
    await client.end()
    await lab.server.stop()
  }

  @Test func theSystemTrustsNoSelfSignedCertificate() async throws {
    let lab = try await Lab.start()
    for host in ["127.0.0.1", "localhost"] {
      let client = try lab.client(.system, host: host)
      let error = try await client.ask(.GET, lab.url(host: host)).error
      #expect(error == .certificateNotTrusted(sha256: lab.certificate.sha256))
      await client.end()
    }
    await lab.server.stop()
  }

  @Test func namesAreConnectedToByWhateverFamilyAnswers() async throws {
    let lab = try await Lab.start()
    // The server is on IPv4 alone; the name is of both families.
    let client = try lab.client(host: "localhost")
    #expect(try await client.ask(.GET, lab.url(host: "localhost")).error == nil)
    await client.end()
    await lab.server.stop()
  }
}

/// Servers that are not as they should be.
@Suite struct HTTPClientTroubleTests {
  /// Sends the next text for each request (they have no bodies), then closes if told so.
  private final class Talker: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let texts: [String]
    let closes: Bool
    var number = 0
    private var received = ""

    init(_ texts: [String], closes: Bool) {
      self.texts = texts
      self.closes = closes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      // A request may come in several pieces; a ClientHello (RFC 8446 section 5.1: 22) is answered at once.
      received += String(buffer: unwrapInboundIn(data))
      guard received.hasSuffix("\r\n\r\n") || received.utf8.first == 22 else { return }
      received = ""
      let text = number < texts.count ? texts[number] : ""
      number += 1
      let isLast = number >= texts.count
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
      if closes, isLast { context.close(promise: nil) }
    }
  }

  private func talk(
    _ texts: String..., closes: Bool = true, limits: HTTPClient.Limits = .init(), scheme: String = "http",
    _ body: (HTTPClient, HTTPURL) async throws -> Void
  ) async throws {
    let server = try await ServerBootstrap(group: Lab.loop)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Talker(texts, closes: closes))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let url = try HTTPURL("\(scheme)://127.0.0.1:\(server.localAddress?.port ?? 0)/a")
    let client = try HTTPClient(
      origin: url.origin, trust: .pinnedKey(sha256: []), limits: limits, eventLoop: Lab.loop)
    try await body(client, url)
    await client.end()
    try await server.close()
  }

  private let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  @Test func plainHTTPWorksToo() async throws {
    try await talk(ok, ok, closes: false) { client, url async throws in
      for _ in 0..<2 { #expect(try await client.ask(.GET, url).get().body == Array("ok".utf8)) }
      #expect(try await client.connections() == 1)
    }
  }

  @Test func aConnectionThatMayNotBeKeptIsNot() async throws {
    try await talk("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", closes: false) { client, url async throws in
      for _ in 0..<2 { #expect(await client.ask(.POST, url).error == nil) }
      #expect(try await client.connections() == 2)
    }
  }

  @Test func aBodyMayEndWithTheConnection() async throws {
    try await talk("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it") { client, url async throws in
      #expect(try await client.ask(.GET, url).get().body == Array("all of it".utf8))
    }
  }

  @Test func interimResponsesAreSkipped() async throws {
    try await talk("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + ok) { client, url async throws in
      #expect(try await client.ask(.POST, url).get().status == .ok)
    }
  }

  /// They would keep the thread busy until the request's time is over, and again with the next one.
  @Test func aFloodOfInterimResponsesIsAnError() async throws {
    func interim(_ count: Int) -> String { String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: count) }
    try await talk(interim(16) + ok, interim(16) + ok, closes: false) { client, url async throws in
      for _ in 0..<2 { #expect(try await client.ask(.POST, url).get().status == .ok) }
    }
    for count in [17, 100_000] {
      try await talk(interim(count), closes: false) { client, url async throws in
        let error = try #require(await client.ask(.POST, url).error)
        #expect("\(error)".contains("interim responses"), "\(error)")
      }
    }
    // Nobody has asked for these.
    try await talk(ok + interim(3), ok, closes: false) { client, url async throws in
      for _ in 0..<2 { #expect(try await client.ask(.GET, url).get().status == .ok) }
      #expect(try await client.connections() == 2)
    }
  }

  @Test func aFloodOfThemOpensNoWebSocket() async throws {
    let flood = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 100_000)
    try await talk(flood, closes: false) { _, url async throws in
      let loop = Lab.loop
      let client = try WebSocketClient(url: url, trust: .system, timeout: .seconds(60), eventLoop: loop)
      let failure: WebSocketClientError? = await withCheckedContinuation { continuation in
        loop.execute {
          client.connect { result in
            if case .failure(let error) = result {
              continuation.resume(returning: error)
            } else {
              continuation.resume(returning: nil)
            }
          }
        }
      }
      #expect(failure == .connection(.responseTooLarge(256 * 1024)), "\(String(describing: failure))")
    }
  }

  @Test func aResponseThatBreaksOffIsLost() async throws {
    for text in ["HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok", "HTTP/1.1 200", ""] {
      try await talk(text) { client, url async throws in
        for method in [HTTPMethod.POST, .GET] {
          #expect(await client.ask(method, url).error == .connectionLost)
        }
      }
    }
  }

  @Test func aKeptConnectionThatDiesIsReplacedOnlyForWhatMayArriveTwice() async throws {
    try await talk(ok, "") { client, url async throws in
      #expect(await client.ask(.GET, url).error == nil)
      #expect(await client.ask(.DELETE, url).error == nil, "lost on the old connection, answered on a new one")
      #expect(try await client.connections() == 2)
      #expect(await client.ask(.POST, url).error == .connectionLost)
    }
  }

  @Test func whatIsNotHTTPIsNamed() async throws {
    try await talk("220 mail.example ESMTP\r\n", closes: false) { client, url async throws in
      guard case .protocolError? = await client.ask(.GET, url).error else {
        Issue.record("taken for HTTP")
        return
      }
    }
  }

  @Test func whatNobodyAskedForAnswersNothing() async throws {
    let other = "HTTP/1.1 201 Created\r\nContent-Length: 3\r\n\r\nbad"
    try await talk(ok + other, closes: false) { client, url async throws in
      for _ in 0..<3 { #expect(try await client.ask(.POST, url).get().body == Array("ok".utf8)) }
      #expect(try await client.connections() == 3)
    }
  }

  @Test func aHeaderThatCannotBeWrittenIsNotWritten() async throws {
    try await talk(ok, closes: false) { client, url async throws in
      var request = HTTPClientRequest(.GET, url)
      request.headers.add(name: "X", value: "a\r\nY: b")
      let bad = request
      let result = await withCheckedContinuation { continuation in
        client.eventLoop.execute { client.send(bad) { continuation.resume(returning: $0) } }
      }
      guard case .protocolError? = result.error else {
        Issue.record("sent: \(result)")
        return
      }
    }
  }

  @Test func unannouncedLargeBodiesAreCutOff() async throws {
    let chunk = "8000\r\n" + String(repeating: "x", count: 0x8000) + "\r\n"
    try await talk(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 10), closes: false
    ) { client, url async throws in
      #expect(await client.ask(.GET, url).error == .responseTooLarge(65536, status: 200))
    }
  }

  @Test func aPortWithoutTLSIsNamed() async throws {
    try await talk("HTTP/1.1 400 Bad Request\r\n\r\n", scheme: "https") { client, url async throws in
      #expect(await client.ask(.GET, url).error == .tls("the server does not speak TLS on this port"))
    }
  }

  @Test func aHandshakeThatHangsRunsOutOfTime() async throws {
    var limits = HTTPClient.Limits()
    limits.connectTimeout = .milliseconds(200)
    try await talk("", closes: false, limits: limits, scheme: "https") { client, url async throws in
      #expect(await client.ask(.GET, url).error == .timedOut(.connecting))
    }
  }

  @Test func aClosedPortRefusesAndABadNameIsNotFound() async throws {
    let server = try await ServerBootstrap(group: Lab.loop).bind(host: "127.0.0.1", port: 0).get()
    let port = server.localAddress?.port ?? 0
    try await server.close()
    for host in ["127.0.0.1", "localhost", "[::1]"] {
      let url = try HTTPURL("https://\(host):\(port)/")
      let client = try HTTPClient(origin: url.origin, trust: .pinnedKey(sha256: []), eventLoop: Lab.loop)
      #expect(await client.ask(.GET, url).error == .connectionRefused)
      await client.end()
    }
    let url = try HTTPURL("https://nowhere.invalid/")
    let client = try HTTPClient(origin: url.origin, trust: .pinnedKey(sha256: []), eventLoop: Lab.loop)
    #expect(await client.ask(.GET, url).error == .nameNotFound("nowhere.invalid"))
    await client.end()
  }
}
