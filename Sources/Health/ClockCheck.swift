internal import CLinux
internal import Glibc

/// Whether the clock is synchronized. Times of events, the expiry of invitations and certificates depend on it.
public enum ClockCheck {
  /// The kernel's clock, according to adjtimex(2).
  public enum Kernel: Sendable {
    case synchronized, unsynchronized, refused
  }

  public static var kernel: Kernel {
    switch clinux_clock_is_synchronized() {
    case 1: .synchronized
    case 0: .unsynchronized
    default: .refused
    }
  }

  /// 2025-01-01, before this program was written: a board without a clock battery starts in the past.
  private static let earliest: Int64 = 1_735_689_600
  private static let remedy = "sudo timedatectl set-ntp true"

  /// - Parameter unixSeconds: the wall clock.
  public static func run(_ kernel: Kernel = ClockCheck.kernel, unixSeconds: Int64) -> Finding {
    if unixSeconds < earliest {
      var (seconds, date) = (time_t(unixSeconds), tm())
      gmtime_r(&seconds, &date)
      return Finding(
        "clock", .problem,
        "the date is years in the past (\(date.tm_year + 1900)): nothing has set this machine's clock since it started",
        remedy: remedy + ", and a network in which it reaches a time server")
    }
    return switch kernel {
    case .synchronized: Finding("clock", .ok, "synchronized")
    case .unsynchronized:
      Finding("clock", .warning, "not synchronized, so it drifts by seconds a day", remedy: remedy)
    case .refused:
      Finding("clock", .unknown, "the system does not say whether it is synchronized", remedy: "timedatectl")
    }
  }
}
