import PeerConnection
import SecureTransport
import Wire

/// DTLS in each of its states. The first byte chooses the state, the rest is a datagram.
enum DTLSFuzz: FuzzBody {
  static let name = "DTLS"

  private static let transports: OpenSSLTransports = {
    do {
      let key = PrivateKey.generate()
      return try OpenSSLTransports(key: key, certificate: Certificate(key: key))
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  /// The datagrams of one handshake, for each state in which they come.
  static let seeds: [[UInt8]] = {
    var recorded: [[UInt8]] = []
    handshake { toServer, index, datagram in
      recorded.append([toServer ? (index == 0 ? 0 : 1) : 2] + datagram)
      recorded.append([3] + datagram)
    }
    return recorded
  }()

  private static let clientHello = Array(seeds[0].dropFirst())

  static func run(_ input: [UInt8]) {
    guard let state = input.first else { return }
    let datagram = Array(input.dropFirst())
    switch state % 4 {
    case 0:
      let server = connection()
      server.start(role: .server, now: .zero)
      feed(server, datagram)
    case 1:
      // The server waits for the client's second flight.
      let server = connection()
      server.start(role: .server, now: .zero)
      server.handle(datagram: clientHello, now: .zero)
      feed(server, datagram)
    case 2:
      let client = connection()
      client.start(role: .client, now: .zero)
      feed(client, datagram)
    default:
      connected.use(make: { handshake() }, { $0.receive(datagram) }, retire: { $0.close() })
    }
  }

  private static let connected = SharedSubject<Pair>()

  /// Two ends of one association.
  private struct Pair {
    let client: any DTLSPort
    let server: any DTLSPort

    /// What neither end sent ends nothing, and is not delivered. RFC 6347 section 4.1.2.7.
    func receive(_ forged: [UInt8]) {
      for end in [client, server] {
        for _ in 0..<2 { end.handle(datagram: forged, now: .zero) }
        end.handleTimeout(now: .zero + .seconds(1))
        while let output = end.poll() {
          guard case .transmit = output else { preconditionFailure("something forged had an effect: \(output)") }
        }
      }
      check(from: client, to: server)
      check(from: server, to: client)
    }

    private func check(from sender: any DTLSPort, to receiver: any DTLSPort) {
      sender.send([1, 2, 3])
      guard case .transmit(let datagram)? = sender.poll() else { preconditionFailure("a connected end sends") }
      receiver.handle(datagram: datagram, now: .zero)
      guard case .applicationData([1, 2, 3])? = receiver.poll() else { preconditionFailure("the other end hears") }
    }

    func close() {
      client.close()
      server.close()
    }
  }

  private static func connection() -> any DTLSPort {
    do {
      return try transports.makeDTLS()
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// Runs a handshake without a clock.
  @discardableResult
  private static func handshake(
    willArrive: (_ toServer: Bool, _ index: Int, _ datagram: [UInt8]) -> Void = { _, _, _ in }
  ) -> Pair {
    let (client, server) = (connection(), connection())
    server.start(role: .server, now: .zero)
    client.start(role: .client, now: .zero)
    var (toServer, toClient) = (0, 0)
    var isMoving = true
    while isMoving {
      isMoving = false
      while case .transmit(let datagram)? = client.poll() {
        isMoving = true
        willArrive(true, toServer, datagram)
        server.handle(datagram: datagram, now: .zero)
        toServer += 1
      }
      while case .transmit(let datagram)? = server.poll() {
        isMoving = true
        willArrive(false, toClient, datagram)
        client.handle(datagram: datagram, now: .zero)
        toClient += 1
      }
    }
    for end in [client, server] { while end.poll() != nil {} }
    return Pair(client: client, server: server)
  }

  private static func feed(_ connection: any DTLSPort, _ datagram: [UInt8]) {
    for _ in 0..<2 { connection.handle(datagram: datagram, now: .zero) }
    connection.handleTimeout(now: .zero + .seconds(1))
    connection.send([1, 2, 3])
    while let output = connection.poll() {
      if case .applicationData(let message) = output {
        precondition(message.isEmpty, "nothing forged is delivered")
      }
    }
    connection.close()
  }
}
