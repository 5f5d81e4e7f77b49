internal import COpenSSL
internal import Glibc
public import Wire

/// An X.509 certificate over a `PrivateKey`, for DTLS and HTTPS: self-signed, or issued by a `RootCertificate`. RFC 5280.
///
/// It identifies nobody: the subject is always "Cradle". A self-signed one has fixed dates rather than dates relative to
/// now, because a board without a battery-backed clock starts in 1970 until it has the time from the network.
public struct Certificate: Sendable, Hashable {
  /// The certificate in DER.
  public let der: [UInt8]
  /// The same in PEM, for a TLS server.
  public let pem: String
  /// SHA-256 over `der`, 32 bytes: `a=fingerprint` (RFC 8122 section 5).
  public let sha256: [UInt8]

  /// - Parameters:
  ///   - key: The key it certifies, and which signs it.
  ///   - names: DNS names for subjectAltName, such as `cradle.local`; letters, digits, `-` and `.`, 1...253 bytes.
  ///   - addresses: IP addresses for subjectAltName.
  ///   - validity: seconds since 1970; nil: 2020 to 2049.
  /// - Throws: `SecureError.invalidName`, or `.openSSL` when it cannot be built.
  public init(
    key: PrivateKey, names: [String] = ["localhost"], addresses: [IPAddress] = [],
    validity: ClosedRange<Int64>? = nil
  ) throws(SecureError) {
    var content = CertificateContent.endEntity(
      try CertificateNames(names: names, addresses: addresses), usage: "serverAuth,clientAuth")
    if let validity { content.validity = validity }
    OpenSSLQueue.clear()
    let certificate = try CertificateHandle()
    try certificate.fill(content, key: key)
    try certificate.sign(with: key)
    try self.init(certificate)
  }

  init(_ certificate: borrowing CertificateHandle) throws(SecureError) {
    der = try certificate.der()
    pem = try certificate.pem()
    sha256 = certificate.sha256()
  }

  /// Those in a PEM text, in their order.
  ///
  /// - Parameter maximum: further ones are not read.
  /// - Throws: `SecureError` if one of them is damaged, or there is none.
  public static func all(inPEM text: String, maximum: Int) throws(SecureError) -> [Certificate] {
    var found: [Certificate] = []
    var rest = text[...]
    repeat {
      found.append(try Certificate(CertificateHandle(firstInPEM: rest)))
      rest = rest.firstRange(of: CertificateHandle.endOfPEM).map { rest[$0.upperBound...] } ?? ""
    } while found.count < maximum && rest.firstRange(of: CertificateHandle.startOfPEM) != nil
    return found
  }

  /// How many there seem to be in a text.
  public static func count(inPEM text: String) -> Int { text.ranges(of: CertificateHandle.startOfPEM).count }

  // MARK: - Questions

  /// Whether it is over this key.
  public func certifies(_ key: PrivateKey) -> Bool {
    answer { certificate in key.withPointer { X509_check_private_key(certificate, $0) == 1 } }
  }

  /// Whether this key has signed it.
  public func isSigned(by key: PrivateKey) -> Bool {
    answer { certificate in key.withPointer { X509_verify(certificate, $0) == 1 } }
  }

  /// Whether `subjectAltName` has this DNS name. RFC 6125 section 6.4.
  public func isFor(name: String) -> Bool {
    // The subject's name is nobody's host.
    let flags = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS)
    return answer { X509_check_host($0, name, name.utf8.count, flags, nil) == 1 }
  }

  /// Whether `subjectAltName` has this address. RFC 5280 section 4.2.1.6.
  public func isFor(address: IPAddress) -> Bool {
    answer { X509_check_ip_asc($0, "\(address)", 0) == 1 }
  }

  /// notBefore and notAfter, seconds since 1970; nil if they make no sense.
  public var validity: ClosedRange<Int64>? {
    guard let handle = try? CertificateHandle(der: der) else { return nil }
    return CertificateHandle.validity(of: handle.pointer)
  }

  private func answer(_ question: (OpaquePointer) -> Bool) -> Bool {
    OpenSSLQueue.clear()
    defer { OpenSSLQueue.clear() }
    guard let handle = try? CertificateHandle(der: der) else { return false }
    return question(handle.pointer)
  }
}

/// What a certificate is for: `subjectAltName`. RFC 5280 section 4.2.1.6.
struct CertificateNames {
  let names: [String]
  let addresses: [IPAddress]

  /// Throws `SecureError.invalidName`.
  init(names: [String], addresses: [IPAddress]) throws(SecureError) {
    for name in names where !Self.isHostName(name) { throw .invalidName(name) }
    self.names = names
    self.addresses = addresses
  }

  static func isHostName(_ name: String) -> Bool {
    (1...253).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}

/// The parts of a certificate that its purpose decides.
struct CertificateContent {
  /// The subject's common name.
  var subject = "Cradle"
  /// Seconds since 1970.
  var validity = Self.always
  /// In OpenSSL's words (x509v3_config(5)).
  var extensions: [(nid: Int32, value: String)]

  /// 2020 to the last second that UTCTime can represent. RFC 5280 section 4.1.2.5.
  static let always: ClosedRange<Int64> = 1_577_836_800...2_524_607_999

  /// - Parameter usage: `extKeyUsage`.
  static func endEntity(_ names: CertificateNames, usage: String) -> CertificateContent {
    var extensions: [(Int32, String)] = [
      (NID_basic_constraints, "critical,CA:FALSE"),
      (NID_key_usage, "critical,digitalSignature"),
      (NID_ext_key_usage, usage),
      (NID_subject_key_identifier, "hash"),
    ]
    let alternatives = names.names.map { "DNS:\($0)" } + names.addresses.map { "IP:\($0)" }
    if !alternatives.isEmpty { extensions.append((NID_subject_alt_name, alternatives.joined(separator: ","))) }
    return CertificateContent(extensions: extensions)
  }
}

/// Owns an `X509`.
struct CertificateHandle: ~Copyable {
  let pointer: OpaquePointer

