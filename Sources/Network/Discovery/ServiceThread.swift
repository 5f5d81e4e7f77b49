internal import CLinux
internal import Glibc
internal import Synchronization

/// Wakes a service's thread from poll(2).
final class Wake: Sendable {
  private let descriptor: Int32

  init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    precondition(descriptor >= 0, "the process has no file descriptor left")
  }

  deinit { close(descriptor) }

  func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Sleeps until it is raised, a reference is readable, or `limit` has passed. Returns which references are readable.
  func wait(for references: [ServiceReference], limit: Duration?) -> [Bool] {
    var entries = ([descriptor] + references.map(\.descriptor)).map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    // Rounded up, so as not to wake just before the deadline.
    let milliseconds = limit.map { Int32(clamping: Int64(max(0, ($0 / .milliseconds(1)).rounded(.up)))) }
    guard poll(&entries, nfds_t(entries.count), milliseconds ?? -1) > 0 else {
      return references.map { _ in false }
    }
    var count: UInt64 = 0
    if entries[0].revents != 0 { _ = read(descriptor, &count, 8) }
    return entries.dropFirst().map { $0.revents != 0 }
  }
}

/// A detached thread: the library may block for many seconds when the daemon hangs, and stopping must not wait for it.
enum ServiceThread {
  /// `name` shows in `top -H` and is cut to 15 bytes.
  static func start(name: String, _ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Body(name: name, run: body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        let body = Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue()
        clinux_set_thread_name(body.name)
        body.run()
        return nil
      }, context.toOpaque())
    precondition(status == 0, "no memory for another thread")
    pthread_detach(thread)
  }

  private final class Body {
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }
}

/// The delay after a failure; doubles each time.
struct Backoff {
  private let first: Duration
  private let longest: Duration
  private var next: Duration

  init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
    next = first
  }

  mutating func take() -> Duration {
    defer { next = min(next * 2, longest) }
    return next
  }

  mutating func reset() {
    next = first
  }

  /// For the daemon, which restarts in a fraction of a second; each attempt costs a connection.
  static var daemon: Backoff { Backoff(first: .milliseconds(250), longest: .seconds(10)) }
  /// For a service that does not answer; the library has then tried for five seconds.
  static var service: Backoff { Backoff(first: .seconds(2), longest: .seconds(60)) }
}
