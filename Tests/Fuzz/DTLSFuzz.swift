import PeerConnection
import Secure
import Wire

/// DTLS in each of its states. The first byte chooses the state, the rest is a datagram.
enum DTLSFuzz: FuzzBody {
  static let name = "DTLS"

  private static let transports: OpenSSLTransports = {
    do {
      let identity = NodeIdentity.generate()
      return try OpenSSLTransports(identity: identity, certificate: NodeCertificate(identity: identity))
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
      return true
    }
    return recorded
  }()

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
      let (_, server) = handshake { toServer, index, _ in !toServer || index == 0 }
      feed(server, datagram)
    case 2:
      let client = connection()
      client.start(role: .client, now: .zero)
      feed(client, datagram)
    default:
      let (client, server) = handshake { _, _, _ in true }
      feed(client, datagram)
      feed(server, datagram)
    }
  }

  private static func connection() -> any DTLSPort {
    do {
      return try transports.makeDTLS()
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// Runs a handshake without a clock, as far as `passes` lets it come.
  @discardableResult
  private static func handshake(
    passes: (_ toServer: Bool, _ index: Int, _ datagram: [UInt8]) -> Bool
  ) -> (client: any DTLSPort, server: any DTLSPort) {
    let (client, server) = (connection(), connection())
    server.start(role: .server, now: .zero)
    client.start(role: .client, now: .zero)
    var (toServer, toClient) = (0, 0)
    var isMoving = true
    while isMoving {
      isMoving = false
      while case .transmit(let datagram)? = client.poll() {
        isMoving = true
        if passes(true, toServer, datagram) { server.handle(datagram: datagram, now: .zero) }
        toServer += 1
      }
      while case .transmit(let datagram)? = server.poll() {
        isMoving = true
        if passes(false, toClient, datagram) { client.handle(datagram: datagram, now: .zero) }
        toClient += 1
      }
    }
    return (client, server)
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
