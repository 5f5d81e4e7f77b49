internal import FoundationEssentials
internal import SecureTransport
internal import Storage
internal import Wire

/// The node's own root certificate, which a family may install on its phones, and the certificates for HTTPS that it issues.
///
/// Browsers accept a self-signed certificate only past a warning, and refuse service workers then.
struct NodeCertificate: Sendable {
  private let root: RootCertificate

  /// What phones have to install, DER.
  var der: [UInt8] { root.certificate.der }
  /// SHA-256 over it, as devices show it: `AB:CD:…`.
  var fingerprint: String {
    root.certificate.sha256.hexadecimal(uppercase: true, separator: ":")
  }
  /// Names and addresses for which it is good.
  var hosts: [String] { root.names + root.addresses.map { "\($0)" } }

  private init(_ root: RootCertificate) {
    self.root = root
  }

  /// The stored root; nil if there is none.
  ///
  /// - Throws: `NodeError.rootCertificate` if the file cannot be read.
  static func stored(_ file: AtomicFile) throws -> NodeCertificate? {
    do {
      guard let bytes = try file.read(maximum: 64 * 1024) else { return nil }
      return NodeCertificate(try RootCertificate(pem: String(decoding: bytes, as: UTF8.self)))
    } catch {
      throw NodeError.rootCertificate(path: file.path, reason: "\(error)")
    }
  }

  /// Makes and stores a root in place of any other. Nil if the node has no name or address to make it for.
  ///
  /// It stays for these: a root that followed each new address would have to be installed on every phone again.
  ///
  /// - Throws: `FileError` if the file cannot be written.
  static func make(for hosts: NodeHosts, name: String, in file: AtomicFile) throws -> NodeCertificate? {
    guard !hosts.isEmpty else { return nil }
    let root = try RootCertificate(subject: "Cradle \(name)", names: hosts.names, addresses: hosts.addresses)
    try file.write(Array(root.pem.utf8))
    return NodeCertificate(root)
  }

  /// Those of the present names and addresses for which it may not issue.
  func missing(of hosts: NodeHosts) -> [String] {
    hosts.names.filter { !root.names.contains($0) }
      + hosts.addresses.filter { !root.addresses.contains($0) }.map { "\($0)" }
  }

  /// Those of the present names and addresses for which it may issue.
  func permitted(of hosts: NodeHosts) -> NodeHosts {
    NodeHosts(
      names: hosts.names.filter { root.names.contains($0) },
      addresses: hosts.addresses.filter { root.addresses.contains($0) })
  }

  /// Whether a certificate of this root is good for one of the hosts. Before the network is there, there are none.
  func permitsAny(of hosts: NodeHosts) -> Bool { hosts.isEmpty || !permitted(of: hosts).isEmpty }

  /// A certificate for HTTPS, for all that the root permits.
  ///
  /// One that named others as well would be refused as a whole (RFC 5280 section 6.1.3).
  func issue(for key: PrivateKey, validity: ClosedRange<Int64>) throws(SecureError) -> Certificate {
    try root.issue(for: key, names: root.names, addresses: root.addresses, validity: validity)
  }

  /// Whether it has signed this certificate.
  func hasIssued(_ certificate: Certificate) -> Bool { root.hasIssued(certificate) }

  /// When a certificate for HTTPS is good: 800 days, with two for clocks that are behind; Apple's systems refuse more than
  /// 825. Where the date is unknown, always: a right clock comes soon.
  ///
  /// - Parameter date: seconds since 1970.
  static func validity(at date: Int64?) -> ClosedRange<Int64> {
    date.map { $0 - daysBefore * day...$0 + daysAfter * day } ?? 0...latest
  }

  /// Whether a certificate with this validity can be shown at a date: not yet near its end, and of 800 days.
  ///
  /// - Parameter date: seconds since 1970; nil, unknown, is as good as any.
  static func isTimely(_ validity: ClosedRange<Int64>?, at date: Int64?) -> Bool {
    guard let validity else { return false }
    guard let date else { return true }
    return validity.contains(date) && validity.upperBound - date >= daysLeft * day
      && validity.upperBound - validity.lowerBound <= (daysBefore + daysAfter) * day
  }

  private static let daysBefore: Int64 = 2
  private static let daysAfter: Int64 = 800
  /// Another is issued when fewer are left.
  private static let daysLeft: Int64 = 60
  private static let day: Int64 = 86_400
  /// 2049-12-31.
  private static let latest: Int64 = 2_524_607_999

  /// A configuration profile for Apple's devices, which install it in three taps; not signed. UTF-8 XML.
  /// https://developer.apple.com/documentation/devicemanagement/certificateroot
  var profile: [UInt8] {
    let name = Self.escaped(root.subject)
    let identifiers = Self.identifiers(root.certificate.sha256)
    return Array(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict>
      <key>PayloadType</key><string>Configuration</string>
      <key>PayloadVersion</key><integer>1</integer>
      <key>PayloadIdentifier</key><string>cradle.\(identifiers.0)</string>
      <key>PayloadUUID</key><string>\(identifiers.0)</string>
      <key>PayloadDisplayName</key><string>\(name)</string>
      <key>PayloadDescription</key><string>\(Self.escaped(hosts.joined(separator: ", ")))</string>
      <key>PayloadContent</key><array><dict>
      <key>PayloadType</key><string>com.apple.security.root</string>
      <key>PayloadVersion</key><integer>1</integer>
      <key>PayloadIdentifier</key><string>cradle.\(identifiers.1)</string>
      <key>PayloadUUID</key><string>\(identifiers.1)</string>
      <key>PayloadDisplayName</key><string>\(name)</string>
      <key>PayloadContent</key><data>\(Data(der).base64EncodedString())</data>
      </dict></array>
      </dict></plist>

      """.utf8)
  }

  private static func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      default: "\(character)"
      }
    }.joined()
  }

  /// Two UUIDs that are the same each time.
  private static func identifiers(_ hash: [UInt8]) -> (String, String) {
    func uuid(_ bytes: ArraySlice<UInt8>) -> String {
      let digits = bytes.hexadecimal(uppercase: true)
      let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
      return parts.map { String(digits.dropFirst($0.lowerBound).prefix($0.count)) }.joined(separator: "-")
    }
    return (uuid(hash.prefix(16)), uuid(hash.suffix(16)))
  }
}
