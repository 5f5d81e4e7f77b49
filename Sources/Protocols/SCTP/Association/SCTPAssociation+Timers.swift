import Wire

extension SCTPAssociation {
  /// When `handleTimeout` is due. Valid after `nextPacket` was drained.
  var nextDeadline: Instant? {
    if isClosed { return nil }
    var next = timers.handshake
    next.bringForward(to: timers.retransmission)
    next.bringForward(to: timers.heartbeat)
    next.bringForward(to: reset.deadline)
    next.bringForward(to: receiver.deadline)
    return next
  }

  mutating func handleTimeout(now: Instant) {
    begin(now)
    if timers.handshake.isDue(at: now) { handshakeTimedOut() }
    guard openPeer() != nil else { return }
    receiver.handleTimeout(now: now)
    if timers.retransmission.isDue(at: now) { retransmissionTimedOut() }
    if reset.deadline.isDue(at: now) { resetTimedOut() }
    if timers.heartbeat.isDue(at: now) { heartbeatDue() }
  }

  /// T3-rtx. RFC 9260 section 6.3.3.
  private mutating func retransmissionTimedOut() {
    timers.retransmission = nil
    guard sender.needsTimer else { return }
    // Section 6.1: a peer that keeps answering while its window is zero is not dead.
    let isAliveButFull = sender.isProbingWindow && hasHeardSinceTimeout
    hasHeardSinceTimeout = false
    timeout.backOff()
    if !isAliveButFull, !countError() { return }
    sender.timedOut(now: now)
    timers.retransmission = sender.needsTimer ? now + timeout.current : nil
    advanceShutdown()
  }

  /// Counts a timeout without a sign of life; false if it was one too many and ended the association.
  mutating func countError() -> Bool {
    errorCount += 1
    if errorCount <= configuration.maximumRetransmissions { return true }
    close(.peerUnreachable)
    return false
  }

  /// RFC 9260 section 8.3.
  mutating func scheduleHeartbeat() {
    guard configuration.heartbeatInterval > .zero else { return }
    timers.heartbeat = now + configuration.heartbeatInterval
  }

  private mutating func heartbeatDue() {
    timers.heartbeat = nil
    switch phase {
    case .established, .shutdownPending, .shutdownReceived: break
    case .shutdownSent, .shutdownAckSent, nil: return
    }
    // Data in flight already detects a dead peer.
    guard !sender.needsTimer else {
      heartbeatInFlight = nil
      scheduleHeartbeat()
      return
    }
    if heartbeatInFlight != nil {
      // The last one went unanswered: retry soon, so that silence is noticed as fast as with data.
      timeout.backOff()
      guard countError() else { return }
    }
    let nonce = random.next()
    heartbeatInFlight = (nonce, now)
    var writer = ByteWriter()
    var info = ByteWriter()
    info.write(nonce)
    // RFC 9260 section 3.3.5: the only parameter is Heartbeat Info, type 1.
    writer.writeParameter(1, info.bytes)
    queueControl(type: ChunkType.heartbeat, value: writer.bytes)
    timers.heartbeat = now + timeout.current
  }
}
