import Foundation
import Glibc

/// Ports for servers that start later, or again: below those that the system gives to outgoing connections and to whoever asks for port 0, and
/// no other test's until this process ends. `common.reserved_port` of peers/ is the same in Python; they respect each other.
enum ReservedPort {
  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  /// Free for UDP and TCP at all addresses.
  static func next() throws -> Int {
    let range = (try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)) ?? ""
    let first = range.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 32_768
    guard first > 11_000 else {
      throw Problem(description: "the system uses nearly all ports for outgoing connections")
    }
    for _ in 0..<200 {
      let port = Int.random(in: 10_000..<first)
      if reserve(port) { return port }
    }
    throw Problem(description: "no free port")
  }

  /// The reservation is a socket whose name has no file: it ends with the process, and belongs to the network namespace as ports do.
  private static func reserve(_ port: Int) -> Bool {
    let reservation = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    let text = Array("\0cradle-test-port-\(port)".utf8)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: text) }
    let size = MemoryLayout.offset(of: \sockaddr_un.sun_path)! + text.count
    guard bound(reservation, to: name, size: size), isFree(port) else {
      close(reservation)
      return false
    }
    return true
  }

  private static func isFree(_ port: Int) -> Bool {
    [SOCK_STREAM, SOCK_DGRAM].allSatisfy { type in
      let descriptor = socket(AF_INET6, Int32(type.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = in_port_t(port).bigEndian
      return bound(descriptor, to: address, size: MemoryLayout<sockaddr_in6>.size)
    }
  }

  private static func bound<Address>(_ descriptor: Int32, to address: Address, size: Int) -> Bool {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(size)) == 0 }
    }
  }
}
