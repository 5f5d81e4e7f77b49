internal import NIOCore
internal import Wire

extension SocketAddress {
  /// The typed address; IPv4-mapped IPv6 is converted to IPv4. Nil for UNIX sockets.
  var transportAddress: TransportAddress? {
    let ip: IPAddress
    switch self {
    case .v4(let address):
      // sockaddr_in, ip(7): family, port, then four bytes of address.
      ip = withUnsafeBytes(of: address.address) {
        .v4(UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
      }
    case .v6(let address):
      // sockaddr_in6, ipv6(7): family, port, flow label, then sixteen bytes of address.
      ip = withUnsafeBytes(of: address.address) { bytes in
        IPAddress(
          high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
          low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
      }
    case .unixDomainSocket:
      return nil
    }
    guard let port else { return nil }
    return TransportAddress(ip: ip, port: UInt16(truncatingIfNeeded: port))
  }

  /// For a socket of the given family: a dual-stack IPv6 socket takes IPv4 peers as mapped addresses (RFC 4291 section
  /// 2.5.5.2). Nil for an IPv6 peer on an IPv4 socket.
  init?(_ address: TransportAddress, forIPv6Socket: Bool) {
    guard forIPv6Socket || !address.ip.isIPv6 else { return nil }
    let isMapped = forIPv6Socket && !address.ip.isIPv6
    let prefix: [UInt8] = isMapped ? Array(repeating: 0, count: 10) + [0xff, 0xff] : []
    try? self.init(packedIPAddress: ByteBuffer(bytes: prefix + address.ip.bytes), port: Int(address.port))
  }
}
