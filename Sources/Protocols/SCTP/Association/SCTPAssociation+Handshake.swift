import Wire

/// INIT, INIT ACK, COOKIE ECHO, COOKIE ACK. RFC 9260 sections 5.1 and 5.2.
extension SCTPAssociation {
  /// Sends INIT. Ignored once a handshake has started.
  mutating func connect(now: Instant) {
    begin(now)
    guard case .idle = state else { return }
    sendInit(attempts: 0)
  }

  /// The same chunk each time: RFC 9260 section 5.1, a repeated INIT keeps tag and TSN.
  private var initiation: InitiationChunk {
    InitiationChunk(
      tag: localTag, advertisedWindow: UInt32(truncatingIfNeeded: configuration.window),
      outboundStreams: max(1, configuration.maximumStreams), inboundStreams: max(1, configuration.maximumStreams),
      initialTSN: localInitialTSN, supportsForwardTSN: true, supportsReconfiguration: true)
  }

  private mutating func sendInit(attempts: Int) {
    state = .cookieWait(attempts: attempts)
    let chunk = initiation
    queueDirect(tag: 0) { chunk.write(to: &$0, type: ChunkType.initiation) }
    timers.handshake = now + handshakeDelay(attempts)
  }

  func handshakeDelay(_ attempts: Int) -> Duration {
    min(
      configuration.initialRetransmissionTimeout * (1 << min(attempts, 20)), configuration.maximumRetransmissionTimeout)
  }

  mutating func handleInit(_ chunk: InitiationChunk) {
    switch state {
    case .idle, .cookieWait, .cookieEchoed:
      if chunk.isRefused {
        queueDirect(tag: chunk.tag) { packet in
          packet.append(type: ChunkType.abort) { $0.writeParameter(ErrorCause.unresolvableAddress, []) }
        }
        return
      }
      // Section 5.2.1: when both ends send INIT at the same time, each answers with its own tag and TSN unchanged, and
      // whichever cookie comes back first establishes the association.
      var answer = initiation
      let cookie = StateCookie(
        createdAt: now, localTag: localTag, peer: Peer(chunk, configuration: configuration))
      answer.cookie = cookie.sealed(key: cookieKey, hashes: hashes)[...]
      answer.unrecognized = chunk.unrecognized
      queueDirect(tag: chunk.tag) { answer.write(to: &$0, type: ChunkType.initiationAck) }
    case .open, .closed:
      // Section 5.2.2 would let a restarted peer start over. Inside DTLS such a peer has a new DTLS association, so
      // this is a late duplicate that was answered long ago.
      discardPacket()
    }
  }

  mutating func handleInitAck(_ chunk: InitiationChunk) {
    // Section 5.2.3: outside COOKIE-WAIT it is a duplicate.
    guard case .cookieWait = state else { return }
    guard !chunk.isRefused, let cookie = chunk.cookie, !cookie.isEmpty,
      cookie.count <= configuration.packetSize - Packet.headerSize - 4
    else { return }
    sendCookie(Peer(chunk, configuration: configuration), Array(cookie), attempts: 0)
  }

  private mutating func sendCookie(_ peer: Peer, _ cookie: [UInt8], attempts: Int) {
    state = .cookieEchoed(peer, cookie: cookie, attempts: attempts)
    queueDirect(tag: peer.tag) { $0.append(RawChunk(type: ChunkType.cookieEcho, flags: 0, value: cookie[...])) }
    timers.handshake = now + handshakeDelay(attempts)
  }

  /// False if the rest of the packet must be ignored.
  mutating func handleCookieEcho(_ sealed: ArraySlice<UInt8>) -> Bool {
    // Section 5.1.5: a cookie that we did not seal is silently dropped.
    guard let cookie = StateCookie(sealed: sealed, key: cookieKey, hashes: hashes), cookie.localTag == localTag else {
      return false
    }
    switch state {
    case .open(let peer, _):
      // Section 5.2.4 case D: our COOKIE ACK was lost.
      guard peer.tag == cookie.peer.tag else { return false }
      queueControl(type: ChunkType.cookieAck)
      return true
    case .closed: return false
    case .idle, .cookieWait, .cookieEchoed: break
    }
    let age = now - cookie.createdAt
    guard age <= configuration.cookieLifetime else {
      // Section 5.1.5 step 3. The measure of staleness is in microseconds.
      let staleness = (age - configuration.cookieLifetime).nanoseconds / 1000
      var measure = ByteWriter()
      measure.write(UInt32(clamping: staleness))
      queueDirect(tag: cookie.peer.tag) { packet in
        packet.append(type: ChunkType.error) { $0.writeParameter(ErrorCause.staleCookie, measure.bytes) }
      }
      return false
    }
    establish(cookie.peer)
    queueControl(type: ChunkType.cookieAck)
    return true
  }

  mutating func handleCookieAck() {
    guard case .cookieEchoed(let peer, _, _) = state else { return }
    establish(peer)
  }

  /// The cookie that we echoed was stale: start over with INIT. Section 5.2.6.
  mutating func handleStaleCookie() {
    guard case .cookieEchoed(_, _, let attempts) = state else { return }
    guard attempts < configuration.maximumInitRetransmissions else {
      close(.handshakeTimedOut)
      return
    }
    sendInit(attempts: attempts + 1)
  }

  private mutating func establish(_ peer: Peer) {
    state = .open(peer, .established)
    timers.handshake = nil
    errorCount = 0
    sender.start(with: peer)
    receiver = DataReceiver(initialTSN: peer.initialTSN, configuration: configuration)
    reset.start(peerInitialTSN: peer.initialTSN)
    scheduleHeartbeat()
    events.append(.connected)
  }

  /// T1-init, T1-cookie and T2-shutdown. Sections 5.1 and 9.2.
  mutating func handshakeTimedOut() {
    timers.handshake = nil
    switch state {
    case .cookieWait(let attempts):
      guard attempts < configuration.maximumInitRetransmissions else { return close(.handshakeTimedOut) }
      sendInit(attempts: attempts + 1)
    case .cookieEchoed(let peer, let cookie, let attempts):
      guard attempts < configuration.maximumInitRetransmissions else { return close(.handshakeTimedOut) }
      sendCookie(peer, cookie, attempts: attempts + 1)
    case .open(_, .shutdownSent(let attempts)):
      guard attempts < configuration.maximumRetransmissions else { return close(.peerUnreachable) }
      sendShutdown(attempts: attempts + 1)
    case .open(_, .shutdownAckSent(let attempts)):
      guard attempts < configuration.maximumRetransmissions else { return close(.peerUnreachable) }
      sendShutdownAck(attempts: attempts + 1)
    case .idle, .open, .closed: break
    }
  }
}
