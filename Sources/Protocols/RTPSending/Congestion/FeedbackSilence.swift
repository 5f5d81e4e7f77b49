import Wire

/// Packets are sent, and no feedback comes: that counts as congestion, too. A fifth less after a second, and again every half second,
/// to a quarter. A path that carries nothing at all is interrupted, not narrow: when it is back, it mostly carries what it did before,
/// and where it does not, the first feedback says so.
struct FeedbackSilence: Sendable {
  /// When it is next looked whether feedback has come; nil: nothing is unanswered.
  private(set) var deadline: Instant?
  /// What it may lower the rate to, bits per second; nil without one.
  private var floor: Double?

  private static let patience = Duration.seconds(1)
  static let step = Duration.milliseconds(500)
  private static let decrease = 0.8
  private static let floorShare = 0.25

  var isNoticed: Bool { floor != nil }

  mutating func noteSent(now: Instant) {
    if deadline == nil { deadline = now + Self.patience }
  }

  /// Feedback has come. Gives back whether there was a silence before.
  mutating func end() -> Bool {
    defer { self = Self() }
    return isNoticed
  }

  /// The bound for the rate if a step is due, bits per second.
  mutating func bound(rate: Double, target: Double, now: Instant) -> Double? {
    guard let due = deadline, now >= due else { return nil }
    deadline = now + Self.step
    let floor = floor ?? target * Self.floorShare
    self.floor = floor
    return max(floor, rate * Self.decrease)
  }
}
