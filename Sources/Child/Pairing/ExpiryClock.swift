internal import Frames
internal import Glibc
internal import Health
internal import Logging
internal import Pairing
internal import Storage
internal import Synchronization
internal import Wire

/// The clock that decides expiry, with its high-water mark on disk. See `TrustedClock`.
///
/// `@unchecked Sendable` because it is confined to the event loop.
final class ExpiryClock: @unchecked Sendable {
  /// Source of the time; tests pass their own.
  struct Source: Sendable {
    /// The system's date.
    var system: @Sendable () -> UnixTime
    var monotonic: @Sendable () -> Instant
    /// Whether something keeps the system's date right.
    var isSynchronized: @Sendable () -> Bool = { false }

    static let system = Source(
      system: { UnixTime(seconds: MonotonicClock.unixSeconds) },
      monotonic: { MonotonicClock.now },
      // The service may not ask the kernel (ProtectClock=); then systemd-timesyncd's file says it.
      isSynchronized: {
        ClockCheck.kernel == .synchronized || access("/run/systemd/timesync/synchronized", F_OK) == 0
      })
  }

  /// More frequent writes would wear out an SD card; a power cut loses at most this much.
  static let saveIntervalSeconds: Int64 = 300
  /// A system clock that is behind by more than this is logged. NTP makes smaller corrections routinely.
  private static let noticedSeconds: Int64 = 60

  private let store: ClockStore
  private let source: Source
  private let logger: Logger
  private var clock: TrustedClock
  /// The mark on disk.
  private var saved: TrustedClock.Mark?
  private var triedAt: UnixTime?
  private var hasWarned = false
  private let certainSeconds = Atomic<Int64>(0)

  init(_ store: ClockStore, source: Source = .system, logger: Logger) {
    self.store = store
    self.source = source
    self.logger = logger
    do throws(StoreError) {
      saved = try store.load()
    } catch {
      // The file holds a single date and the next save recreates it: no reason not to start.
      logger.warning(
        "the clock's mark could not be read; expiry follows the system's date until it is written again",
        metadata: ["reason": "\(error)"])
    }
    clock = TrustedClock(mark: saved, now: source.monotonic())
    guard plausible == nil else { return }
    logger.warning(
      """
      the system's date is years in the past. Until it is right, times are wrong, and nothing can be made that expires: \
      sudo timedatectl set-ntp true
      """,
      metadata: ["now": "\(source.system().text)"])
  }

  /// The current date. It goes backwards only when a jump far ahead turns out to be wrong. See `TrustedClock`.
  var now: UnixTime {
    let system = source.system()
    let date = clock.date(system: system, now: source.monotonic(), isSynchronized: source.isSynchronized)
    for change in clock.takeChanges() { log(change) }
    certainSeconds.store(clock.mark.certain?.seconds ?? 0, ordering: .relaxed)
    let ahead = clock.secondsAhead(of: system)
    if ahead > Self.noticedSeconds, !hasWarned {
      hasWarned = true
      logger.warning(
        """
        the system's date is behind one seen before; expiry goes on from the later one. If the later one was wrong: \
        stop cradle-child, remove clock.json from its state directory, start it
        """,
        metadata: ["seconds": "\(ahead)", "later": "\(date.text)"])
    } else if ahead == 0 {
      hasWarned = false
    }
    return date
  }

  /// Both dates by which something may be good: `now`, and `TrustedClock.settled`. What was made after a jump is good by the
  /// first alone; what has expired only by one of the last minute, by the second.
  var dates: [UnixTime] {
    let now = now
    return [now, clock.settled]
  }

  /// The latest date that is certain, as of the last `now`; 1970 when there is none. What is older than it by some age may
  /// be removed for that. From any thread.
  var certain: UnixTime { UnixTime(seconds: certainSeconds.load(ordering: .relaxed)) }

  /// What was made from this date on and has expired at `now` is so for good; nothing older may be marked.
  var firmSince: UnixTime { clock.firmSince }

  /// The date of the system where it can be right; else the last that is certain, if any.
  var plausible: UnixTime? {
    let system = source.system()
    if system >= TrustedClock.earliest { return system }
    _ = now
    return [clock.mark.certain, clock.mark.latest].compactMap(\.self).first { $0 >= TrustedClock.earliest }
  }

  private func log(_ change: TrustedClock.Change) {
    switch change {
    case .jumped(let from, let to) where from >= TrustedClock.earliest:
      logger.warning(
        """
        the system's date is far ahead of the last one. What expires goes by it, but ends for good only after a day \
        of running, an hour with a synchronized clock. If it is wrong: sudo timedatectl set-ntp true
        """,
        metadata: ["last": "\(from.text)", "now": "\(to.text)"])
    case .jumped(_, let to):
      // The first date of a new child, or of a board that has got the time.
      logger.info("the date is known", metadata: ["now": "\(to.text)"])
    case .refuted(let latest):
      logger.warning(
        "a date far ahead turned out to be wrong; what seemed to have expired by it is good again",
        metadata: ["wrong": "\(latest.text)"])
    case .confirmed(let date):
      logger.info("the date counts as certain", metadata: ["date": "\(date.text)"])
    }
  }

  /// Lets the time pass that makes a jump certain, and keeps it over a power cut. Call it from time to time.
  func beat() {
    _ = now
    if clock.mark.jump != nil || saved?.jump != nil { saveWhenDue() }
  }

  /// Writes the mark. Call it before storing anything that depends on it, and before the program ends.
  func save() {
    let date = now
    let mark = clock.mark
    guard saved != mark else { return }
    triedAt = date
    do throws(StoreError) {
      try store.save(mark)
      saved = mark
    } catch {
      logger.warning("the clock's mark could not be saved", metadata: ["reason": "\(error)"])
    }
  }

  /// Writes the mark if the last attempt was at least `saveIntervalSeconds` ago. Call it each second while something
  /// can expire.
  func saveWhenDue() {
    if let triedAt, 0..<Self.saveIntervalSeconds ~= now.seconds - triedAt.seconds { return }
    save()
  }
}
