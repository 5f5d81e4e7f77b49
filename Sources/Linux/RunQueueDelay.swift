internal import Glibc

/// How long a thread was ready to run while the machine let others run: the second figure of /proc/thread-self/schedstat
/// (Documentation/scheduler/sched-stats.rst). Use it on the thread that made it.
public struct RunQueueDelay: ~Copyable {
  private let file: Int32
  private var known: Duration?

  public init() {
    file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
    known = total()
  }

  deinit { if file >= 0 { close(file) } }

  /// Since the last call, or since it was made. Zero where the kernel does not count.
  public mutating func sinceLast() -> Duration {
    guard let total = total() else { return .zero }
    defer { known = total }
    return total - (known ?? total)
  }

  private func total() -> Duration? {
    guard file >= 0 else { return nil }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 96) { buffer in
      let count = pread(file, buffer.baseAddress, buffer.count, 0)
      let fields = buffer.prefix(max(0, count)).split(separator: UInt8(ascii: " "))
      guard fields.count == 3, let nanoseconds = Int64(String(decoding: fields[1], as: UTF8.self)) else { return nil }
      return .nanoseconds(nanoseconds)
    }
  }
}
