internal import FoundationEssentials
internal import Glibc
internal import Pairing
internal import SecureTransport
internal import Server
public import Storage
internal import Wire

/// The node's own root certificate, which a family may install on its phones, and the certificates for HTTPS that it issues.
///
/// Browsers accept a self-signed certificate only past a warning, and refuse service workers then.
public struct NodeCertificate: Sendable {
  private let root: RootCertificate

  /// What phones have to install, DER.
  public var der: [UInt8] { root.certificate.der }
  /// SHA-256 over it, as devices show it: `AB:CD:…`.
  public var fingerprint: String {
    root.certificate.sha256.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }.joined(separator: ":")
  }
  /// Names and addresses for which it is good.
  public var hosts: [String] { root.names + root.addresses.map { "\($0)" } }

  /// The stored root; makes and stores one if there is none. Nil if the node has no name or address to make it for.
  ///
  /// The addresses are those of the first start: a root that followed each new address would have to be installed on
  /// every phone again.
  ///
  /// - Throws: `NodeError.rootCertificate` if the file cannot be read or written.
  public init?(_ configuration: ChildConfiguration, file: AtomicFile, name: String) throws {
    do {
      if let bytes = try file.read(maximum: 64 * 1024) {
        root = try RootCertificate(pem: String(decoding: bytes, as: UTF8.self))
      } else {
        let hosts = Self.hosts(listen: configuration.listen.host)
        guard !hosts.names.isEmpty || !hosts.addresses.isEmpty else { return nil }
        root = try RootCertificate(subject: "Cradle \(name)", names: hosts.names, addresses: hosts.addresses)
        try file.write(Array(root.pem.utf8))
      }
    } catch {
      throw NodeError.rootCertificate(path: file.path, reason: "\(error)")
    }
  }

  /// A certificate for HTTPS. It may be used for 800 days from `date` on; the next start issues another one.
  func issue(for key: PrivateKey, listen: String, date: UnixTime) throws(SecureError) -> Certificate {
    let hosts = Self.hosts(listen: listen)
    // A board that has not got the time yet.
    let isPlausible = date.seconds > Self.earliest
    let validity = isPlausible ? date.seconds - 2 * Self.day...date.seconds + 800 * Self.day : 0...Self.latest
    return try root.issue(for: key, names: hosts.names, addresses: hosts.addresses, validity: validity)
  }

  private static let day: Int64 = 86_400
  /// 2026-01-01.
  private static let earliest: Int64 = 1_767_225_600
  /// 2049-12-31.
  private static let latest: Int64 = 2_524_607_999

  /// Under which other machines of the house reach this one. Addresses of the internet change, and are left out.
  static func hosts(listen: String) -> (names: [String], addresses: [IPAddress]) {
    var addresses: [IPAddress] = []
    switch IPAddress(listen) {
    case let address? where !address.isUnspecified: addresses = [address]
    case nil where !listen.isEmpty: return ([listen.lowercased()], [])
    default: addresses = LocalAddresses.current(includingLoopback: false).filter { !$0.isIPv6 || $0.isUniqueLocal }
    }
    let host = ProcessInfo.processInfo.hostName.lowercased().prefix { $0 != "." }
    let isUsable =
      !host.isEmpty && host != "localhost" && host.utf8.count <= 63
      && host.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-")
      }
    // Not the bare name: a constraint also permits all names below it, and a board may be called like a top-level domain.
    return (isUsable ? ["\(host).local"] : [], addresses)
  }

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
      let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
      let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
      return parts.map { String(digits.dropFirst($0.lowerBound).prefix($0.count)) }.joined(separator: "-")
    }
    return (uuid(hash.prefix(16)), uuid(hash.suffix(16)))
  }
}
