internal import Glibc

/// How much a process may compute for what somebody else sends it. A piece of work that takes seconds (entities of entities,
/// millions of SCRAM's iterations) ends the process by SIGXCPU (setrlimit(2)); of many small ones, each waits until what the ones
/// before have cost is a tenth of the time that has passed.
public struct ProcessorBudget {
  /// Seconds that one piece of work may take. A login takes less than one, also on a slow board.
  public static let seconds = 5
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
