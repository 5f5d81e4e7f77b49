import Wire

/// What a peer without transport-wide feedback says that its path carries (draft-alvestrand-rmcat-remb).
///
/// The receivers that there are (libwebrtc, aiortc) begin with what arrives and go up by a few percent a second, to one and a
/// half times what arrives: of a still picture they report little, whatever the path carries. They go down only when they see a
/// queue. So what they report bounds us when it falls, or when it stays below what is sent.
struct ReceiverMaximum: Sendable {
  /// Bits per second; nil: no bound.
  private(set) var bitsPerSecond: Double?
  private var last: (rate: Double, at: Instant)?
  /// Since when it has been less than what is sent, and what it was then.
  private var short: (rate: Double, since: Instant)?
  private var queueSeenAt: Instant?

  /// Bits per second.
  private static let leastTelling = 50_000.0
  private static let fall = 0.97
  private static let shortShare = 0.9
  private static let shortTime = Duration.seconds(2)
  /// Within that time, a receiver that sees no queue has risen by more.
  private static let rise = 1.1
  /// Of what is sent: the receiver goes up, and would further if more came.
  private static let spare = 1.2
  private static let growth = 0.08
  private static let queueMemory = Duration.seconds(2)
  private static let reportMemory = Duration.seconds(5)

  /// - Parameters:
  ///   - rate: bits per second, as reported.
  ///   - arriving: what arrives there as far as we know, bits per second; nil while unknown.
  mutating func update(rate: Double, arriving: Double?, now: Instant) {
    defer { last = (rate, now) }
    guard let arriving else {
      bitsPerSecond = rate
      return
    }
    // Of a still picture a receiver may report less than its headers.
    guard arriving >= Self.leastTelling else { return }
    let isShort = rate < arriving * Self.shortShare
    guard let last else {
      if isShort { limit(to: rate, now: now) }
      return
    }
    guard rate >= last.rate * Self.fall else { return limit(to: rate, now: now) }
    if isShort {
      let begun = short ?? (rate, now)
      short = begun
      if now - begun.since >= Self.shortTime {
        short = nil
        if rate < begun.rate * Self.rise { return limit(to: rate, now: now) }
      }
    } else {
      short = nil
    }
    guard let bound = bitsPerSecond else { return }
    let grown = bound * (1 + Self.growth * min((now - last.at).inSeconds, 1))
    bitsPerSecond = max(rate, rate > arriving * Self.spare ? grown : bound)
  }

  private mutating func limit(to rate: Double, now: Instant) {
    bitsPerSecond = rate
    queueSeenAt = now
  }

  /// Whether the peer sees a queue; nil where it has not said anything lately.
  func seesQueue(at now: Instant) -> Bool? {
    guard let last, now - last.at < Self.reportMemory else { return nil }
    return queueSeenAt.map { now - $0 < Self.queueMemory } ?? false
  }
}
