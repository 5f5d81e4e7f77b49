import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Testing
import Wire

@testable import Server
@testable import Signaling

@Suite struct WebSocketTests {
  @Test func textGoesBothWaysOverTLS() async throws {
    let lab = try await WebSocketLab.start()
    let socket = try await lab.open()
    let large = String(repeating: "é", count: 32 * 1024)
    for text in ["hello", "", large] {
      socket.send(text)
      #expect(await socket.next() == .text(text.uppercased()))
    }
    socket.close()
    #expect(await socket.next() == .closed(.byUs(.normal)))
    await lab.server.stop()
  }

  @Test func theServerSaysWhyItCloses() async throws {
    let lab = try await WebSocketLab.start()
    let socket = try await lab.open()
    socket.send("leave")
    #expect(await socket.next() == .closed(.byPeer(code: 1001, reason: "as you wish")))
    await lab.server.stop()
  }

  @Test func aMessageOverTheLimitClosesTheConnection() async throws {
    let lab = try await WebSocketLab.start()
    let socket = try await lab.open()
    socket.send(String(repeating: "a", count: 64 * 1024 + 1))
    let event = await socket.next()
    guard case .closed(.byPeer(1009, _))? = event else { return #expect(Bool(false), "\(String(describing: event))") }
    await lab.server.stop()
  }

  @Test func silenceIsPingedAndTheDeadAreLeft() async throws {
    var patient = WebSocketLimits()
    patient.pingInterval = .milliseconds(20)
    patient.maximumUnansweredPings = 100
    let lab = try await WebSocketLab.start(limits: patient)
    let alive = try await lab.open()
    try await Task.sleep(for: .milliseconds(200))
    alive.verify(within: .milliseconds(500))
    try await Task.sleep(for: .milliseconds(700))
    alive.send("here")
    #expect(await alive.next() == .text("HERE"))
    alive.close()
    var limits = WebSocketLimits()
    limits.pingInterval = .milliseconds(20)
    // A server that says nothing, not even to pings.
    let upgrader = NIOWebSocketServerUpgrader(
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
      upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
    let mute = try await ServerBootstrap(group: WebSocketLab.loop).childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
          withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }), withErrorHandling: false)
      }
    }.bind(host: "127.0.0.1", port: 0).get()
    let url = try HTTPURL("http://127.0.0.1:\(mute.localAddress?.port ?? 0)/")
    let lost = try await LabSocket.open(url: url, trust: .system, limits: limits)
    #expect(await lost.next() == .closed(.lost))
    // Asked for at once, as after a change of the network.
    let asked = try await LabSocket.open(url: url, trust: .system)
    asked.verify(within: .milliseconds(50))
    #expect(await asked.next() == .closed(.byUs(.goingAway)))
    try await mute.close()
    await lab.server.stop()
  }

  @Test func ordinaryRequestsAreAnsweredBesideIt() async throws {
    let lab = try await WebSocketLab.start(maximumConnections: 0)
    let loop = WebSocketLab.loop
    let client = try HTTPClient(origin: lab.url().origin, trust: lab.pin, eventLoop: loop)
    func ask(_ method: HTTPMethod, _ target: String, _ headers: HTTPHeaders = [:]) async throws -> HTTPResponse {
      let url = try lab.url(target)
      return try await withCheckedContinuation { continuation in
        loop.execute {
          client.send(HTTPClientRequest(method, url, headers: headers)) { continuation.resume(returning: $0) }
        }
      }.get()
    }
    #expect(try await ask(.GET, "/").body == Array("page".utf8))
    let plain = try await ask(.GET, "/signal?x=1")
    #expect(plain.status == .upgradeRequired && plain.headers.first(name: "upgrade") == "websocket")
    #expect(try await ask(.POST, "/signal").status == .methodNotAllowed)
    try await loop.submit { client.close() }.get()
    // What a server says with its refusal is quoted.
    let full = WHEPRefusal(
      status: 503, title: "Service Unavailable", detail: "the child's limit of connections is reached",
      retryAfter: .seconds(5))
    await #expect(throws: WebSocketClientError.refused(full)) { try await lab.open() }
    #expect("\(WebSocketClientError.refused(full))".contains("the child's limit of connections is reached"))
    await #expect(throws: WebSocketClientError.self) { try await lab.open("/elsewhere") }
    await lab.server.stop()
  }

  @Test func aHalfFinishedHandshakeIsAnsweredAsARequest() async throws {
    let lab = try await WebSocketLab.start()
    let loop = WebSocketLab.loop
    for headers: HTTPHeaders in [
      ["Upgrade": "websocket", "Connection": "Upgrade"],
      ["Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "8"],
      ["Upgrade": "h2c", "Connection": "Upgrade"],
    ] {
      let client = try HTTPClient(origin: lab.url().origin, trust: lab.pin, eventLoop: loop)
      let request = HTTPClientRequest(.GET, try lab.url(), headers: headers)
      let result = await withCheckedContinuation { continuation in
        loop.execute { client.send(request) { continuation.resume(returning: $0) } }
      }
      #expect(try result.get().status == .upgradeRequired)
      try await loop.submit { client.close() }.get()
    }
    await lab.server.stop()
  }

  @Test func aWebSocketOutlivesTheTimeOfRequests() async throws {
    var requests = HTTPServer.Limits()
    requests.requestTimeout = .seconds(1)
    let lab = try await WebSocketLab.start(requests: requests)
    let socket = try await lab.open()
    try await Task.sleep(for: .milliseconds(1200))
    socket.send("still")
    #expect(await socket.next() == .text("STILL"))
    socket.close()
    await lab.server.stop()
  }

  @Test func connectionsAreBoundedAndPlacesComeFree() async throws {
    let lab = try await WebSocketLab.start(maximumConnections: 1)
    let first = try await lab.open()
    await #expect(throws: WebSocketClientError.self) { try await lab.open() }
    first.close()
    _ = await first.next()
    var again: LabSocket?
    for _ in 0..<50 where again == nil {
      again = try? await lab.open()
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(again != nil)
    await lab.server.stop()
  }

  @Test func anotherKeyIsNotTrustedUnlessToldSo() async throws {
    let lab = try await WebSocketLab.start()
    do throws(WebSocketClientError) {
      _ = try await lab.open(trust: .pinnedKey(sha256: Array(repeating: 0, count: 32)))
      #expect(Bool(false), "another key is refused")
    } catch {
      guard case .connection(.certificateNotTrusted) = error else { return #expect(Bool(false), "\(error)") }
    }
    let socket = try await lab.open(trust: .firstUse { _ in true })
    socket.send("anyway")
    #expect(await socket.next() == .text("ANYWAY"))
    await lab.server.stop()
    do throws(WebSocketClientError) {
      _ = try await lab.open()
      #expect(Bool(false), "nobody listens any more")
    } catch {
      #expect(error == .connection(.connectionRefused))
    }
  }
}
