import Wire

/// Stops a stream that does not arrive, though the peer still consents to be sent to (RFC 7675): nothing that a congestion
/// control could make better, only traffic. RFC 8083 section 4, its rules of RTCP timeout and of media timeout.
///
/// The RFC ends the session. Here the session, ICE and the other streams go on, and the stream is tried again after a pause:
/// the peer connects again by itself in any case, and a try costs less than a new session. While ICE has lost the path
/// nothing counts; consent decides then.
struct CircuitBreaker: Sendable {
  private enum State: Sendable {
    /// With when the first packet was sent that nothing was heard of, and how many.
    case closed(unansweredSince: Instant?, packets: Int)
    case open(until: Instant)
  }

  private var state = State.closed(unansweredSince: nil, packets: 0)
  private var pause = shortestPause
  /// It was open, and nothing has arrived since.
  private var isOnTrial = false

  /// Three intervals of reports (RFC 8083 section 4) as receivers of sound alone send them (RFC 3550 section 6.2: 5 s).
  static let patience = Duration.seconds(15)
  /// One such interval, with its random part.
  static let trialPatience = Duration.seconds(8)
  /// Fewer may all be lost by chance.
  static let fewestPackets = 3
  private static let shortestPause = Duration.seconds(10)
  private static let longestPause = Duration.seconds(60)

  var isOpen: Bool { if case .open = state { true } else { false } }

  /// Whether something may be sent. Closes when the pause is over.
  mutating func admits(now: Instant) -> Bool {
    guard case .open(let until) = state else { return true }
    guard now >= until else { return false }
    state = .closed(unansweredSince: nil, packets: 0)
    return true
  }

  /// A packet of the stream is sent; opens when nothing has arrived for too long.
  mutating func noteSent(now: Instant) {
    guard case .closed(let since, let packets) = state else { return }
    guard let since else {
      state = .closed(unansweredSince: now, packets: 1)
      return
    }
    guard now - since >= (isOnTrial ? Self.trialPatience : Self.patience), packets >= Self.fewestPackets else {
      state = .closed(unansweredSince: since, packets: packets &+ 1)
      return
    }
    state = .open(until: now + pause)
    pause = min(pause * 2, Self.longestPause)
    isOnTrial = true
  }

  /// Packets of the stream are shown to have arrived.
  mutating func noteArrived() { self = CircuitBreaker() }

  /// The path was interrupted, or the peer was silent and speaks again: what was sent before says nothing about now.
  mutating func beginAnew() { self = CircuitBreaker() }

  /// The rule of congestion, RFC 8083 section 4.3: no more than ten times what TCP would reach on this path, bits per second.
  /// Where the RFC stops a sender that exceeds it, this bounds the target, so that it never does. Nil: no bound.
  ///
  /// - Parameters:
  ///   - fractionLost: over several intervals of reports, 0...1.
  ///   - packetBytes: the mean size of packets.
  static func congestionLimit(fractionLost: Double, roundTripTime: Duration, packetBytes: Double) -> Double? {
    guard fractionLost > tolerated, roundTripTime > .zero else { return nil }
    let tcp = packetBytes * 8 / (roundTripTime.inSeconds * (fractionLost * 2 / 3).squareRoot())
    return 10 * tcp
  }

  /// Below it chance decides, and ten times TCP is more than any camera sends.
  private static let tolerated = 0.05
}
