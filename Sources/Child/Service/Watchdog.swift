internal import Frames
internal import Wire

/// Decides when to send the watchdog message: only while no loop is stuck. systemd.service(5), `WatchdogSec=`.
///
/// The event loop needs no pulse: it makes these calls, so nothing is sent when it is stuck.
struct Watchdog {
  struct Loop {
    /// Name for the log.
    var name: String
    var pulse: Pulse
    /// How long it may be silent, as a multiple of the service manager's limit.
    var patience: Int
  }

  /// A thread may spend several USB timeouts of 5 s on an unresponsive camera before it counts as missing, which is no
  /// reason to take the sound away as well. A loop that is silent for longer than this hangs.
  static let devicePatience = 3
  /// Encoding takes milliseconds; on a heavily loaded board perhaps a second.
  static let encoderPatience = 1

  /// The service manager ends the process after this long without a message.
  let limit: Duration
  let loops: [Loop]
  private var lastPing: Instant?

  init(limit: Duration, loops: [Loop]) {
    self.limit = limit
    self.loops = loops
  }

  /// A quarter of the limit, so that a message may come late.
  var interval: Duration { limit / 4 }

  func stuck(at now: Instant) -> [String] {
    loops.filter { $0.pulse.silence(at: now) > limit * $0.patience }.map(\.name)
  }

  /// Whether to send the watchdog message now. Call it at least once per `interval`.
  mutating func isPingDue(at now: Instant) -> Bool {
    // A caller that is slightly early must not halve the rate of messages.
    guard lastPing.map({ now - $0 >= interval * 3 / 4 }) ?? true, stuck(at: now).isEmpty else { return false }
    lastPing = now
    return true
  }
}
