/// `host`, `host:port`, `[v6]`, `[v6]:port`: RFC 3986 section 3.2.2 without percent encoding.
public enum HostAndPort {
  /// The host without brackets; nil for anything else.
  public static func split(_ text: String) -> (host: String, port: UInt16?)? {
    var host: Substring
    var rest: Substring
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<end]
      rest = text[text.index(after: end)...]
      // A zone names the interface of a link-local address. RFC 4007 section 11.
      let address = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = address.first, let ip = IPAddress(String(first)), first.contains(":") || ip.isIPv6,
        address.count == 1 || isZone(address[1])
      else { return nil }
    } else {
      let end = text.firstIndex(of: ":") ?? text.endIndex
      host = text[..<end]
      rest = text[end...]
      guard isHostName(host) else { return nil }
    }
    if rest.isEmpty { return (String(host), nil) }
    guard rest.removeFirst() == ":", let port = port(rest) else { return nil }
    return (String(host), port)
  }

  private static func port(_ text: Substring) -> UInt16? {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt16(text)
  }

  private static func isZone(_ text: Substring) -> Bool {
    (1...15).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "/") }
  }

  /// RFC 1123 section 2.1. Anything that looks like an IPv4 address has to be one.
  private static func isHostName(_ text: Substring) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    if let last = labels.last, !last.isEmpty, last.utf8.allSatisfy({ (48...57).contains($0) }) {
      return IPAddress(String(text)) != nil
    }
    return labels.allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy { byte in
          (48...57).contains(byte) || (97...122).contains(byte | 0x20) && byte != UInt8(ascii: "@")
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }
  }
}
