internal import Wire

/// A histogram of picture delays in whole milliseconds: percentiles over any time in bounded memory.
public struct LatencyHistogram: Sendable {
  private var counts = [UInt32](repeating: 0, count: maximumMilliseconds + 1)
  public private(set) var total = 0
  /// Longer delays count as this.
  private static let maximumMilliseconds = 4000

  mutating func add(milliseconds: Int) {
    counts[min(max(0, milliseconds), Self.maximumMilliseconds)] += 1
    total += 1
  }

  /// The smallest delay that `share` (0...1) of all pictures did not exceed; nil without pictures.
  public func percentile(_ share: Double) -> Int? {
    guard total > 0 else { return nil }
    let rank = max(1, Int(saturating: (share * Double(total)).rounded(.up)))
    var seen = 0
    for (milliseconds, count) in counts.enumerated() {
      seen += Int(count)
      if seen >= rank { return milliseconds }
    }
    return Self.maximumMilliseconds
  }

  mutating func reset() {
    guard total > 0 else { return }
    self = LatencyHistogram()
  }
}
