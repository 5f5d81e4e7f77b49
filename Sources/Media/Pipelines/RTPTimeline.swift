internal import Wire

/// Maps RTP timestamps to our clock: the first to its arrival time, the others by the sender's clock.
struct RTPTimeline: Sendable {
  private let clockRate: Int64
  private var anchor: (instant: Instant, timestamp: UInt32)?
  /// A larger jump is the start of another stream, not a pause.
  private static let longestJump: Duration = .seconds(10)

  init(clockRate: Int64) {
    self.clockRate = clockRate
  }

  /// Capture time for `timestamp`, up to a constant delay; `arrival` anchors the first one.
  mutating func instant(of timestamp: UInt32, arrival: Instant) -> Instant {
    guard let anchor else { return begin(timestamp, arrival) }
    let ticks = Int64(Int32(bitPattern: timestamp &- anchor.timestamp))
    let instant = anchor.instant + .nanoseconds(ticks * 1_000_000_000 / clockRate)
    let distance = abs((arrival - instant).nanoseconds)
    guard distance < Self.longestJump.nanoseconds else { return begin(timestamp, arrival) }
    // The anchor moves along, so that the 32 bits never overflow.
    self.anchor = (instant, timestamp)
    return instant
  }

  private mutating func begin(_ timestamp: UInt32, _ arrival: Instant) -> Instant {
    anchor = (arrival, timestamp)
    return arrival
  }
}
