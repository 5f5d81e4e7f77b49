internal import SecureTransport
internal import Signaling

/// How a client authenticates a server by its certificate.
public enum HTTPTrust: Sendable {
  /// Signed by a CA that this machine trusts, for the host's name or address. RFC 9110 section 4.3.4.
  case system
  /// The same, with the CAs of this PEM file in place of the machine's.
  case authorities(file: String)
  /// Exactly the certificate with this SHA-256 over its DER.
  case pinnedCertificate(sha256: [UInt8])
  /// Any certificate over the key with this SHA-256 over its SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7): a paired
  /// child keeps its identity key when its certificate is replaced.
  case pinnedKey(sha256: [UInt8])
  /// The owner decides whether to accept a certificate over the key with this SHA-256 (as for `pinnedKey`), for each
  /// new connection, on the event loop. Nothing authenticates the first one: it could be a man in the middle.
  case firstUse(check: @Sendable (_ keySHA256: [UInt8]) -> Bool)
}

/// TLS state shared by all connections of one client. Expensive to create, especially when it loads the system's CAs.
struct ClientTLS: Sendable {
  private let context: TLSContext

  init(trust: HTTPTrust) throws(HTTPClientError) {
    do {
      context = try TLSContext(trust: trust.decision)
    } catch {
      throw .tls("the TLS library cannot be set up: \(error)")
    }
  }

  /// The handler for one connection.
  func makeHandler(to host: HTTPOrigin.Host) throws -> TLSHandler {
    let server: TLSConnection.ServerName =
      switch host {
      case .name(let name): .name(name)
      case .address(let address): .address(address)
      }
    return TLSHandler(try TLSConnection(client: context, of: server))
  }
}

extension HTTPTrust {
  fileprivate var decision: TLSTrust {
    switch self {
    case .system: .system
    case .authorities(let file): .authorities(file: file)
    case .pinnedCertificate(let pin): .judged { $0.sha256 == pin }
    case .pinnedKey(let pin): .judged { $0.keySHA256 == pin }
    case .firstUse(let check): .judged { check($0.keySHA256) }
    }
  }
}
