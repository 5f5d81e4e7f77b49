import Wire

/// When to ask for a key frame: at once, then ever more rarely, until one comes and helps. RFC 4585 section 6.3.1.
struct KeyFrameRequester: Sendable {
  private let firstInterval: Duration
  private let maximumInterval: Duration
  private var interval: Duration
  private var isWanted = false
  private var askedAt: Instant?
  private var mayAskAt = Instant(nanoseconds: .min)
  private var keyFrameAt: Instant?
  /// The decoder failed on what had come whole. That the next key frame comes whole as well does not yet help it.
  private var awaitsProof = false

  /// A key frame that nothing goes wrong behind for this time has helped. A decoder that fails on every one must not
  /// ask for five a second.
  private static let proof = Duration.seconds(1)

  init(interval: Duration, maximumInterval: Duration) {
    firstInterval = max(interval, .milliseconds(1))
    self.maximumInterval = max(maximumInterval, firstInterval)
    self.interval = firstInterval
  }

  /// Decoding cannot go on, as far as is known.
  ///
  /// - Parameter decoderFailed: on frames that came whole; otherwise something was lost on the way.
  mutating func want(now: Instant, decoderFailed: Bool = false) {
    if !isWanted {
      isWanted = true
      if let keyFrameAt, now - keyFrameAt >= Self.proof {
        self.keyFrameAt = nil
        awaitsProof = false
        resetInterval()
      }
    }
    if decoderFailed { awaitsProof = true }
  }

  /// Whether anything is wrong is to be found out anew; the requests stay as far apart as they are.
  mutating func forgetWish() {
    isWanted = false
  }

  /// Nothing came for a while, and now something does: what was asked before got lost, or its answer did.
  mutating func noteOutageEnd(now: Instant) {
    resetInterval()
    mayAskAt = min(mayAskAt, now)
  }

  /// A frame could be handed out.
  mutating func noteProgress(isKeyFrame: Bool, now: Instant) {
    isWanted = false
    if isKeyFrame { keyFrameAt = now }
    // The next loss has nothing to do with the last one.
    if !awaitsProof { resetInterval() }
  }

  private mutating func resetInterval() {
    interval = firstInterval
    if let askedAt { mayAskAt = min(mayAskAt, askedAt + firstInterval) }
  }

  /// Whether to ask now.
  mutating func takeDue(now: Instant, roundTripTime: Duration) -> Bool {
    guard isWanted, now >= mayAskAt else { return false }
    askedAt = now
    // An answer takes a round trip and the encoder's time: asking before it can be there makes a second key frame.
    mayAskAt = now + max(interval, roundTripTime * 3 / 2)
    interval = min(interval * 2, maximumInterval)
    return true
  }

  var nextDeadline: Instant? { isWanted ? mayAskAt : nil }
}
