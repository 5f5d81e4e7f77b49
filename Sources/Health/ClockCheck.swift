internal import CLinux

/// Whether something keeps the clock right: times of events, the end of invitations and certificates hang on it.
public enum ClockCheck {
  /// What adjtimex(2) says of the kernel's clock.
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

  /// A board without a battery wakes up in the past. 2025-01-01: before this program was made.
  private static let earliest: Int64 = 1_735_689_600
  private static let remedy = "sudo timedatectl set-ntp true"

  /// - Parameter unixSeconds: the wall clock.
  public static func run(_ kernel: Kernel = ClockCheck.kernel, unixSeconds: Int64) -> Finding {
    if unixSeconds < earliest { return Finding("clock", .problem, "it stands years in the past", remedy: remedy) }
    return switch kernel {
    case .synchronized: Finding("clock", .ok, "kept right by a time service")
    case .unsynchronized:
      Finding("clock", .warning, "no time service keeps it right, so it drifts by seconds a day", remedy: remedy)
    case .refused: Finding("clock", .unknown, "the system does not say whether it is kept right", remedy: "timedatectl")
    }
  }
}
