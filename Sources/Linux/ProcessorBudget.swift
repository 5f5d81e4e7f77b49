internal import Glibc

/// How much a process may compute for what somebody else sends it. A piece of work that takes seconds (entities of entities,
/// millions of SCRAM's iterations) ends the process by SIGXCPU: while it lasts (setrlimit(2)), or when it is done, so that the next
/// connection does not begin it again. Of many small ones, each waits until what the ones before have cost is a tenth of the time
/// that has passed.
public struct ProcessorBudget {
  /// Seconds that one piece of work may take. A login takes less than one, also on a slow board.
  private static let seconds = 5
  /// What took longer and is done. RFC 7677 section 4 has 4096 iterations at least, servers some ten times as many: a fraction of a
  /// second, also on a slow board.
  public static let longest: Duration = .seconds(2)
  /// At once, and saved up while nothing is to be done.
  private static let burst: Duration = .seconds(2)
  private static let share = 10

  private var saved: Duration
  private var before: ContinuousClock.Instant
  private var usedBefore: Duration
  private var limit: rlim_t = 0

  /// Limits this process from now on.
  public init() {
    (saved, before, usedBefore) = (Self.burst, .now, Self.used)
    renew()
  }

  /// To be called before each piece of work.
  ///
  /// - Returns: until when it has to wait; nil: not at all.
  public mutating func pause() -> ContinuousClock.Instant? {
    let (now, used) = (ContinuousClock.now, Self.used)
    if used - usedBefore > Self.longest { raise(SIGXCPU) }
    saved = min(Self.burst, saved + (now - before) / Self.share - (used - usedBefore))
    (before, usedBefore) = (now, used)
    renew()
    return saved < .zero ? now - saved * Self.share : nil
  }

  /// The kernel counts in whole seconds of the process's life.
  private mutating func renew() {
    let next = rlim_t(max(0, usedBefore.components.seconds)) + rlim_t(Self.seconds)
    guard next != limit else { return }
    limit = next
    let resource = __rlimit_resource_t(RLIMIT_CPU.rawValue)
    var value = rlimit()
    guard getrlimit(resource, &value) == 0 else { return }
    value.rlim_cur = min(next, value.rlim_max)
    setrlimit(resource, &value)
  }

  /// By all threads.
  private static var used: Duration {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
