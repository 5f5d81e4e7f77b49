/// An IPv4 or IPv6 address. IPv4-mapped IPv6 addresses (RFC 4291 section 2.5.5.2) become IPv4 when parsed.
public enum IPAddress: Hashable, Sendable {
  case v4(UInt32)
  case v6(UInt64, UInt64)

  /// From 4 or 16 network-order bytes; nil for any other count.
  public init?(bytes: some Collection<UInt8>) {
    switch bytes.count {
    case 4:
      self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case 16:
      let high = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let low = bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      self.init(high: high, low: low)
    default:
      return nil
    }
  }

  /// From the two halves of an IPv6 address; an IPv4-mapped one (RFC 4291 section 2.5.5.2) becomes IPv4.
  public init(high: UInt64, low: UInt64) {
    self = high == 0 && low >> 32 == 0xffff ? .v4(UInt32(truncatingIfNeeded: low)) : .v6(high, low)
  }

  /// 4 or 16 bytes in network order.
  public var bytes: [UInt8] {
    var writer = ByteWriter(reservingCapacity: 16)
    switch self {
    case .v4(let value): writer.write(value)
    case .v6(let high, let low):
      writer.write(high)
      writer.write(low)
    }
    return writer.bytes
  }

  /// The network of an IPv6 address: its first 64 bits, the least that a household gets (RFC 6177, RFC 7421). IPv4 addresses stay.
  public var network: IPAddress {
    if case .v6(let high, _) = self { .v6(high, 0) } else { self }
  }

  public var isIPv6: Bool {
    if case .v6 = self { true } else { false }
  }

  /// 127.0.0.0/8 or ::1.
  public var isLoopback: Bool {
    switch self {
    case .v4(let value): value >> 24 == 127
    case .v6(let high, let low): high == 0 && low == 1
    }
  }

  /// 169.254.0.0/16 or fe80::/10.
  public var isLinkLocal: Bool {
    switch self {
    case .v4(let value): value >> 16 == 0xa9fe
    case .v6(let high, _): high >> 54 == 0x3fa
    }
  }

  /// fc00::/7, the IPv6 counterpart of private addresses. RFC 4193.
  public var isUniqueLocal: Bool {
    if case .v6(let high, _) = self { high >> 57 == 0x7e } else { false }
  }

  /// 0.0.0.0 or ::.
  public var isUnspecified: Bool {
    switch self {
    case .v4(let value): value == 0
    case .v6(let high, let low): high == 0 && low == 0
    }
  }
}

extension IPAddress: LosslessStringConvertible {
  /// Dotted decimal or RFC 4291 section 2.2 text, without brackets, zone or port.
  public init?(_ text: String) {
    let parsed = text.contains(":") ? Self.parseIPv6(text[...]) : Self.parseIPv4(text[...]).map { .v4($0) }
    guard let parsed else { return nil }
    self = parsed
  }

  private static func parseIPv4(_ text: Substring) -> UInt32? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var value: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }),
        let byte = UInt8(part)
      else { return nil }
      value = value << 8 | UInt32(byte)
    }
    return value
  }

  private static func parseGroups(_ text: Substring, mayEndInIPv4: Bool) -> [UInt16]? {
    if text.isEmpty { return [] }
    var groups: [UInt16] = []
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    for (index, part) in parts.enumerated() {
      if index == parts.count - 1, mayEndInIPv4, part.contains(".") {
        guard let v4 = parseIPv4(part) else { return nil }
        groups += [UInt16(truncatingIfNeeded: v4 >> 16), UInt16(truncatingIfNeeded: v4)]
      } else {
        guard (1...4).contains(part.utf8.count), part.first != "+", part.first != "-",
          let group = UInt16(part, radix: 16)
        else { return nil }
        groups.append(group)
      }
    }
    return groups
  }

  private static func parseIPv6(_ text: Substring) -> IPAddress? {
    guard text.utf8.count <= 45 else { return nil }
    var groups: [UInt16]
    if let gap = text.firstRange(ofDoubleColon: ()) {
      guard let head = parseGroups(text[..<gap.lowerBound], mayEndInIPv4: false),
        let tail = parseGroups(text[gap.upperBound...], mayEndInIPv4: true),
        head.count + tail.count <= 7
      else { return nil }
      groups = head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail
    } else {
      guard let all = parseGroups(text, mayEndInIPv4: true), all.count == 8 else { return nil }
      groups = all
    }
    return IPAddress(bytes: groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] })
  }

  /// Dotted decimal, or the canonical text of RFC 5952.
  public var description: String {
    switch self {
    case .v4(let value):
      return "\(value >> 24).\(value >> 16 & 0xff).\(value >> 8 & 0xff).\(value & 0xff)"
    case .v6(let high, let low):
      let groups = [high, low].flatMap { half in
        [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> UInt64($0)) }
      }
      var best = 0..<0
      var index = 0
      while index < 8 {
        var end = index
        while end < 8, groups[end] == 0 { end += 1 }
        if end - index > max(1, best.count) { best = index..<end }
        index = max(end, index + 1)
      }
      let hex = { (range: Range<Int>) in groups[range].map { String($0, radix: 16) }.joined(separator: ":") }
      return best.isEmpty ? hex(0..<8) : hex(0..<best.lowerBound) + "::" + hex(best.upperBound..<8)
    }
  }
}

extension Substring {
  fileprivate func firstRange(ofDoubleColon _: Void) -> Range<Index>? {
    var position = startIndex
    while position < endIndex {
      let next = index(after: position)
      if self[position] == ":", next < endIndex, self[next] == ":" { return position..<index(after: next) }
      position = next
    }
    return nil
  }
}

/// One end of a UDP or TCP flow: address and port.
public struct TransportAddress: Hashable, Sendable, CustomStringConvertible {
  public var ip: IPAddress
  public var port: UInt16

  public init(ip: IPAddress, port: UInt16) {
    self.ip = ip
    self.port = port
  }

  /// `192.0.2.1:5000` or `[2001:db8::1]:5000`.
  public var description: String {
    ip.isIPv6 ? "[\(ip)]:\(port)" : "\(ip):\(port)"
  }
}
