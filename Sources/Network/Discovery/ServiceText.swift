/// The TXT record of `_cradle._tcp`: `txtvers=1 id=<16 hex> v=<version> pairing=open|closed`. RFC 6763 section 6.
public struct ServiceText: Hashable, Sendable {
  public var id: String
  /// Printable ASCII, at most 64 bytes; nil if missing or malformed.
  public var version: String?
  public var pairing: PairingWindow

  /// RFC 6763 section 6.2: fits in one packet. Ours has about 60 bytes.
  static let longest = 1300
  static let longestVersion = 64

  init(_ advertisement: Advertisement) {
    id = advertisement.id
    version = String(decoding: advertisement.version.utf8.prefix(Self.longestVersion), as: UTF8.self)
    pairing = advertisement.pairing
  }

  /// The record's data: strings, each preceded by its length.
  var bytes: [UInt8] {
    // RFC 6763 section 6.7: the version of the format comes first.
    ["txtvers=1", "id=\(id)", version.map { "v=\($0)" }, "pairing=\(pairing.rawValue)"].compactMap(\.self).flatMap {
      let text = Array($0.utf8.prefix(255))
      return [UInt8(text.count)] + text
    }
  }

  /// Nil for a record that is too long, truncated, of another version, or without a valid id.
  public init?(parsing bytes: [UInt8]) {
    guard bytes.count <= Self.longest, let values = Self.values(in: bytes) else { return nil }
    // RFC 6763 section 6.7: another version cannot be interpreted.
    guard values["txtvers"] == "1", let id = values["id"], Self.isID(id) else { return nil }
    self.id = id
    version = values["v"].flatMap { (1...Self.longestVersion).contains($0.utf8.count) ? $0 : nil }
    // Without the key the window is closed.
    pairing = values["pairing"].flatMap(PairingWindow.init) ?? .closed
  }

  /// The attributes with printable ASCII values, by lower-case key; nil if a string extends beyond the record.
  private static func values(in bytes: [UInt8]) -> [String: String]? {
    var values: [String: String] = [:]
    var seen: Set<String> = []
    var rest = bytes[...]
    while let length = rest.popFirst() {
      guard length <= rest.count else { return nil }
      let attribute = rest.prefix(Int(length))
      rest = rest.dropFirst(Int(length))
      // RFC 6763 section 6.4: a string without "=" has no value; one that begins with "=" is ignored.
      let parts = attribute.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let key = parts.first.flatMap(printable)?.lowercased(), !key.isEmpty else { continue }
      // Same section: the first of two equal keys counts.
      guard seen.insert(key).inserted, parts.count == 2 else { continue }
      values[key] = printable(parts[1])
    }
    return values
  }

  private static func printable(_ bytes: ArraySlice<UInt8>) -> String? {
    bytes.allSatisfy { (0x20...0x7e).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
  }

  private static func isID(_ text: String) -> Bool {
    text.utf8.count == 16
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }
}
