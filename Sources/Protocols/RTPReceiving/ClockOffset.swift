import Wire

/// How our clock relates to a sender's, by its reports: each says what time it was there when it left (RFC 3550 section
/// 6.4.1). The fastest of the last ones took about half of the least round trip.
struct ClockOffset: Sendable {
  private struct Sample: Sendable {
    /// Our time of arrival minus the sender's time of sending.
    var difference: Duration
    /// As known then; nil before it was measured.
    var roundTrip: Duration?
  }

  /// The oldest first.
  private var samples: [Sample] = []

  private static let remembered = 16
  /// No report is so much later than another: somebody has set the sender's clock.
  private static let step = Duration.seconds(3)

  mutating func note(sentAt theirs: Instant, arrivedAt ours: Instant, roundTrip: Duration?) {
    let difference = ours - theirs
    if let last = samples.last, max(difference - last.difference, last.difference - difference) > Self.step {
      samples.removeAll()
    }
    if samples.count >= Self.remembered { samples.removeFirst() }
    samples.append(Sample(difference: difference, roundTrip: roundTrip))
  }

  /// Our time minus the sender's; nil before the first report with a known round trip.
  var value: Duration? {
    guard let difference = samples.lazy.map(\.difference).min(), let trip = samples.lazy.compactMap(\.roundTrip).min()
    else { return nil }
    return difference - trip / 2
  }
}
