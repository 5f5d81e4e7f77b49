internal import Wire

/// Places RTP timestamps on our clock: the first one where it arrived, the others by the sender's own clock.
struct RTPTimeline: Sendable {
  private let clockRate: Int64
  private var anchor: (instant: Instant, timestamp: UInt32)?
  /// A jump of more than this is another stream's beginning, not a pause.
  private static let longestJump: Duration = .seconds(10)

  init(clockRate: Int64) {
    self.clockRate = clockRate
  }

  /// When what carries `timestamp` was taken, up to a constant delay; `arrival` counts for the first one alone.
  mutating func instant(of timestamp: UInt32, arrival: Instant) -> Instant {
    guard let anchor else { return begin(timestamp, arrival) }
    let ticks = Int64(Int32(bitPattern: timestamp &- anchor.timestamp))
    let instant = anchor.instant + .nanoseconds(ticks * 1_000_000_000 / clockRate)
    let distance = abs((arrival - instant).nanoseconds)
    guard distance < Self.longestJump.nanoseconds else { return begin(timestamp, arrival) }
    // Moves along, so that 32 bits are never exhausted.
    self.anchor = (instant, timestamp)
    return instant
  }

  private mutating func begin(_ timestamp: UInt32, _ arrival: Instant) -> Instant {
    anchor = (arrival, timestamp)
    return arrival
  }
}
