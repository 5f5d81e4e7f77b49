import Wire

/// SHUTDOWN and ABORT. RFC 9260 section 9.
extension SCTPAssociation {
  /// Delivers what is queued, then ends the association. Section 9.2.
  mutating func shutdown(now: Instant) {
    begin(now)
    switch state {
    case .idle, .cookieWait, .cookieEchoed: close(.aborted)
    case .open(_, .established):
      setPhase(.shutdownPending)
      advanceShutdown()
    case .open, .closed: break
    }
  }

  /// Ends the association at once. Section 9.1.
  mutating func abort(cause: UInt16, text: String, reason: AssociationCloseReason, now: Instant) {
    begin(now)
    if let peer {
      let information = Array(text.utf8.prefix(120))
      queueDirect(tag: peer.tag) { packet in
        packet.append(type: ChunkType.abort) { $0.writeParameter(cause, information) }
      }
    }
    close(reason)
  }

  mutating func violation(_ text: String) {
    abort(cause: ErrorCause.protocolViolation, text: text, reason: .protocolViolation(text), now: now)
  }

  mutating func close(_ reason: AssociationCloseReason) {
    if isClosed { return }
    state = .closed
    timers = Timers()
    reset.deadline = nil
    control.removeAll()
    sender.queue.removeAll()
    events.append(.closed(reason))
  }

  /// Continues a shutdown once everything is acknowledged.
  mutating func advanceShutdown() {
    guard sender.isDone else { return }
    switch phase {
    case .shutdownPending: sendShutdown(attempts: 0)
    case .shutdownReceived: sendShutdownAck(attempts: 0)
    default: break
    }
  }

  mutating func sendShutdown(attempts: Int) {
    setPhase(.shutdownSent(attempts: attempts))
    timers.retransmission = nil
    timers.handshake = now + min(timeout.current * (1 << min(attempts, 20)), configuration.maximumRetransmissionTimeout)
    queueShutdown()
  }

  private mutating func queueShutdown() {
    var writer = ByteWriter()
    writer.write(receiver.tsns.cumulativeTSN)
    queueControl(type: ChunkType.shutdown, value: writer.bytes)
  }

  mutating func sendShutdownAck(attempts: Int) {
    setPhase(.shutdownAckSent(attempts: attempts))
    timers.retransmission = nil
    timers.handshake = now + min(timeout.current * (1 << min(attempts, 20)), configuration.maximumRetransmissionTimeout)
    queueControl(type: ChunkType.shutdownAck)
  }

  /// Data that arrives after we sent SHUTDOWN is answered with SHUTDOWN and a SACK. Section 9.2.
  mutating func repeatShutdown() {
    receiver.acknowledgeNow()
    queueShutdown()
  }

  mutating func handleShutdown(cumulativeTSN: UInt32) {
    switch phase {
    case .established, .shutdownPending, .shutdownReceived:
      // What is queued is still sent; only new messages are refused from here on.
      setPhase(.shutdownReceived)
      acknowledge(
        SackChunk(
          cumulativeTSN: cumulativeTSN, advertisedWindow: UInt32(clamping: sender.advertisedWindow), gaps: [],
          duplicates: []))
      advanceShutdown()
    case .shutdownSent:
      // Both ends shut down at the same time.
      sendShutdownAck(attempts: 0)
    case .shutdownAckSent, nil: break
    }
  }

  mutating func handleShutdownAck() {
    switch state {
    case .open(let peer, .shutdownSent), .open(let peer, .shutdownAckSent):
      queueDirect(tag: peer.tag) { $0.append(type: ChunkType.shutdownComplete) }
      close(.shutDown)
    case .closed:
      // Section 8.4 rule 5: our SHUTDOWN COMPLETE was lost. Reflects the tag of the received packet.
      let tag = localTag
      queueDirect(tag: tag) { $0.append(type: ChunkType.shutdownComplete, flags: 1) }
    case .idle, .cookieWait, .cookieEchoed, .open: break
    }
  }

  mutating func handleShutdownComplete() {
    if case .shutdownAckSent = phase { close(.shutDown) }
  }
}
