internal import Wire

/// Counts freezes as W3C webrtc-stats does (`freezeCount`): a picture more than three times the mean interval after the
/// previous one, and at least 150 ms later than the mean, ends a freeze.
struct FreezeDetector: Sendable {
  private(set) var count = 0
  /// `totalFreezesDuration`.
  private(set) var total: Duration = .zero
  private var last: Instant?
  /// The last 30 intervals, for their mean.
  private var intervals: [Duration] = []
  private var next = 0

  mutating func picture(at now: Instant) {
    defer { last = now }
    guard let last else { return }
    let interval = now - last
    if !intervals.isEmpty {
      let mean = intervals.reduce(.zero, +) / intervals.count
      if interval > max(mean * 3, mean + .milliseconds(150)) {
        count += 1
        total += interval
      }
    }
    if intervals.count < 30 {
      intervals.append(interval)
    } else {
      intervals[next] = interval
      next = (next + 1) % 30
    }
  }

  /// The time to the first picture of a new connection is measured separately and is not a freeze.
  mutating func pause() {
    last = nil
    intervals = []
    next = 0
  }
}
