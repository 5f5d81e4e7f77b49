internal import NIOCore
internal import NIOSSL
internal import SecureTransport

/// Which certificate a client takes a server for the right one by.
public enum HTTPTrust: Sendable {
  /// Signed by an authority that this machine trusts, for the host's name or address. RFC 9110 section 4.3.4.
  case system
  /// The one certificate with this SHA-256 over its DER.
  case pinnedCertificate(sha256: [UInt8])
  /// Any certificate over the key with this SHA-256 over its SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7): a paired
  /// child's identity key stays when its certificate is made anew.
  case pinnedKey(sha256: [UInt8])
  /// Whether to take a certificate over the key with this SHA-256 (as for `pinnedKey`) is the owner's to say, at each new
  /// connection; on the event loop. Nothing vouches for a first one: whoever stands between could show one of theirs.
  case firstUse(check: @Sendable (_ keySHA256: [UInt8]) -> Bool)
}

/// What all connections of one client share. Making it costs, above all where it reads the system's authorities.
struct ClientTLS: Sendable {
  private let context: NIOSSLContext
  private let trust: HTTPTrust

  init(trust: HTTPTrust) throws(HTTPClientError) {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    if case .system = trust {
    } else {
      // The verification of ours stands in for the library's whole one; what is left out here is not read for nothing.
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

  /// The handler for one connection, and what it will have seen.
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

/// What one connection has seen of its server's certificate. Used on the event loop.
final class CertificateCheck {
  private let trust: HTTPTrust
  private var certificateSHA256: [UInt8]?
  private var isRefused = false
  /// Where the library verifies by itself: the certificate as far as the handshake has got.
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
    // BoringSSL's words for it; the host's name is checked afterwards, with errors of its own.
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
