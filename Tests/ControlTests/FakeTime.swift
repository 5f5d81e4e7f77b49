import Control
import Wire

/// Seconds since the origin.
func at(_ seconds: Double) -> Instant { Instant.zero + .milliseconds(Int(seconds * 1000)) }

/// The code of the ControlError that `body` throws; nil when it throws none.
func code<Result>(_ body: () throws -> Result) -> ControlError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? ControlError)?.code
  }
}

/// A machine of the core, driven by its own deadlines.
protocol Timed {
  associatedtype Effect
  var nextDeadline: Instant? { get }
  mutating func handleTimeout(now: Instant)
  mutating func poll() -> Effect?
}

extension LightController: Timed {}

extension Timed {
  mutating func drain() -> [Effect] {
    var effects: [Effect] = []
    while let effect = poll() { effects.append(effect) }
    return effects
  }

  /// Wakes at each deadline up to `end`, with what is to be done then, in seconds since the origin.
  mutating func run(to end: Instant) -> [(seconds: Double, effect: Effect)] {
    var seen: [(Double, Effect)] = []
    while let deadline = nextDeadline, deadline <= end {
      handleTimeout(now: deadline)
      seen += drain().map { ((deadline - .zero).inSeconds, $0) }
    }
    return seen
  }
}
