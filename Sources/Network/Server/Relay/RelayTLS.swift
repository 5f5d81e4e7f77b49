public import SecureTransport
public import TURN
public import Wire

/// How connections to TURN servers are secured. Expensive to make, especially when it loads the system's CAs: make one
/// for all allocations.
public struct RelayTLS: Sendable {
  private let context: TLSContext

  /// - Parameter trust: the server's certificate is checked for the name or address that the owner gives. No ALPN is
  ///   offered: few servers know that of RFC 7443.
  /// - Throws: `SecureError`, when the file of `.authorities` has no certificates.
  public init(trust: TLSTrust = .system) throws(SecureError) {
    context = try TLSContext(trust: trust, offersHTTP: false)
  }

  func makeHandler(to name: TLSConnection.ServerName) throws -> TLSHandler {
    TLSHandler(try TLSConnection(client: context, of: name))
  }
}

/// A TURN server with what is needed to reach it.
public struct RelayServer: Sendable {
  /// The name in the URL, by which its certificate is checked.
  public enum Security: Sendable {
    /// UDP and TCP. Media and data are encrypted end to end in any case.
    case plain
    case tls(RelayTLS, TLSConnection.ServerName)
  }

  public let server: TURNServer
  let security: Security

  /// - Parameter tls: for `turns`, which needs it.
  /// - Returns: nil for a URL that is none of TURN, or for TURN over DTLS, which is not spoken here.
  public init?(_ url: ICEServerURL, address: IPAddress, tls: RelayTLS?) {
    guard let transport = url.turnTransport else { return nil }
    server = TURNServer(address: TransportAddress(ip: address, port: url.port), transport: transport)
    switch transport {
    case .udp, .tcp: security = .plain
    case .tls:
      guard let tls else { return nil }
      security = .tls(tls, IPAddress(url.host).map { .address($0) } ?? .name(url.host))
    }
  }
}
