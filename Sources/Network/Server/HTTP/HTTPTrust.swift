internal import NIOCore
internal import NIOSSL
internal import SecureTransport

/// How a client authenticates a server by its certificate.
public enum HTTPTrust: Sendable {
  /// Signed by a CA that this machine trusts, for the host's name or address. RFC 9110 section 4.3.4.
  case system
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
  private let context: NIOSSLContext
  private let trust: HTTPTrust

  init(trust: HTTPTrust) throws(HTTPClientError) {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    if case .system = trust {
    } else {
      // Our own verification replaces the library's, so the system's CAs need not be loaded.
      configuration.trustRoots = .certificates([])
      configuration.certificateVerification = .noHostnameVerification
    }
    do {
      context = try NIOSSLContext(configuration: configuration)
    } catch {
      throw .tls("the TLS library cannot be set up: \(error)")
    }
    self.trust = trust
  }

  /// The handler for one connection, and the check of its certificate.
  ///
  /// - Parameter name: the host, if it is a name; SNI does not allow addresses (RFC 6066 section 3).
  func makeHandler(name: String?) throws -> (NIOSSLClientHandler, CertificateCheck) {
    let check = CertificateCheck(trust: trust)
    if case .system = trust {
      let handler = try NIOSSLClientHandler(context: context, serverHostname: name)
      check.peer = { [weak handler] in handler?.peerCertificate }
      return (handler, check)
    }
    let handler = try NIOSSLClientHandler(context: context, serverHostname: name) { certificates, promise in
      promise.succeed(check.accepts(certificates.first) ? .certificateVerified : .failed)
    }
    return (handler, check)
  }
}

/// Checks the server's certificate on one connection. Confined to the event loop.
final class CertificateCheck {
  private let trust: HTTPTrust
  private var certificateSHA256: [UInt8]?
  private var isRefused = false
  /// If the library verifies by itself: the certificate, once the handshake has received it.
  var peer: () -> NIOSSLCertificate? = { nil }

  init(trust: HTTPTrust) {
    self.trust = trust
  }

  func accepts(_ certificate: NIOSSLCertificate?) -> Bool {
    let hashes = CryptoHashes()
    guard let certificate, let der = try? certificate.toDERBytes() else {
      isRefused = true
      return false
    }
    let sha256 = hashes.sha256(der)
    certificateSHA256 = sha256
    let isAccepted =
      switch trust {
      case .system: false
      case .pinnedCertificate(let pin): sha256 == pin
      case .pinnedKey(let pin): keySHA256(of: certificate).map { $0 == pin } ?? false
      case .firstUse(let check): keySHA256(of: certificate).map(check) ?? false
      }
    isRefused = !isAccepted
    return isAccepted
  }

  private func keySHA256(of certificate: NIOSSLCertificate) -> [UInt8]? {
    (try? certificate.extractPublicKey().toSPKIBytes()).map { CryptoHashes().sha256($0) }
  }

  /// The reason of a failed handshake.
  func explain(_ error: any Error) -> HTTPClientError {
    if isRefused { return .certificateNotTrusted(sha256: certificateSHA256) }
    let text = "\(error)"
    // BoringSSL's error name; the host's name is checked afterwards, with its own errors.
    let isVerification =
      text.contains("CERTIFICATE_VERIFY_FAILED")
      || (error as? NIOSSLExtraError) == .failedToValidateHostname
      || (error as? NIOSSLExtraError) == .serverHostnameImpossibleToMatch
    if isVerification {
      let der = peer().flatMap { try? $0.toDERBytes() }
      return .certificateNotTrusted(sha256: der.map { CryptoHashes().sha256($0) })
    }
    if text.contains("WRONG_VERSION_NUMBER") { return .tls("the server does not speak TLS on this port") }
    return .tls(text)
  }
}
