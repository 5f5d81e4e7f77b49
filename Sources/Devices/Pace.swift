internal import Wire

/// Delivery times of a source without its own clock: element n at start + n * interval, so errors do not accumulate.
struct Pace: Sendable {
  private var start: Instant
  /// Seconds between elements, as a fraction.
  private let numerator: Int64
  private let denominator: Int64
  private var count: Int64 = 0
  /// Beyond this lateness (machine suspended, process stopped) the missed elements are skipped.
  private let patience: Duration

  /// `numerator / denominator` seconds between elements; both from 1 to a million.
  init(start: Instant, secondsNumerator: Int, denominator: Int, patience: Duration = .milliseconds(500)) {
    precondition(
      fractionRange.contains(secondsNumerator) && fractionRange.contains(denominator), "the rate has been checked")
    self.start = start
    numerator = Int64(secondsNumerator)
    self.denominator = Int64(denominator)
    self.patience = patience
  }

  /// When the next element is due, and how many before it are skipped.
  mutating func next(now: Instant) -> (deadline: Instant, skipped: UInt64) {
    var skipped: UInt64 = 0
    let late = now - due
    if late > patience {
      skipped = UInt64(late.inSeconds * Double(denominator) / Double(numerator))
      start = now
      count = 0
    }
    let deadline = due
    count += 1
    if count == denominator {
      // A whole number of seconds has passed after this many elements: restart the count there.
      start += .seconds(numerator)
      count = 0
    }
    return (deadline, skipped)
  }

  private var due: Instant {
    let (seconds, rest) = (count * numerator).quotientAndRemainder(dividingBy: denominator)
    return start + .seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / denominator)
  }
}

private let fractionRange = 1...1_000_000
