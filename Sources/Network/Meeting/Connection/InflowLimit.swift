internal import Glibc

/// Knows what has come over a TCP connection, and so when something comes that is longer than anything of ours, and when too
/// much comes. libmosquitto keeps a packet of up to 256 MiB in memory until it is complete, libstrophe a stanza of any
/// length, and a server may pass on what anybody sends, as fast as it likes.
struct InflowLimit {
  private let most: UInt64
  private var before: UInt64 = 0
  private var paced: UInt64 = 0
  private let burst: Int64
  private var credit: Int64
  private var earned: ContinuousClock.Instant = .now

  /// In bytes, beside the longest message. A session of a parent is made with some tens of thousands.
  private static let slack: Int64 = 2 << 20
  /// In bytes a second: a tenth of a small board's core in short stanzas.
  private static let rate: Int64 = 128 * 1024

  /// - Parameter most: in bytes; unless given, our longest message, twice, and what TLS adds.
  init(most: UInt64 = 256 * 1024) {
    self.most = most
    burst = Int64(clamping: most) + Self.slack
    credit = burst
  }

  /// A message is complete.
  mutating func restart(_ descriptor: Int32) {
    before = Self.taken(descriptor) ?? before
  }

  func isExceeded(_ descriptor: Int32) -> Bool {
    Self.taken(descriptor).map { $0 > before && $0 - before > most } ?? false
  }

  /// Until when nothing more is read, so that a flood waits in the server; nil: no longer.
  mutating func pause(_ descriptor: Int32, now: ContinuousClock.Instant = .now) -> ContinuousClock.Instant? {
    let total = Self.taken(descriptor) ?? paced
    if total > paced { credit -= Int64(clamping: total - paced) }
    paced = max(paced, total)
    let milliseconds = Int64((now - earned) / .milliseconds(1))
    if milliseconds > 0 {
      credit = min(burst, credit + min(milliseconds, 60_000) * Self.rate / 1000)
      earned = now
    }
    return credit < 0 ? now + .milliseconds(min(1000, -credit * 1000 / Self.rate + 1)) : nil
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
