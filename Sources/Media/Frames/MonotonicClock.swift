internal import Glibc
public import Wire

/// The system clocks, for the shells only. Cores get time values, never the clock.
public enum MonotonicClock {
  /// CLOCK_MONOTONIC: the same timeline as V4L2 buffer timestamps and ALSA's monotonic timestamps.
  public static var now: Instant {
    Instant(nanoseconds: read(CLOCK_MONOTONIC))
  }

  /// Nanoseconds since 1970-01-01 UTC.
  public static var unixNanoseconds: Int64 {
    read(CLOCK_REALTIME)
  }

  /// Whole seconds since 1970-01-01 UTC.
  public static var unixSeconds: Int64 { unixNanoseconds / 1_000_000_000 }

  /// Seconds since 1970-01-01 UTC, to the millisecond: as documents carry times.
  public static var unixTime: Double { Double(unixNanoseconds / 1_000_000) / 1000 }

  /// The two clocks, read together.
  public static var wallClockReference: WallClockReference {
    WallClockReference(instant: now, unixNanoseconds: unixNanoseconds)
  }

  /// Blocks the calling thread until `deadline`; returns at once if it has passed.
  public static func sleep(until deadline: Instant) {
    let (seconds, rest) = max(0, deadline.nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
