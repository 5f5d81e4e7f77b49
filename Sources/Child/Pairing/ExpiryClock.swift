internal import Frames
internal import Logging
internal import Pairing
internal import Storage
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

    static let system = Source(
      system: { UnixTime(seconds: Int64(MonotonicClock.unixNanoseconds / 1_000_000_000)) },
      monotonic: { MonotonicClock.now })
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
  private var saved: UnixTime?
  private var triedAt: UnixTime?
  private var hasWarned = false

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
  }

  /// The current date. Never goes backwards, even across restarts.
  var now: UnixTime {
    let system = source.system()
    let date = clock.date(system: system, now: source.monotonic())
    let ahead = clock.secondsAhead(of: system)
    if ahead > Self.noticedSeconds, !hasWarned {
      hasWarned = true
      logger.warning(
        "the system's date is behind one seen before; expiry goes on from the later one",
        metadata: ["seconds": "\(ahead)"])
    } else if ahead == 0 {
      hasWarned = false
    }
    return date
  }

  /// Writes the mark. Call it before storing anything that depends on it, and before the program ends.
  func save() {
    let date = now
    guard saved != date else { return }
    triedAt = date
    do throws(StoreError) {
      try store.save(date)
      saved = date
    } catch {
      logger.warning("the clock's mark could not be saved", metadata: ["reason": "\(error)"])
    }
  }

  /// Writes the mark if the last attempt was at least `saveIntervalSeconds` ago. Call it each second while something
  /// can expire.
  func saveWhenDue() {
    if let triedAt, now.seconds - triedAt.seconds < Self.saveIntervalSeconds { return }
    save()
  }
}
