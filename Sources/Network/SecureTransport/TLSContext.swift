internal import COpenSSL
internal import Glibc

/// How a TLS client decides whether to go on with a server.
public enum TLSTrust: Sendable {
  /// Signed by a CA that this machine trusts, for the host's name or address. RFC 9110 section 4.3.4.
  case system
  /// The same, with the CAs of this PEM file in place of the machine's.
  case authorities(file: String)
  /// The owner decides, on the thread of the handshake, before anything is sent to the server. Neither dates nor names
  /// are checked. The server's proof that it holds the key follows; without it the handshake fails.
  case judged(@Sendable (TLSCertificate) -> Bool)
}

/// What a client learns of a server's own certificate.
public struct TLSCertificate: Sendable, Hashable {
  /// SHA-256 over the DER, 32 bytes.
  public let sha256: [UInt8]
  /// SHA-256 over the DER of its SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7), 32 bytes.
  public let keySHA256: [UInt8]
}

/// State shared by all TLS connections of one server or one client: certificate, key, suites, trust. TLS 1.2 and 1.3.
/// Owns an `SSL_CTX`.
///
/// No tickets and no resumption: a home has a handful of connections that last, and every handshake is a new exchange
/// of keys.
public final class TLSContext: Sendable {
  enum Side: Sendable {
    case server
    case client(TLSTrust)
  }

