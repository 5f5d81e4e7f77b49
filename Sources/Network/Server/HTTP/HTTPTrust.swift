internal import NIOCore
internal import NIOSSL
internal import SecureTransport

/// How a client authenticates a server by its certificate.
public enum HTTPTrust: Sendable {
  /// Signed by an authority that this machine trusts, for the host's name or address. RFC 9110 section 4.3.4.
  case system
  /// The one certificate with this SHA-256 over its DER.
  case pinnedCertificate(sha256: [UInt8])
  /// Any certificate over the key with this SHA-256 over its SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7): a paired
  /// child's identity key stays when its certificate is made anew.
  case pinnedKey(sha256: [UInt8])
  /// The owner decides whether to accept a certificate over the key with this SHA-256 (as for `pinnedKey`), at each new
  /// connection, on the event loop. Nothing authenticates the first one: it could be a man in the middle's.
  case firstUse(check: @Sendable (_ keySHA256: [UInt8]) -> Bool)
}

/// TLS state that all connections of one client share. Expensive to make, above all when it loads the system's
/// authorities.
struct ClientTLS: Sendable {
  private let context: NIOSSLContext
  private let trust: HTTPTrust

  init(trust: HTTPTrust) throws(HTTPClientError) {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    if case .system = trust {
    } else {
      // Our own verification replaces the library's, so the system's authorities need not be loaded.
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

  /// The handler for one connection, and its view of the certificate.
  ///
  /// - Parameter name: the host, when it is a name; addresses have no place in SNI (RFC 6066 section 3).
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

/// One connection's view of its server's certificate. Confined to the event loop.
final class CertificateCheck {
  private let trust: HTTPTrust
  private var certificateSHA256: [UInt8]?
  private var isRefused = false
  /// Where the library verifies by itself: the certificate, once the handshake has received it.
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

  /// What a failed handshake means.
  func explain(_ error: any Error) -> HTTPClientError {
    if isRefused { return .certificateNotTrusted(sha256: certificateSHA256) }
    let text = "\(error)"
    // BoringSSL's name for it; the host's name is checked afterwards and has its own errors.
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
