import Wire

/// When pictures are to be shown so that they follow each other as they were taken: each the same time after its fastest
/// packets could have come.
struct PictureClock: Sendable {
  private let clockRate: Int64
  private var unwrapper = SerialUnwrapper<UInt32>()
  private var fastest = FastestTransit()

  init(clockRate: Int) {
    self.clockRate = Int64(max(1, clockRate))
  }

  /// - Parameter timestamp: of a packet that was not sent again.
  mutating func noteArrival(of timestamp: UInt32, now: Instant) {
    fastest.add(now.nanoseconds &- nanoseconds(unwrapper.unwrap(timestamp)), at: now.nanoseconds)
  }

  /// The time until the picture is to be shown with this delay; zero or less when that is over.
  func wait(for timestamp: UInt32, delay: Duration, now: Instant) -> Duration {
    var unwrapper = unwrapper
    let due = nanoseconds(unwrapper.unwrap(timestamp)) &+ fastest.value &+ delay.nanoseconds
    return Instant(nanoseconds: due) - now
  }

  private func nanoseconds(_ units: Int64) -> Int64 {
    let (seconds, rest) = units.quotientAndRemainder(dividingBy: clockRate)
    return seconds &* 1_000_000_000 &+ rest &* 1_000_000_000 / clockRate
  }
}
