/// The round-trip time of a path, smoothed. RFC 6298 section 2.
package struct RoundTripEstimate: Hashable, Sendable {
  /// Nil before the first measurement.
  package private(set) var smoothed: Duration?
  /// The mean deviation of measurements from `smoothed`.
  package private(set) var variation = Duration.zero

  private var latest = Duration.zero

  package init() {}

  /// Adds one measurement. Each must be added once.
  package mutating func add(_ measured: Duration) {
    let measured = max(measured, .zero)
    latest = measured
    guard let old = smoothed else {
      smoothed = measured
      // RFC 6298 uses half. Nothing here waits as long as TCP does: a request repeated too soon costs one packet, one
      // repeated too late costs a frame.
      variation = measured / 8
      return
    }
    variation = (variation * 3 + max(measured - old, old - measured)) / 4
    smoothed = (old * 7 + measured) / 8
  }

  /// `smoothed`, or the last measurement if longer. For actions where too soon costs more than too late: measurements
  /// may be seconds apart, and the path may have changed.
  package var cautious: Duration? { smoothed.map { max($0, latest) } }

  /// How long to wait for an answer: `smoothed` plus a quarter, or more if measurements vary; at most twice `smoothed`.
  /// Nil before the first measurement.
  package var patience: Duration? {
    smoothed.map { min($0 + max($0 / 4, variation * 2), $0 * 2) }
  }
}
