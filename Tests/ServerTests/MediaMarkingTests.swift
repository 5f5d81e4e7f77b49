import Glibc
import NIOCore
import NIOPosix
import Testing
import Wire

@testable import Server

/// What arrives on loopback, read from the packets' own headers.
@Suite struct MediaMarkingTests {
  /// Receives one datagram with its traffic class: ip(7), IP_RECVTOS; ipv6(7), IPV6_RECVTCLASS.
  private final class Receiver {
    private let descriptor: Int32
    private let isIPv6: Bool
    let port: UInt16

    init(isIPv6: Bool) throws {
      self.isIPv6 = isIPv6
      descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
      let address = try SocketAddress(ipAddress: isIPv6 ? "::1" : "127.0.0.1", port: 0)
      let descriptor = descriptor
      try #require(address.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0)
      var on: Int32 = 1
      let size = socklen_t(MemoryLayout<Int32>.size)
      if isIPv6 {
        setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_RECVTCLASS, &on, size)
      } else {
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_RECVTOS, &on, size)
      }
      var limit = timeval(tv_sec: 5, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      var bound = sockaddr_in6()
      var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
      withUnsafeMutableBytes(of: &bound) {
        _ = getsockname(descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
      }
      // The port has the same place in both families' addresses.
      port = UInt16(bigEndian: bound.sin6_port)
    }

    deinit { close(descriptor) }

    /// The byte in the header: the DSCP and two bits below; nil when nothing came.
    func trafficClass() -> UInt8? {
      var bytes = [UInt8](repeating: 0, count: 64)
      var control = [UInt64](repeating: 0, count: 16)
      return bytes.withUnsafeMutableBytes { bytes in
        control.withUnsafeMutableBytes { control -> UInt8? in
          var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
          return withUnsafeMutablePointer(to: &part) { part -> UInt8? in
            var message = msghdr()
            message.msg_iov = part
            message.msg_iovlen = 1
            message.msg_control = control.baseAddress
            message.msg_controllen = control.count
            guard recvmsg(descriptor, &message, 0) > 0, message.msg_controllen > 16 else { return nil }
            // cmsg(3): length, level, type, then the value, whose first byte is the lowest on this machine.
            let header = control.load(as: cmsghdr.self)
            guard header.cmsg_type == (isIPv6 ? IPV6_TCLASS : IP_TOS) else { return nil }
            return control[16]
          }
        }
      }
    }
  }

  private static func sent(_ marking: MediaMarking, isIPv6: Bool, segmentSize: Int) async throws -> UInt8? {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let receiver = try Receiver(isIPv6: isIPv6)
    let socket = try await MediaSocket.bind(
      ports: 0...0, marking: marking, on: loop, isWanted: { _, _ in false }, receive: { _, _, _ in }, receivedAll: {})
    try #require(socket.isIPv6, "one socket for both families")
    let address = TransportAddress(ip: isIPv6 ? .v6(0, 1) : .v4(0x7f00_0001), port: receiver.port)
    let destination = try #require(SocketAddress(address, forIPv6Socket: true))
    let result = try await loop.submit {
      socket.send([UInt8](repeating: 7, count: 40)[...], to: destination, segmentSize: segmentSize)
    }.get()
    #expect(result == .written)
    let found = receiver.trafficClass()
    await socket.close()
    return found
  }

  @Test(arguments: [false, true], [0, 20])
  func packetsOfBothFamiliesCarryAF42(isIPv6: Bool, segmentSize: Int) async throws {
    #expect(try await Self.sent(.interactiveVideo, isIPv6: isIPv6, segmentSize: segmentSize) == 36 << 2)
  }

  @Test(arguments: [false, true])
  func unmarkedPacketsCarryNothing(isIPv6: Bool) async throws {
    #expect(try await Self.sent(.none, isIPv6: isIPv6, segmentSize: 0) == 0)
  }
}
