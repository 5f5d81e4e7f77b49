import Wire

/// Schedules key-frame requests: at once, then with exponential backoff, until one arrives and helps. RFC 4585 section
/// 6.3.1.
struct KeyFrameRequester: Sendable {
  private let firstInterval: Duration
  private let maximumInterval: Duration
  private var interval: Duration
  private var isWanted = false
  private var askedAt: Instant?
  private var mayAskAt = Instant(nanoseconds: .min)
  private var keyFrameAt: Instant?
  /// The decoder failed on complete frames, so the next complete key frame is not yet proof of recovery.
  private var awaitsProof = false

  /// A key frame has helped if nothing fails for this long after it. A decoder that fails on every one must not request
  /// five a second.
  private static let proof = Duration.seconds(1)

  init(interval: Duration, maximumInterval: Duration) {
    firstInterval = max(interval, .milliseconds(1))
    self.maximumInterval = max(maximumInterval, firstInterval)
    self.interval = firstInterval
  }

  /// Decoding cannot continue, as far as is known.
  ///
  /// - Parameter decoderFailed: on complete frames; otherwise packets were lost.
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

  /// Drops the request, to be made again if needed; the interval stays as it is.
  mutating func forgetWish() {
    isWanted = false
  }

  /// Packets arrive again after an outage: earlier requests or their responses were lost.
  mutating func noteOutageEnd(now: Instant) {
    resetInterval()
    mayAskAt = min(mayAskAt, now)
  }

  /// A frame could be handed out.
  mutating func noteProgress(isKeyFrame: Bool, now: Instant) {
    isWanted = false
    if isKeyFrame { keyFrameAt = now }
    // The next loss is unrelated to the last one.
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
    // A response takes a round trip and the encoder's time: requesting again too early makes a second key frame.
    mayAskAt = now + max(interval, roundTripTime * 3 / 2)
    interval = min(interval * 2, maximumInterval)
    return true
  }

  var nextDeadline: Instant? { isWanted ? mayAskAt : nil }
}
