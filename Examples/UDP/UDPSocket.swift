import Glibc
import WebRTC

/// One IPv4 UDP socket, at the address from which a host is reached. Copy it, or use your event loop's.
public final class UDPSocket {
  private let descriptor: Int32
  public let address: TransportAddress

  public init(towards host: String) throws {
    var hints = addrinfo()
    hints.ai_family = AF_INET
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, "9", &hints, &found) == 0, let found else { throw UDPError("\(host) is not found") }
    defer { freeaddrinfo(found) }
    let probe = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { Glibc.close(probe) }
    // Sends nothing: the kernel only chooses a route.
    guard connect(probe, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 else {
      throw UDPError("no route to \(host)")
    }
    var own = Self.name(of: probe)
    own.sin_port = 0
    let opened = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    descriptor = opened
    let bound = Self.withAddress(&own) { bind(opened, $0, $1) }
    address = Self.transportAddress(Self.name(of: opened))
    guard bound == 0 else { throw UDPError("no port is free") }
  }

  deinit {
    Glibc.close(descriptor)
  }

  /// What the network does not take is lost, as on the way.
  public func send(_ datagram: [UInt8], to destination: TransportAddress) {
    guard case .v4(let ip) = destination.ip else { return }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = destination.port.bigEndian
    name.sin_addr.s_addr = ip.bigEndian
    _ = Self.withAddress(&name) { sendto(descriptor, datagram, datagram.count, 0, $0, $1) }
  }

  /// The next datagram; nil when none comes until the deadline, or for a second.
  public func receive(waitingUntil deadline: Instant?, now: Instant) -> ([UInt8], TransportAddress)? {
    let wait = min(max(.zero, deadline.map { $0 - now } ?? .seconds(1)), .seconds(1))
    var events = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&events, 1, Int32(wait.nanoseconds / 1_000_000 + 1)) == 1 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 2048)
    var source = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let count = withUnsafeMutablePointer(to: &source) { source in
      source.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(descriptor, &bytes, bytes.count, 0, $0, &length)
      }
    }
    guard count > 0 else { return nil }
    return (Array(bytes.prefix(count)), Self.transportAddress(source))
  }

  private static func name(of descriptor: Int32) -> sockaddr_in {
    var name = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &name) { name in
      _ = name.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    return name
  }

  private static func withAddress<Result>(
    _ name: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    withUnsafePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  private static func transportAddress(_ name: sockaddr_in) -> TransportAddress {
    TransportAddress(ip: .v4(UInt32(bigEndian: name.sin_addr.s_addr)), port: UInt16(bigEndian: name.sin_port))
  }
}

public struct UDPError: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
