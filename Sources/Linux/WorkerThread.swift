internal import CLinux
internal import Glibc

/// A named POSIX thread for blocking work: device reads, encoding. Everything else runs on the event loop.
public final class WorkerThread: @unchecked Sendable {
  private var thread = pthread_t()
  private var isJoined = false

  /// Starts `body` at once. `name` appears in `top -H` and is truncated to 15 bytes.
  public init(name: String, _ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Context(name: name, body: body))
    let status = pthread_create(
      &thread, nil,
      { argument in
        let context = Unmanaged<Context>.fromOpaque(argument!).takeRetainedValue()
        clinux_set_thread_name(context.name)
        context.body()
        return nil
      }, context.toOpaque())
    precondition(status == 0, "no memory for another thread")
  }

  /// A thread that was not joined runs to the end of its body; its memory is then freed.
  deinit {
    if !isJoined { pthread_detach(thread) }
  }

  /// Waits until the body has returned. Call once, never from the thread itself.
  public func join() {
    guard !isJoined else { return }
    isJoined = true
    pthread_join(thread, nil)
  }

  private final class Context {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
}
