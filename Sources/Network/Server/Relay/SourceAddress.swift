internal import CLinux
internal import Glibc
internal import NIOCore
internal import Wire

/// The address from which this machine reaches another.
enum SourceAddress {
  /// By the kernel's routes, udp(7): connecting a socket for datagrams sends none. Nil without a route.
  static func toward(_ destination: TransportAddress) -> IPAddress? {
    let family = destination.ip.isIPv6 ? AF_INET6 : AF_INET
    let descriptor = Glibc.socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    guard let target = SocketAddress(destination, forIPv6Socket: destination.ip.isIPv6),
      target.withSockAddr({ Glibc.connect(descriptor, $0, socklen_t($1)) }) == 0
    else { return nil }
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let own = withUnsafeMutablePointer(to: &storage) { pointer -> SocketAddress? in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        guard getsockname(descriptor, name, &size) == 0 else { return nil }
        return family == AF_INET6
          ? name.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
          : name.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
      }
    }
    return own?.transportAddress?.ip
  }
}
