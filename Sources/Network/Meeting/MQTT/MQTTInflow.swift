internal import Glibc

/// Ends a connection over which a packet comes that is longer than any of ours. libmosquitto keeps a packet of up to 256 MiB
/// in memory until it is complete, and a broker may pass on what anybody with its password sends.
struct MQTTInflow {
  private var before: UInt64 = 0

  /// Our longest packet, twice, and what TLS adds.
  private static let most: UInt64 = 256 * 1024

  /// A packet is complete.
  mutating func packet(_ descriptor: Int32) {
    before = Self.taken(descriptor) ?? before
  }

  func check(_ descriptor: Int32) throws(MQTTProblem) {
    guard let taken = Self.taken(descriptor), taken &- before > Self.most, taken > before else { return }
    throw .lost("it sends a message that is too long")
  }

  /// Bytes that the kernel has, and that nobody has read yet.
  static func waiting(_ descriptor: Int32) -> Int {
    var count: Int32 = 0
    return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
  }

  /// Bytes that have been read: those that TCP has received (`tcpi_bytes_received` of linux/tcp.h's tcp_info, which glibc's
  /// does not have) without those that wait.
  private static func taken(_ descriptor: Int32) -> UInt64? {
    var info = [UInt8](repeating: 0, count: 256)
    var size = socklen_t(info.count)
    let offset = 128
    guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &info, &size) == 0, Int(size) >= offset + 8 else {
      return nil
    }
    let received = info.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    return received &- UInt64(waiting(descriptor))
  }
}