  /// ECDHE and AEAD: no RSA key exchange, with which a stolen key decrypts recorded traffic, and no CBC. RFC 9325
  /// sections 3.1.1, 4.1 and 4.2. TLS 1.3 has only suites of this kind.
  static let cipherSuites = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
  ]
  /// OpenSSL's own list has groups over which one handshake keeps a small board busy for long, such as ffdhe8192.
  static let groups = "X25519:P-256:P-384"
  /// OpenSSL 3.5 has the hybrid with ML-KEM; 3.0 does not know the name.
  static let hybridGroups = "X25519MLKEM768:" + groups
  /// The protocol that both sides agree on by ALPN, if the other one has ALPN. RFC 7301 section 6.
  static let applicationProtocol = "http/1.1"

  // An SSL_CTX is reference-counted and locks internally; nothing changes it after init.
  nonisolated(unsafe) let pointer: OpaquePointer
  let side: Side

  private init(_ side: Side) throws(SecureError) {
    OpenSSLQueue.clear()
    guard let context = SSL_CTX_new(TLS_method()) else { throw OpenSSLQueue.error("SSL_CTX_new") }
    // From here on, deinit frees it, even if something below throws.
    pointer = context
    self.side = side
    func check(_ ok: Bool, _ operation: String) throws(SecureError) {
      guard ok else { throw OpenSSLQueue.error(operation) }
    }
    try check(copenssl_set_minimum_version(context, TLS1_2_VERSION) == 1, "protocol version")
    SSL_CTX_set_options(context, copenssl_tls_options())
    copenssl_release_buffers(context)
    copenssl_disable_session_cache(context)
    try check(SSL_CTX_set_num_tickets(context, 0) == 1, "SSL_CTX_set_num_tickets")
    // 112 bits: RSA from 2048 bits on, no SHA-1 in signatures. What the machine's configuration asks for beyond holds.
    SSL_CTX_set_security_level(context, max(2, SSL_CTX_get_security_level(context)))
    try check(SSL_CTX_set_cipher_list(context, Self.cipherSuites.joined(separator: ":")) == 1, "cipher suites")
    if copenssl_set_groups(context, Self.hybridGroups) != 1 {
      OpenSSLQueue.clear()
      try check(copenssl_set_groups(context, Self.groups) == 1, "groups")
    }
  }

  deinit {
    SSL_CTX_free(pointer)
  }

  // MARK: - Servers

  /// For a server with one certificate and no chain.
  ///
  /// - Throws: `SecureError.openSSL` when the certificate does not belong to the key.
  public convenience init(key: PrivateKey, certificate: Certificate) throws(SecureError) {
    try self.init(.server)
    let x509 = try CertificateHandle(der: certificate.der)
    guard SSL_CTX_use_certificate(pointer, x509.pointer) == 1 else {
      throw OpenSSLQueue.error("SSL_CTX_use_certificate")
    }
    guard key.withPointer({ SSL_CTX_use_PrivateKey(pointer, $0) }) == 1 else {
      throw OpenSSLQueue.error("SSL_CTX_use_PrivateKey")
    }
    selectProtocol()
  }

  /// For a server with files in PEM.
  ///
  /// - Parameters:
  ///   - certificateFile: the server's certificate, then those of its CAs, if any, up to a root that clients have.
  ///   - keyFile: its private key, not encrypted. ECDSA, or RSA from 2048 bits on.
  /// - Throws: `SecureError.file`, also for more certificates than any chain has: each handshake sends them all.
  public convenience init(certificateFile: String, keyFile: String) throws(SecureError) {
    try self.init(.server)
    for path in [certificateFile, keyFile] { try Self.checkFile(path) }
    try Self.checkChain(certificateFile)
    // Without a callback OpenSSL would ask for a passphrase on the terminal.
    SSL_CTX_set_default_passwd_cb(pointer) { _, _, _, _ in -1 }
    OpenSSLQueue.clear()
    guard SSL_CTX_use_certificate_chain_file(pointer, certificateFile) == 1 else {
      throw .file(path: certificateFile, reason: "no usable certificates in PEM: \(OpenSSLQueue.takeReason())")
    }
    guard SSL_CTX_use_PrivateKey_file(pointer, keyFile, SSL_FILETYPE_PEM) == 1 else {
      throw Self.unusableKey(keyFile, of: certificateFile)
    }
    // A key of another kind than the certificate's, such as RSA for ECDSA, is only noticed here.
    guard SSL_CTX_check_private_key(pointer) == 1 else { throw Self.foreignKey(keyFile, of: certificateFile) }
    selectProtocol()
  }

  /// OpenSSL would wait for whoever writes to a FIFO.
  private static func checkFile(_ path: String) throws(SecureError) {
    var status = stat()
    guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
      throw .file(path: path, reason: String(cString: strerror(errno)))
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .file(path: path, reason: "it is no regular file") }
  }

  private static let longestChain = 10

  private static func checkChain(_ path: String) throws(SecureError) {
    guard let file = fopen(path, "re") else { throw .file(path: path, reason: String(cString: strerror(errno))) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 256 * 1024)
    let count = fread(&bytes, 1, bytes.count, file)
    guard count < bytes.count else { throw .file(path: path, reason: "it is larger than 256 KiB") }
    let certificates = Certificate.count(inPEM: String(decoding: bytes[..<count], as: UTF8.self))
    guard certificates <= longestChain else {
      throw .file(
        path: path,
        reason: "it has \(certificates) certificates; a server's own and those of its CAs are \(longestChain) at most")
    }
  }

  /// notBefore and notAfter of its own certificate, seconds since 1970; nil without one.
  public var validity: ClosedRange<Int64>? {
    SSL_CTX_get0_certificate(pointer).flatMap { CertificateHandle.validity(of: $0) }
  }

  /// SHA-256 over the DER of its own certificate, 32 bytes; nil without one.
  public var certificateSHA256: [UInt8]? {
    SSL_CTX_get0_certificate(pointer).map { CertificateHandle.sha256(of: $0) }
  }

  private static func unusableKey(_ path: String, of certificate: String) -> SecureError {
    let code = ERR_peek_last_error()
    if copenssl_is_reason(code, ERR_LIB_X509, X509_R_KEY_VALUES_MISMATCH) == 1 {
      return foreignKey(path, of: certificate)
    }
    return .file(path: path, reason: "no usable key in PEM: \(OpenSSLQueue.takeReason())")
  }

  private static func foreignKey(_ path: String, of certificate: String) -> SecureError {
    OpenSSLQueue.clear()
    return .file(path: path, reason: "this key does not belong to the certificate in \(certificate)")
  }

  /// A client without a protocol in common goes on without ALPN.
  private func selectProtocol() {
    SSL_CTX_set_alpn_select_cb(
      pointer,
      { _, selected, length, offered, count, _ in
        guard let selected, let length, let offered else { return SSL_TLSEXT_ERR_NOACK }
        var rest = UnsafeBufferPointer(start: offered, count: Int(count))[...]
        while let size = rest.popFirst() {
          let name = rest.prefix(Int(size))
          if name.elementsEqual(TLSContext.applicationProtocol.utf8) {
            selected.pointee = offered + name.startIndex
            length.pointee = size
            return SSL_TLSEXT_ERR_OK
          }
          rest = rest.dropFirst(Int(size))
        }
        return SSL_TLSEXT_ERR_NOACK
      }, nil)
  }

  // MARK: - Clients

  /// For a client. `.system` reads the machine's CAs: make one context for many connections.
  ///
  /// - Parameter offersHTTP: offers HTTP by ALPN; without it ALPN is left out.
  /// - Throws: `SecureError.file` when the file of `.authorities` has none.
  public convenience init(trust: TLSTrust, offersHTTP: Bool = true) throws(SecureError) {
    if case .authorities(let path) = trust {
      try Self.checkFile(path)
      do throws(SecureError) {
        try self.init(trust: .system, authorities: path, offersHTTP: offersHTTP)
      } catch {
        throw .file(path: path, reason: "no usable certificates in PEM: \(error)")
      }
    } else {
      try self.init(trust: trust, authorities: nil, offersHTTP: offersHTTP)
    }
  }

  /// - Parameter authorities: a PEM file with CAs in place of the machine's.
  convenience init(trust: TLSTrust, authorities: String?, offersHTTP: Bool = true) throws(SecureError) {
    try self.init(.client(trust))
    if case .system = trust {
      let loaded =
        authorities.map { SSL_CTX_load_verify_file(pointer, $0) } ?? SSL_CTX_set_default_verify_paths(pointer)
      guard loaded == 1 else { throw OpenSSLQueue.error("certificate authorities") }
    }
    if offersHTTP {
      let names = [UInt8(Self.applicationProtocol.utf8.count)] + Array(Self.applicationProtocol.utf8)
      // Unlike its siblings, this function returns 0 on success.
      guard SSL_CTX_set_alpn_protos(pointer, names, UInt32(names.count)) == 0 else {
        throw OpenSSLQueue.error("SSL_CTX_set_alpn_protos")
      }
    }
    SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
    SSL_CTX_set_cert_verify_callback(pointer, { store, _ in StreamBIO.verifyCertificate(store) }, nil)
  }
}
