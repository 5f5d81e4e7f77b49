import Wire

extension SCTPAssociation {
  mutating func nextDirectPacket() -> [UInt8]? {
    guard let packet = directPackets.popFirst() else { return nil }
    packetsSent &+= 1
    return packet
  }

  /// The next packet that may go out now: control chunks, then a SACK, then data. RFC 9260 section 6.10.
  mutating func nextPacket() -> [UInt8]? {
    if let packet = nextDirectPacket() { return packet }
    guard let peer = openPeer() else { return nil }
    requestWantedResets()
    // RFC 9260 section 6.1 rule D.
    let sendsData = maySendData && burstLeft > 0 && sender.hasSomethingToSend
    let sendsForwardTSN = maySendData && sender.mustSendForwardTSN
    guard !control.isEmpty || receiver.acknowledging == .now || sendsData || sendsForwardTSN else { return nil }

    var packet = PacketBuilder(
      sourcePort: configuration.localPort, destinationPort: configuration.remotePort, verificationTag: peer.tag,
      maximumSize: configuration.packetSize)
    while let chunk = control.first, 4 + (chunk.value.count + 3) & ~3 <= packet.room {
      packet.append(chunk)
      _ = control.popFirst()
    }
    // A delayed SACK is bundled with data that is sent anyway.
    if packet.room >= 64, receiver.acknowledging == .now || (sendsData && receiver.acknowledging != .nothing) {
      receiver.makeSack(room: packet.room).write(to: &packet)
    }
    if sendsForwardTSN { appendForwardTSN(to: &packet) }
    if sendsData { appendData(to: &packet) }
    guard !packet.isEmpty else { return nil }
    packetsSent &+= 1
    return packet.finish()
  }

  private var maySendData: Bool {
    switch phase {
    case .established, .shutdownPending, .shutdownReceived: true
    case .shutdownSent, .shutdownAckSent, nil: false
    }
  }

  private mutating func appendForwardTSN(to packet: inout PacketBuilder) {
    guard let chunk = sender.nextForwardTSN(room: packet.room) else { return }
    chunk.write(to: &packet)
    startRetransmissionTimer()
  }

  private mutating func appendData(to packet: inout PacketBuilder) {
    burstLeft -= 1
    while let chunk = sender.nextChunk(room: packet.room, now: now, timeout: timeout.current) {
      chunk.write(to: &packet)
      if chunk.tsn == sender.cumulativeAcked &+ 1 {
        // RFC 9260 section 7.2.4 rule 4: the oldest chunk was sent again, so the timer restarts.
        timers.retransmission = now + timeout.current
      }
      startRetransmissionTimer()
    }
    sender.mayExceedWindow = false
    // A message may have been abandoned instead of sent.
    if sender.mustSendForwardTSN, packet.room >= 64 { appendForwardTSN(to: &packet) }
  }

  /// RFC 9260 section 6.3.2 rule R1.
  private mutating func startRetransmissionTimer() {
    if timers.retransmission == nil, sender.needsTimer { timers.retransmission = now + timeout.current }
  }
}