  /// An empty certificate.
  init() throws(SecureError) {
    guard let pointer = X509_new() else { throw OpenSSLQueue.error("X509_new") }
    self.pointer = pointer
  }

  /// Takes ownership of a reference that the caller holds.
  init(adopting pointer: OpaquePointer) {
    self.pointer = pointer
  }

  init(der: [UInt8]) throws(SecureError) {
    let pointer = der.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      return d2i_X509(nil, &position, buffer.count)
    }
    guard let pointer else { throw OpenSSLQueue.error("d2i_X509") }
    self.pointer = pointer
  }

  static let startOfPEM = "-----BEGIN CERTIFICATE-----"
  static let endOfPEM = "-----END CERTIFICATE-----"

  /// The first certificate in a text; what is around it is ignored. Throws `SecureError.malformedCertificate`.
  init(firstInPEM text: Substring) throws(SecureError) {
    guard let start = text.firstRange(of: Self.startOfPEM) else {
      throw .malformedCertificate("no BEGIN CERTIFICATE line")
    }
    OpenSSLQueue.clear()
    let buffer = MemoryBIO(String(text[start.lowerBound...]))
    guard let pointer = PEM_read_bio_X509(buffer.pointer, nil, nil, nil) else {
      throw .malformedCertificate(OpenSSLQueue.takeReason())
    }
    self.pointer = pointer
  }

  deinit {
    X509_free(pointer)
  }

  /// notBefore and notAfter, seconds since 1970; nil if they make no sense.
  static func validity(of certificate: OpaquePointer) -> ClosedRange<Int64>? {
    guard let from = seconds(X509_get0_notBefore(certificate)), let until = seconds(X509_get0_notAfter(certificate)),
      from <= until
    else { return nil }
    return from...until
  }

  private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    var calendar = tm()
    guard ASN1_TIME_to_tm(time, &calendar) == 1 else { return nil }
    return Int64(timegm(&calendar))
  }

  /// Everything but the signature.
  ///
  /// - Parameter issuer: whoever will sign it; nil for the certificate itself.
  func fill(_ content: CertificateContent, key: PrivateKey, issuer: OpaquePointer? = nil) throws(SecureError) {
    func check(_ ok: Bool, _ operation: String) throws(SecureError) {
      guard ok else { throw OpenSSLQueue.error(operation) }
    }
    try check(X509_set_version(pointer, 2) == 1, "X509_set_version")
    // RFC 5280 section 4.1.2.2: positive, unique, at most 20 bytes. Browsers refuse a second certificate of the same
    // issuer name with the same serial number, and all of ours have the same issuer name.
    let serial = UInt64.random(in: 1...UInt64(Int64.max))
    try check(ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), serial) == 1, "serialNumber")
    let (from, to) = (content.validity.lowerBound, content.validity.upperBound)
    try check(ASN1_TIME_set(X509_getm_notBefore(pointer), Int(from)) != nil, "notBefore")
    try check(ASN1_TIME_set(X509_getm_notAfter(pointer), Int(to)) != nil, "notAfter")
    let name = X509_get_subject_name(pointer)
    let commonName = Array(content.subject.utf8)
    try check(
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, commonName, Int32(commonName.count), -1, 0) == 1, "subject")
    try check(X509_set_issuer_name(pointer, issuer.map { X509_get_subject_name($0) } ?? name) == 1, "issuer")
    try check(key.withPointer { X509_set_pubkey(pointer, $0) } == 1, "subjectPublicKeyInfo")
    for (nid, value) in content.extensions {
      try check(copenssl_add_extension(pointer, issuer ?? pointer, nid, value) == 1, "extension \(value)")
    }
  }

  func sign(with key: PrivateKey) throws(SecureError) {
    guard key.withPointer({ X509_sign(pointer, $0, EVP_sha256()) }) > 0 else { throw OpenSSLQueue.error("X509_sign") }
  }

  func der() throws(SecureError) -> [UInt8] {
    let count = i2d_X509(pointer, nil)
    guard count > 0 else { throw OpenSSLQueue.error("i2d_X509") }
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
      var position = buffer.baseAddress
      initialized = Int(max(0, i2d_X509(pointer, &position)))
    }
  }

  func pem() throws(SecureError) -> String {
    let buffer = MemoryBIO()
    guard PEM_write_bio_X509(buffer.pointer, pointer) == 1 else { throw OpenSSLQueue.error("PEM_write_bio_X509") }
    return buffer.text
  }

  /// SHA-256 over the DER, 32 bytes; empty when OpenSSL cannot encode it.
  func sha256() -> [UInt8] { Self.sha256(of: pointer) }

  static func sha256(of pointer: OpaquePointer) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, initialized in
      var length: UInt32 = 0
      initialized = X509_digest(pointer, EVP_sha256(), buffer.baseAddress, &length) == 1 ? Int(length) : 0
    }
  }

  /// SHA-256 over the DER of its SubjectPublicKeyInfo, 32 bytes; nil when OpenSSL cannot encode it.
  func keySHA256() -> [UInt8]? {
    let key = X509_get_X509_PUBKEY(pointer)
    let count = i2d_X509_PUBKEY(key, nil)
    guard count > 0 else { return nil }
    let der = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
      var position = buffer.baseAddress
      initialized = Int(max(0, i2d_X509_PUBKEY(key, &position)))
    }
    return CryptoHashes().sha256(der)
  }
}
