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

  /// A key frame that nothing goes wrong behind for this time has helped. A decoder that fails on every one must not
  /// ask for five a second.
  private static let proof = Duration.seconds(1)

  init(interval: Duration, maximumInterval: Duration) {
    firstInterval = max(interval, .milliseconds(1))
    self.maximumInterval = max(maximumInterval, firstInterval)
    self.interval = firstInterval
  }

  /// Decoding cannot go on, as far as is known.
  mutating func want(now: Instant) {
    guard !isWanted else { return }
    isWanted = true
    guard let keyFrameAt, now - keyFrameAt >= Self.proof else { return }
    self.keyFrameAt = nil
    interval = firstInterval
    if let askedAt { mayAskAt = min(mayAskAt, askedAt + firstInterval) }
  }

  /// Whether anything is wrong is to be found out anew; the requests stay as far apart as they are.
  mutating func forgetWish() {
    isWanted = false
  }

  /// A frame could be decoded.
  mutating func noteProgress(isKeyFrame: Bool, now: Instant) {
    isWanted = false
    if isKeyFrame { keyFrameAt = now }
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
