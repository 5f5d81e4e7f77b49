import SecureTransport

/// TLS of a web server in each of its states, and of a client before it knows the server. The first byte chooses the
/// state, the rest is what the network brings.
enum TLSFuzz: FuzzBody {
  static let name = "TLS"

  private struct Contexts {
    let server: TLSContext
    let client: TLSContext
  }

  private static let contexts: Contexts = {
    do {
      let key = PrivateKey.generate()
      return Contexts(
        server: try TLSContext(key: key, certificate: Certificate(key: key)),
        client: try TLSContext(trust: .judged { _ in true }))
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  /// The flights of one handshake, for each state in which they come.
  static let seeds: [[UInt8]] = {
    var recorded: [[UInt8]] = []
    handshake { toServer, index, flight in
      recorded.append([toServer ? (index == 0 ? 0 : 1) : 2] + flight)
      recorded.append([3] + flight)
    }
    return recorded
  }()

  private static let clientHello = Array(seeds[0].dropFirst())

  static func run(_ input: [UInt8]) {
    guard let state = input.first else { return }
    let bytes = input.dropFirst()
    switch state % 4 {
    case 0:
      feed(server(), bytes)
    case 1:
      // The server waits for the client's second flight.
      let server = server()
      receive(server, clientHello[...])
      feed(server, bytes)
    case 2:
      let client = client()
      client.start()
      feed(client, bytes)
    default:
      feed(handshake(), bytes)
    }
  }

  private static func server() -> TLSConnection {
    do {
      let server = try TLSConnection(server: contexts.server)
      server.start()
      return server
    } catch {
      preconditionFailure("\(error)")
    }
  }

  private static func client() -> TLSConnection {
    do {
      return try TLSConnection(client: contexts.client, of: .name("localhost"))
    } catch {
      preconditionFailure("\(error)")
    }
  }

  private static func receive(_ connection: TLSConnection, _ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { connection.receive($0) }
  }

  /// Nothing forged is delivered, and nothing follows the end.
  private static func feed(_ connection: TLSConnection, _ bytes: ArraySlice<UInt8>) {
    let middle = bytes.index(bytes.startIndex, offsetBy: bytes.count / 2)
    var hasEnded = false
    func check() {
      while let event = connection.poll() {
        precondition(!hasEnded, "nothing follows the end")
        switch event {
        case .applicationData: preconditionFailure("nothing forged is delivered")
        case .established: break
        case .closed, .failed: hasEnded = true
        }
      }
      precondition(connection.takeCiphertext().count < 16384, "a few bytes make nobody say much")
    }
    check()
    receive(connection, bytes[..<middle])
    check()
    receive(connection, bytes[middle...])
    check()
    ([1, 2, 3] as [UInt8]).withUnsafeBytes { connection.send($0) }
    connection.close()
    connection.receiveEnd()
    check()
  }

  /// A server after a handshake; its `established` has been polled.
  @discardableResult
  private static func handshake(
    willArrive: (_ toServer: Bool, _ index: Int, _ flight: [UInt8]) -> Void = { _, _, _ in }
  ) -> TLSConnection {
    let (client, server) = (client(), server())
    client.start()
    var index = 0
    while true {
      let toServer = client.takeCiphertext()
      if !toServer.isEmpty { willArrive(true, index, toServer) }
      receive(server, toServer[...])
      let toClient = server.takeCiphertext()
      if !toClient.isEmpty { willArrive(false, index, toClient) }
      receive(client, toClient[...])
      index += 1
      if toServer.isEmpty, toClient.isEmpty { break }
    }
    while server.poll() != nil {}
    return server
  }
}
