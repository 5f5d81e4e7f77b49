internal import Glibc

/// Knows when something comes over a TCP connection that is longer than anything of ours. libmosquitto keeps a packet of up
/// to 256 MiB in memory until it is complete, libstrophe a stanza of any length, and a server may pass on what anybody
/// sends.
struct InflowLimit {
  private var before: UInt64 = 0

  /// Our longest message, twice, and what TLS adds.
  private static let most: UInt64 = 256 * 1024

  /// A message is complete.
  mutating func restart(_ descriptor: Int32) {
    before = Self.taken(descriptor) ?? before
  }

  func isExceeded(_ descriptor: Int32) -> Bool {
    Self.taken(descriptor).map { $0 > before && $0 - before > Self.most } ?? false
  }

  /// For a person.
  static let words = "it sends a message that is too long"

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
    let waiting = UInt64(waiting(descriptor))
    // What comes between the two questions is in the second answer alone.
    return received > waiting ? received - waiting : 0
  }
}
