import Wire

/// Whether the peer still answers, and how long to wait for it. RFC 9260 sections 6.3 and 8.
struct PathMonitor: Sendable {
  private let configuration: SCTPConfiguration
  private var timeout: RetransmissionTimeout
  /// Consecutive timeouts without a sign of life. Section 8.1.
  private var errorCount = 0
  /// Set by any packet for this association; distinguishes a full window from a dead peer.
  private var hasHeardSinceTimeout = false
  private var random: any RandomNumberGenerator & Sendable
  private var heartbeat: (nonce: UInt64, sentAt: Instant)?
  private(set) var heartbeatDeadline: Instant?

  init(configuration: SCTPConfiguration, random: any RandomNumberGenerator & Sendable) {
    self.configuration = configuration
    self.random = random
    timeout = RetransmissionTimeout(configuration)
  }

  var retransmissionTimeout: Duration { timeout.current }
  var smoothedRoundTrip: Duration? { timeout.smoothed }

  mutating func packetArrived() { hasHeardSinceTimeout = true }
  mutating func answered() { errorCount = 0 }

  mutating func acknowledged(_ result: DataSender.Acknowledgement) {
    if let roundTrip = result.roundTrip { timeout.measured(roundTrip) }
    if result.movedOn {
      answered()
      timeout.progressed()
    }
  }

  /// Counts a timeout without a sign of life; false if it was one too many.
  mutating func timedOut() -> Bool {
    timeout.backOff()
    errorCount += 1
    return errorCount <= configuration.maximumRetransmissions
  }

  /// The same for T3-rtx. Section 6.1: a peer that keeps answering while its window is zero is not dead.
  mutating func retransmissionTimedOut(isProbingWindow: Bool) -> Bool {
    let isAliveButFull = isProbingWindow && hasHeardSinceTimeout
    hasHeardSinceTimeout = false
    guard isAliveButFull else { return timedOut() }
    timeout.backOff()
    return true
  }

  // MARK: - Heartbeats, section 8.3

  mutating func scheduleHeartbeat(now: Instant) {
    heartbeat = nil
    let interval = configuration.heartbeatInterval
    heartbeatDeadline = interval > .zero ? now + interval : nil
  }

  mutating func stopHeartbeats() { heartbeatDeadline = nil }

  /// What the HEARTBEAT that is due has to carry; nil if too many went unanswered.
  mutating func nextHeartbeat(now: Instant) -> UInt64? {
    heartbeatDeadline = nil
    // The last one went unanswered: retry soon, so that silence is noticed as fast as with data.
    if heartbeat != nil, !timedOut() { return nil }
    let nonce = random.next()
    heartbeat = (nonce, now)
    heartbeatDeadline = now + timeout.current
    return nonce
  }

  mutating func handleHeartbeatAck(_ info: ArraySlice<UInt8>, now: Instant) {
    var reader = ByteReader(info)
    // Type and length of the parameter come first.
    guard let heartbeat, (try? reader.skip(4)) != nil, let nonce = try? reader.readUInt64(), nonce == heartbeat.nonce
    else { return }
    answered()
    timeout.measured(now - heartbeat.sentAt)
    scheduleHeartbeat(now: now)
  }
}
