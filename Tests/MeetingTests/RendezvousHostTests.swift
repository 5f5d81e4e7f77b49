import Identity
import Meeting
import NIOCore
import NIOPosix
import SecureTransport
import Server
import Signaling
import Testing
import Wire

/// A child at a rendezvous that lies.
@Suite struct RendezvousHostTests {
  private static let child = "0123456789abcdef"

  private static func registered(_ challenge: String) -> String {
    RoomMessages.text(
      .registered(
        RoomRegistration(room: child, client: child, isInitiator: false, challenge: challenge, host: .absent)))
  }

  @Test func oneProofIsSignedForEachConnectionWhateverTheServerAsks() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let proofs = Observed<String>()
    let endpoint = WebSocketEndpoint(path: "/signal") { socket in
      socket.onText = { text in
        guard let request = try? RoomMessages.request(text) else { return }
        switch request {
        case .register:
          // Many challenges, of which it would like a signature each.
          for letter in "ABCDEFGH" { socket.send(Self.registered(String(repeating: letter, count: 22))) }
        case .prove:
          proofs.add(text)
          socket.send(Self.registered(String(repeating: "I", count: 22)))
          socket.send(RoomMessages.text(.proved(iceServers: [])))
          socket.send(Self.registered(String(repeating: "J", count: 22)))
        default: break
        }
      }
    }
    let (server, place) = try await Self.serve(endpoint, on: loop)
    let (signed, events) = (Observed<String>(), Observed<Bool>())
    let host = try await Confined(loop) {
      let host = MeetingPlace.rendezvous(place).host(child: Self.child, eventLoop: loop) { _, challenge in
        signed.add(challenge)
        return "proof"
      }
      host.onEvent = { event in
        if case .present = event { events.add(true) }
      }
      return host
    }
    try await host.run { $0.open(presence: "presence") }
    try await events.next("that it is present") { $0 }
    try await loop.submit {}.get()
    #expect(signed.all == [String(repeating: "A", count: 22)] && proofs.all.count == 1)
    try await host.run { $0.close {} }
    await server.stop()
  }

  private static func serve(
    _ endpoint: WebSocketEndpoint, on loop: any EventLoop
  ) async throws -> (server: HTTPServer, place: RendezvousPlace) {
    let identity = NodeIdentity.generate()
    let certificate = try Certificate(key: identity.key, names: ["localhost"], addresses: [.v4(0x7f00_0001)])
    let server = try await HTTPServer.start(
      host: "127.0.0.1", port: 0, tls: TLSContext(key: identity.key, certificate: certificate), webSocket: endpoint,
      on: loop
    ) { _ in loop.makeSucceededFuture(HTTPResponse(contentType: "text/plain", text: "")) }
    let place = RendezvousPlace(
      url: "wss://127.0.0.1:\(server.port)", keySHA256: CryptoHashes().sha256(identity.publicKeySPKI))
    return (server, place)
  }

  /// It takes the child, and drops it at once, each time.
  @Test func aServerThatDropsItsHostsIsAskedMoreAndMoreSeldom() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let endpoint = WebSocketEndpoint(path: "/signal") { socket in
      socket.onText = { text in
        switch try? RoomMessages.request(text) {
        case .register: socket.send(Self.registered(String(repeating: "A", count: 22)))
        case .prove:
          socket.send(RoomMessages.text(.proved(iceServers: [])))
          socket.close()
        default: break
        }
      }
    }
    let (server, place) = try await Self.serve(endpoint, on: loop)
    let visits = Observed<ContinuousClock.Instant>()
    let host = try await Confined(loop) {
      let host = MeetingPlace.rendezvous(place).host(child: Self.child, eventLoop: loop) { _, _ in "proof" }
      host.onEvent = { event in
        if case .present = event { visits.add(.now) }
      }
      return host
    }
    try await host.run { $0.open(presence: "presence") }
    var times: [ContinuousClock.Instant] = []
    for _ in 0..<4 { times.append(try await visits.next("that it is present") { $0 }) }
    // 1 s, 2 s and 4 s, each less up to a half by chance; without growth it is 3 s at most.
    #expect(times[3] - times[0] > .milliseconds(3400))
    try await host.run { $0.close {} }
    await server.stop()
  }
}
