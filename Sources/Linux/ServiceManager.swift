internal import Glibc

/// The service manager that started this process: systemd, or anything else that supports sd_notify(3). Each message is
/// one datagram of `NAME=value` lines.
public final class ServiceManager: Sendable {
  public enum Message: Hashable, Sendable {
    /// The service is up.
    case ready
    /// The service is shutting down.
    case stopping
    /// The service begins again, and says `ready` when it is up.
    case reloading
    /// All loops are alive.
    case alive
    /// One line of text for `systemctl status`.
    case status(String)

    var line: String {
      switch self {
      case .ready: "READY=1"
      case .stopping: "STOPPING=1"
      case .reloading:
        // sd_notify(3): systemd tells by the time whether this is the reload that it has asked for.
        "RELOADING=1\nMONOTONIC_USEC=\(ServiceManager.monotonicMicroseconds)"
      case .alive: "WATCHDOG=1"
      // A line break would begin another assignment.
      case .status(let text): "STATUS=" + String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 })
      }
    }
  }

  /// The longest interval between `alive` messages; nil without a watchdog.
  public let watchdogLimit: Duration?
  private let address: sockaddr_un
  private let addressLength: socklen_t
  private let descriptor: Int32

  /// From the environment of this process.
  public convenience init?() {
    self.init { name in getenv(name).map { String(cString: $0) } }
  }

  /// Nil without NOTIFY_SOCKET, or if its address is not one that sd_notify(3) allows.
  init?(environment: (String) -> String?) {
    guard let path = environment("NOTIFY_SOCKET"), let (address, length) = Self.address(path) else { return nil }
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    self.address = address
    addressLength = length
    watchdogLimit = Self.limit(environment)
  }

  deinit { close(descriptor) }

  /// Sends all in one datagram, so that they take effect together. Never blocks. False if it could not be sent: nobody
  /// is listening, or the receive buffer is full.
  @discardableResult
  public func notify(_ messages: Message...) -> Bool {
    let text = messages.map(\.line).joined(separator: "\n")
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        sendto(
          descriptor, text, text.utf8.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), address,
          addressLength)
      }
    } == text.utf8.count
  }

  private static var monotonicMicroseconds: Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
  }

  /// Sets the text that `systemctl status` shows for a failed start.
  public func notifyFailure(_ reason: String) {
    notify(.status(reason))
  }

  /// unix(7): an absolute path, or "@name" for a name in the abstract namespace, which is not terminated.
  private static func address(_ path: String) -> (sockaddr_un, socklen_t)? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(path.utf8)
    guard bytes.count > 1, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    switch bytes[0] {
    case UInt8(ascii: "/"): bytes.append(0)
    case UInt8(ascii: "@"): bytes[0] = 0
    default: return nil
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let head = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)!
    return (address, socklen_t(head + bytes.count))
  }

  /// sd_watchdog_enabled(3): microseconds, for the process that WATCHDOG_PID names.
  private static func limit(_ environment: (String) -> String?) -> Duration? {
    guard let microseconds = environment("WATCHDOG_USEC").flatMap({ Int64($0) }), microseconds > 0 else { return nil }
    if let process = environment("WATCHDOG_PID"), process != "\(getpid())" { return nil }
    return .microseconds(microseconds)
  }
}
