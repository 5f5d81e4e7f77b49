internal import COpenSSL
public import Wire

/// A node's own certificate authority, for browsers that shall trust it without a warning. RFC 5280.
///
/// It can vouch for nothing but the node: name constraints (section 4.2.1.10) limit it to the names and addresses that it
/// was made for. Whoever steals its key cannot pose as a bank.
public struct RootCertificate: Sendable {
  private let key: PrivateKey
  public let certificate: Certificate
  /// Shown by devices on which it is installed.
  public let subject: String
  /// What it may vouch for.
  public let names: [String]
  public let addresses: [IPAddress]

  /// Makes one that is valid from 2020 to 2049.
  ///
  /// - Parameters:
  ///   - subject: shown by devices on which it is installed.
  ///   - names: DNS names, and with them those below.
  /// - Throws: `SecureError.invalidName`, or `.openSSL` when it cannot be built.
  public init(subject: String, names: [String], addresses: [IPAddress]) throws(SecureError) {
    let allowed = try CertificateNames(names: names, addresses: addresses)
    // RFC 5280 appendix A.1: ub-common-name.
    self.subject = String(String.UnicodeScalarView(subject.unicodeScalars.prefix(64)))
    key = PrivateKey.generate()
    OpenSSLQueue.clear()
    let handle = try CertificateHandle()
    try handle.fill(
      CertificateContent(
        subject: self.subject,
        extensions: [
          (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
          (NID_key_usage, "critical,keyCertSign"),
          (NID_ext_key_usage, "serverAuth"),
          (NID_subject_key_identifier, "hash"),
          (NID_name_constraints, "critical," + Self.constraints(allowed)),
        ]), key: key)
    try handle.sign(with: key)
    certificate = try Certificate(handle)
    self.names = names
    self.addresses = addresses
  }

  /// A kind of name without any constraint would be unlimited, so that one is excluded as a whole.
  private static func constraints(_ allowed: CertificateNames) -> String {
    let addresses = allowed.addresses.map { address in
      "permitted;IP:\(address)/\(address.isIPv6 ? "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" : "255.255.255.255")"
    }
    var all = allowed.names.map { "permitted;DNS:\($0)" } + addresses
    // An empty DNS name contains every other one.
    if allowed.names.isEmpty { all.append("permitted;DNS:invalid") }
    if !allowed.addresses.contains(where: { !$0.isIPv6 }) { all.append("excluded;IP:0.0.0.0/0.0.0.0") }
    if !allowed.addresses.contains(where: \.isIPv6) { all.append("excluded;IP:::/::") }
    return all.joined(separator: ",")
  }

  // MARK: - Storing

  /// Key and certificate, with what they are for, as PEM with explanatory text (RFC 7468 section 5.2). Store it in a
  /// file of mode 0600.
  public var pem: String {
    let lines = ["subject: \(subject)\n"] + names.map { "name: \($0)\n" } + addresses.map { "address: \($0)\n" }
    return lines.joined() + key.pem + certificate.pem
  }

  /// Reads what `pem` wrote. Throws `SecureError.malformedKey` or `.malformedCertificate`.
  public init(pem: String) throws(SecureError) {
    key = try PrivateKey(pem: pem)
    let handle = try CertificateHandle(firstInPEM: pem[...])
    guard key.withPointer({ X509_check_private_key(handle.pointer, $0) }) == 1 else {
      throw .malformedKey("the key is not that of the certificate")
    }
    certificate = try Certificate(handle)
    let lines = pem.split(separator: "\n")
    subject = lines.first { $0.hasPrefix("subject: ") }.map { String($0.dropFirst(9)) } ?? "Cradle"
    names = lines.filter { $0.hasPrefix("name: ") }.map { String($0.dropFirst(6)) }
    addresses = lines.filter { $0.hasPrefix("address: ") }.compactMap { IPAddress(String($0.dropFirst(9))) }
  }

  // MARK: - Issuing

  /// Whether it has signed this certificate.
  public func hasIssued(_ certificate: Certificate) -> Bool { certificate.isSigned(by: key) }

  /// Vouches for those of `names` and `addresses` that it may.
  ///
  /// - Parameter validity: seconds since 1970. Apple's systems refuse more than 825 days, also below a root that was
  ///   installed by hand (https://support.apple.com/103769).
  public func issue(
    for key: PrivateKey, names: [String], addresses: [IPAddress], validity: ClosedRange<Int64>
  ) throws(SecureError) -> Certificate {
    var content = CertificateContent.endEntity(
      try CertificateNames(
        names: names.filter { self.names.contains($0) }, addresses: addresses.filter { self.addresses.contains($0) }),
      usage: "serverAuth")
    content.validity = validity
    content.extensions.append((NID_authority_key_identifier, "keyid:always"))
    OpenSSLQueue.clear()
    let issuer = try CertificateHandle(der: certificate.der)
    let handle = try CertificateHandle()
    try handle.fill(content, key: key, issuer: issuer.pointer)
    try handle.sign(with: self.key)
    return try Certificate(handle)
  }
}
