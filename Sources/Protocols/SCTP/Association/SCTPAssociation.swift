import Wire

/// One SCTP association inside DTLS: RFC 9260 as profiled by RFC 8261 and RFC 8831. One path, no addresses, and one tag
/// for its whole life, because a restarted peer has a new DTLS association.
struct SCTPAssociation: Sendable {
  enum Event: Sendable {
    case connected
    case message(ReceivedMessage)
    /// The peer reset its outgoing streams; nil: all of them.
    case incomingReset([UInt16]?)
    /// Our outgoing streams are reset, or the peer refused to.
    case outgoingReset([UInt16])
    case closed(AssociationCloseReason)
  }

  private let configuration: SCTPConfiguration
  private let hashes: any Hashes
  let localTag: UInt32
  let localInitialTSN: UInt32
  private let cookieKey: [UInt8]
  private(set) var state = AssociationState.idle
  /// T1-init, T1-cookie and T2-shutdown never run together, so they share this.
  private var handshakeDeadline: Instant?
  /// T3-rtx.
  private var retransmissionDeadline: Instant?
  private(set) var path: PathMonitor
  var sender: DataSender
  var receiver: DataReceiver
  var reset: StreamReset
  private var control: ControlQueue
  var events = FIFO<Event>()
  private var nextMessageNumber: UInt64 = 0
  /// The time of the last call, for packets that are built when they are polled.
  private(set) var now = Instant.zero
  /// Data packets that may still be sent before the next event.
  private var burstLeft = 0
  private(set) var packetsSent: UInt64 = 0
  private(set) var packetsReceived: UInt64 = 0
  private(set) var packetsDiscarded: UInt64 = 0

  init(
    configuration: SCTPConfiguration, hashes: any Hashes, random: any RandomNumberGenerator & Sendable,
    initialTSN: UInt32? = nil
  ) {
    var random = random
    self.configuration = configuration
    self.hashes = hashes
    localTag = UInt32.random(in: 1 ... .max, using: &random)
    localInitialTSN = initialTSN ?? UInt32.random(in: 0 ... .max, using: &random)
    cookieKey = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    path = PathMonitor(configuration: configuration, random: random)
    control = ControlQueue(configuration: configuration)
    sender = DataSender(initialTSN: localInitialTSN, configuration: configuration)
    receiver = DataReceiver(initialTSN: 0, configuration: configuration)
    reset = StreamReset(initialTSN: localInitialTSN)
  }

  /// Called first by every entry point.
  private mutating func begin(_ now: Instant) {
    self.now = now
    burstLeft = max(1, configuration.maximumBurst)
  }

  // MARK: - Messages

  mutating func send(
    _ payload: [UInt8], payloadProtocolID: UInt32, on streamID: UInt16, parameters: DataChannelParameters?,
    isUserData: Bool, now: Instant
  ) {
    begin(now)
    var message = OutgoingMessage(
      number: nextMessageNumber, streamID: streamID, payloadProtocolID: payloadProtocolID, payload: payload,
      isOrdered: parameters?.isOrdered ?? true, isUserData: isUserData)
    nextMessageNumber += 1
    switch parameters?.reliability {
    case .maxRetransmits(let count): message.maximumRetransmissions = count
    case .maxPacketLifeTime(let milliseconds): message.expiresAt = now + .milliseconds(Int64(milliseconds))
    case .reliable, nil: break
    }
    sender.queue.append(message)
  }

  /// Resets our outgoing stream once everything queued on it has been sent.
  mutating func resetStream(_ id: UInt16, now: Instant) {
    begin(now)
    if let peer = state.openPeer, !peer.supportsReconfiguration {
      events.append(.outgoingReset([id]))
    } else {
      reset.want(id)
    }
  }

  // MARK: - Handshake, RFC 9260 sections 5.1 and 5.2

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
    control.appendPacket(tag: 0) { chunk.write(to: &$0, type: ChunkType.initiation) }
    startTimer(configuration.initialRetransmissionTimeout, attempts: attempts)
  }

  /// Starts T1-init, T1-cookie or T2-shutdown.
  private mutating func startTimer(_ delay: Duration, attempts: Int) {
    handshakeDeadline = now + min(delay * (1 << min(attempts, 20)), configuration.maximumRetransmissionTimeout)
  }

  private mutating func handleInit(_ chunk: InitiationChunk) {
    switch state {
    case .idle, .cookieWait, .cookieEchoed:
      if chunk.isRefused {
        control.appendPacket(tag: chunk.tag) { packet in
          packet.append(type: ChunkType.abort) { $0.writeParameter(ErrorCause.unresolvableAddress, []) }
        }
        return
      }
      // Section 5.2.1: when both ends send INIT at the same time, each answers with its own tag and TSN unchanged, and
      // whichever cookie comes back first establishes the association.
      var answer = initiation
      let cookie = StateCookie(createdAt: now, localTag: localTag, peer: Peer(chunk, configuration: configuration))
      answer.cookie = cookie.sealed(key: cookieKey, hashes: hashes)[...]
      answer.unrecognized = chunk.unrecognized
      control.appendPacket(tag: chunk.tag) { answer.write(to: &$0, type: ChunkType.initiationAck) }
    case .open, .closed:
      // Section 5.2.2 would let a restarted peer start over. Inside DTLS such a peer has a new DTLS association, so
      // this is a late duplicate that was answered long ago.
      packetsDiscarded &+= 1
    }
  }

  private mutating func handleInitAck(_ chunk: InitiationChunk) {
    // Section 5.2.3: outside COOKIE-WAIT it is a duplicate.
    guard case .cookieWait = state else { return }
    guard !chunk.isRefused, let cookie = chunk.cookie, !cookie.isEmpty,
      cookie.count <= configuration.packetSize - Packet.headerSize - 4
    else { return }
    sendCookie(Peer(chunk, configuration: configuration), Array(cookie), attempts: 0)
  }

  private mutating func sendCookie(_ peer: Peer, _ cookie: [UInt8], attempts: Int) {
    state = .cookieEchoed(peer, cookie: cookie, attempts: attempts)
    control.appendPacket(tag: peer.tag) {
      $0.append(RawChunk(type: ChunkType.cookieEcho, flags: 0, value: cookie[...]))
    }
    startTimer(configuration.initialRetransmissionTimeout, attempts: attempts)
  }

  /// False if the rest of the packet must be ignored.
  private mutating func handleCookieEcho(_ sealed: ArraySlice<UInt8>) -> Bool {
    // Section 5.1.5: a cookie that we did not seal is silently dropped.
    guard let cookie = StateCookie(sealed: sealed, key: cookieKey, hashes: hashes), cookie.localTag == localTag else {
      return false
    }
    switch state {
    case .open(let peer, _):
      // Section 5.2.4 case D: our COOKIE ACK was lost.
      guard peer.tag == cookie.peer.tag else { return false }
      control.append(type: ChunkType.cookieAck)
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
      control.appendPacket(tag: cookie.peer.tag) { packet in
        packet.append(type: ChunkType.error) { $0.writeParameter(ErrorCause.staleCookie, measure.bytes) }
      }
      return false
    }
    establish(cookie.peer)
    control.append(type: ChunkType.cookieAck)
    return true
  }

  /// The cookie that we echoed was stale: start over with INIT. Section 5.2.6.
  private mutating func handleStaleCookie() {
    guard case .cookieEchoed(_, _, let attempts) = state else { return }
    guard attempts < configuration.maximumInitRetransmissions else { return close(.handshakeTimedOut) }
    sendInit(attempts: attempts + 1)
  }

  private mutating func establish(_ peer: Peer) {
    state = .open(peer, .established)
    handshakeDeadline = nil
    sender.start(with: peer)
    receiver = DataReceiver(initialTSN: peer.initialTSN, configuration: configuration)
    reset.start(peerInitialTSN: peer.initialTSN)
    path.scheduleHeartbeat(now: now)
    events.append(.connected)
  }

  /// T1-init, T1-cookie and T2-shutdown. Sections 5.1 and 9.2.
  private mutating func handshakeTimedOut() {
    handshakeDeadline = nil
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

  // MARK: - Receiving

  /// Handles one packet from DTLS. Whatever it contains, the answer is bounded and nothing traps.
  mutating func handle(packet bytes: [UInt8], now: Instant) {
    begin(now)
    guard bytes.count <= 65535, let packet = try? Packet(bytes), packet.sourcePort == configuration.remotePort,
      packet.destinationPort == configuration.localPort
    else {
      packetsDiscarded &+= 1
      return
    }
    packetsReceived &+= 1
    var hasData = false
    for (index, raw) in packet.chunks.enumerated() {
      guard accepts(tag: packet.verificationTag, of: raw, isAlone: packet.chunks.count == 1),
        let chunk = try? Chunk(raw)
      else {
        // RFC 9260 section 8.5 for the tag. What follows a malformed chunk cannot be trusted either.
        packetsDiscarded &+= 1
        break
      }
      if index == 0 { path.packetArrived() }
      if raw.type == ChunkType.data { hasData = true }
      if !handle(chunk) { break }
    }
    if hasData, state.openPeer != nil {
      receiver.endOfPacket(now: now, delay: configuration.acknowledgementDelay)
      if case .shutdownSent = state.phase {
        // Section 9.2: answered with SHUTDOWN and a SACK.
        receiver.acknowledgeNow()
        queueShutdown()
      }
    }
    performDeferredReset()
  }

  /// RFC 9260 section 8.5.1.
  private func accepts(tag: UInt32, of chunk: RawChunk, isAlone: Bool) -> Bool {
    switch chunk.type {
    case ChunkType.initiation: return tag == 0 && isAlone
    case ChunkType.abort, ChunkType.shutdownComplete:
      return chunk.flags & 1 == 0 ? tag == localTag : state.peer.map { $0.tag == tag } ?? false
    default: return tag == localTag
    }
  }

  /// False if the rest of the packet must be ignored.
  private mutating func handle(_ chunk: Chunk) -> Bool {
    switch chunk {
    case .initiation(let initiation):
      handleInit(initiation)
      return false
    case .initiationAck(let initiation):
      handleInitAck(initiation)
      return false
    case .cookieEcho(let cookie): return handleCookieEcho(cookie)
    case .cookieAck: if case .cookieEchoed(let peer, _, _) = state { establish(peer) }
    case .abort(let causes, _):
      guard !state.isClosed else { return false }
      if case .idle = state { return false }
      close(.abortedByPeer(causes.map(\.description).joined(separator: ", ")))
      return false
    case .error(let causes):
      if causes.contains(where: { $0.code == ErrorCause.staleCookie }) { handleStaleCookie() }
    case .shutdownAck: handleShutdownAck()
    case .shutdownComplete: if case .shutdownAckSent = state.phase { close(.shutDown) }
    case .unrecognized(let raw):
      let rule = UnrecognizedRule(chunkType: raw.type)
      if rule.reports, state.openPeer != nil {
        // The chunk header identifies it; echoing the whole chunk would let garbage cause traffic.
        control.appendError(ErrorCause.unrecognizedChunk) {
          $0.write(raw.type)
          $0.write(raw.flags)
          $0.write(UInt16(truncatingIfNeeded: 4 + raw.value.count))
        }
      }
      return !rule.stops
    case .data, .sack, .heartbeat, .heartbeatAck, .shutdown, .reconfiguration, .forwardTSN:
      guard state.openPeer != nil else { return false }
      handleInOpen(chunk)
    }
    return !state.isClosed
  }

  private mutating func handleInOpen(_ chunk: Chunk) {
    switch chunk {
    case .data(let data): handleData(data)
    case .sack(let sack): acknowledge(sack)
    case .heartbeat(let info):
      // Section 8.3. HEARTBEAT ACK is as long as HEARTBEAT; one that does not fit our packet size is not answered.
      if info.count + 4 + Packet.headerSize <= configuration.packetSize {
        control.append(type: ChunkType.heartbeatAck) { $0.write(contentsOf: info) }
      }
    case .heartbeatAck(let info): path.handleHeartbeatAck(info, now: now)
    case .shutdown(let cumulativeTSN): handleShutdown(cumulativeTSN: cumulativeTSN)
    case .reconfiguration(let parameters):
      for parameter in parameters { handle(parameter) }
    case .forwardTSN(let forward):
      guard state.acceptsData else { return }
      receiver.forward(forward)
      deliver()
    default: break
    }
  }

  private mutating func handleData(_ chunk: DataChunk) {
    guard state.acceptsData else { return }
    guard !chunk.payload.isEmpty else {
      // Section 6.2.
      var tsn = ByteWriter()
      tsn.write(chunk.tsn)
      return abort(ErrorCause.noUserData, tsn.bytes, reason: .protocolViolation("DATA without user data"))
    }
    guard chunk.streamID < configuration.maximumStreams else {
      // Section 6.5: acknowledged, reported and dropped.
      receiver.skip(chunk.tsn)
      control.appendError(ErrorCause.invalidStream) {
        $0.write(chunk.streamID)
        $0.write(UInt16(0))
      }
      return
    }
    if receiver.receive(chunk) == .tooLong {
      let text = "message longer than max-message-size"
      return abort(ErrorCause.protocolViolation, Array(text.utf8), reason: .protocolViolation(text))
    }
    deliver()
  }

  private mutating func deliver() {
    for message in receiver.reassembly.takeReady() {
      receiver.undelivered += message.payload.count + Reassembly.overhead
      events.append(.message(message))
    }
  }

  /// The reader has taken a message, which frees its share of the window.
  mutating func delivered(_ message: ReceivedMessage) {
    receiver.delivered(message.payload.count + Reassembly.overhead)
  }

  private mutating func acknowledge(_ sack: SackChunk) {
    guard let result = sender.handle(sack, now: now) else { return }
    path.acknowledged(result)
    if result.movedOn {
      // Section 6.3.2 rules R2 and R3.
      retransmissionDeadline = sender.needsTimer ? now + path.retransmissionTimeout : nil
    } else if !sender.needsTimer {
      retransmissionDeadline = nil
    } else if retransmissionDeadline == nil {
      // Rule R4: the peer reneged on a gap block, so there is something to wait for again.
      retransmissionDeadline = now + path.retransmissionTimeout
    }
    advanceShutdown()
  }

  // MARK: - Sending

  mutating func nextDirectPacket() -> [UInt8]? {
    guard let packet = control.nextPacket() else { return nil }
    packetsSent &+= 1
    return packet
  }

  /// The next packet that may go out now: control chunks, then a SACK, then data. RFC 9260 section 6.10.
  mutating func nextPacket() -> [UInt8]? {
    if let packet = nextDirectPacket() { return packet }
    guard let peer = state.openPeer else { return nil }
    requestWantedResets()
    // RFC 9260 section 6.1 rule D.
    let sendsData = state.maySendData && burstLeft > 0 && sender.hasSomethingToSend
    let sendsForwardTSN = state.maySendData && sender.mustSendForwardTSN
    guard control.hasChunks || receiver.acknowledging == .now || sendsData || sendsForwardTSN else { return nil }

    var packet = control.packet(tag: peer.tag)
    control.moveChunks(to: &packet)
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

  private mutating func appendForwardTSN(to packet: inout PacketBuilder) {
    guard let chunk = sender.nextForwardTSN(room: packet.room) else { return }
    chunk.write(to: &packet)
    startRetransmissionTimer()
  }

  private mutating func appendData(to packet: inout PacketBuilder) {
    burstLeft -= 1
    while let chunk = sender.nextChunk(room: packet.room, now: now, timeout: path.retransmissionTimeout) {
      chunk.write(to: &packet)
      if chunk.tsn == sender.cumulativeAcked &+ 1 {
        // RFC 9260 section 7.2.4 rule 4: the oldest chunk was sent again, so the timer restarts.
        retransmissionDeadline = now + path.retransmissionTimeout
      }
      startRetransmissionTimer()
    }
    sender.endOfPacket()
    // A message may have been abandoned instead of sent.
    if sender.mustSendForwardTSN, packet.room >= 64 { appendForwardTSN(to: &packet) }
  }

  /// RFC 9260 section 6.3.2 rule R1.
  private mutating func startRetransmissionTimer() {
    if retransmissionDeadline == nil, sender.needsTimer { retransmissionDeadline = now + path.retransmissionTimeout }
  }

  // MARK: - Timers

  /// When `handleTimeout` is due. Valid after `nextPacket` was drained.
  var nextDeadline: Instant? {
    if state.isClosed { return nil }
    var next = handshakeDeadline
    next.bringForward(to: retransmissionDeadline)
    next.bringForward(to: path.heartbeatDeadline)
    next.bringForward(to: reset.deadline)
    next.bringForward(to: receiver.deadline)
    return next
  }

  mutating func handleTimeout(now: Instant) {
    begin(now)
    if handshakeDeadline.isDue(at: now) { handshakeTimedOut() }
    guard state.openPeer != nil else { return }
    receiver.handleTimeout(now: now)
    if retransmissionDeadline.isDue(at: now) { retransmissionTimedOut() }
    if reset.deadline.isDue(at: now) { resetTimedOut() }
    if path.heartbeatDeadline.isDue(at: now) { heartbeatDue() }
  }

  /// T3-rtx. RFC 9260 section 6.3.3.
  private mutating func retransmissionTimedOut() {
    retransmissionDeadline = nil
    guard sender.needsTimer else { return }
    guard path.retransmissionTimedOut(isProbingWindow: sender.isProbingWindow) else { return close(.peerUnreachable) }
    sender.timedOut(now: now)
    retransmissionDeadline = sender.needsTimer ? now + path.retransmissionTimeout : nil
    advanceShutdown()
  }

  /// Section 8.3.
  private mutating func heartbeatDue() {
    guard state.maySendData else { return path.stopHeartbeats() }
    // Data in flight already detects a dead peer.
    guard !sender.needsTimer else { return path.scheduleHeartbeat(now: now) }
    guard let nonce = path.nextHeartbeat(now: now) else { return close(.peerUnreachable) }
    var info = ByteWriter()
    info.write(nonce)
    // Section 3.3.5: the only parameter is Heartbeat Info, type 1.
    control.append(type: ChunkType.heartbeat) { $0.writeParameter(1, info.bytes) }
  }

  // MARK: - Resetting streams, RFC 6525 section 5

  private mutating func handle(_ parameter: ReconfigurationParameter) {
    switch parameter {
    case .outgoingReset(let request):
      let (result, isDue) = reset.handle(request, hasArrived: hasArrived)
      if isDue { perform(request) }
      respond(request.sequence, result)
    case .incomingReset(let sequence), .ssnTSNReset(let sequence), .addIncomingStreams(let sequence):
      // Data channels use none of these: RFC 8831 section 6.2.
      respond(sequence, reset.handle(sequence: sequence, accepted: false))
    case .addOutgoingStreams(let sequence, let count):
      // Streams cost nothing until used, so only the id of each chunk is checked against our limit.
      respond(sequence, reset.handle(sequence: sequence, accepted: count < configuration.maximumStreams))
    case .response(let sequence, let result):
      switch reset.handleResponse(sequence: sequence, result: result) {
      case .ignored: break
      case .inProgress:
        path.answered()
        reset.deadline = now + path.retransmissionTimeout
      case .finished(let ids, let performed):
        path.answered()
        if performed { for id in ids { sender.queue.setNextSequenceNumber(0, of: id) } }
        events.append(.outgoingReset(ids))
      }
    case .unrecognized: break
    }
  }

  private func hasArrived(_ tsn: UInt32) -> Bool {
    receiver.tsns.unwrap(tsn) <= receiver.tsns.cumulative
  }

  private mutating func perform(_ request: StreamReset.Request) {
    let ids = request.streamIDs.isEmpty ? nil : request.streamIDs
    receiver.reassembly.reset(ids)
    events.append(.incomingReset(ids))
  }

  /// The peer's reset waited for data that has now arrived.
  private mutating func performDeferredReset() {
    guard state.openPeer != nil, let request = reset.takeDeferred(hasArrived: hasArrived) else { return }
    perform(request)
    respond(request.sequence, .performed)
  }

  private mutating func respond(_ sequence: UInt32, _ result: ReconfigurationParameter.Result) {
    control.append(type: ChunkType.reconfiguration) { $0.writeResponse(sequence: sequence, result: result) }
  }

  /// Requests a reset of streams whose last message has been assigned its TSN.
  private mutating func requestWantedResets() {
    guard !reset.wanted.isEmpty, reset.pending == nil, let peer = state.openPeer, peer.supportsReconfiguration,
      state.phase == .established || state.phase == .shutdownPending
    else { return }
    let queue = sender.queue
    let limit = min(128, (configuration.packetSize - 64) / 2)
    guard
      let request = reset.makeRequest(
        lastTSN: sender.nextTSN &- 1, limit: limit, isDrained: { !queue.hasMessages(on: $0) })
    else { return }
    sendReset(request)
  }

  private mutating func sendReset(_ request: StreamReset.Request) {
    control.append(type: ChunkType.reconfiguration) { $0.writeReset(request) }
    reset.deadline = now + path.retransmissionTimeout
  }

  /// Section 5.1.1 step C1: the request is retransmitted unchanged, as DATA would be.
  private mutating func resetTimedOut() {
    reset.deadline = nil
    guard let request = reset.pending else { return }
    guard path.timedOut() else { return close(.peerUnreachable) }
    sendReset(request)
  }

  // MARK: - Shutdown and abort, RFC 9260 section 9

  /// Delivers what is queued, then ends the association. Section 9.2.
  mutating func shutdown(now: Instant) {
    begin(now)
    switch state {
    case .idle, .cookieWait, .cookieEchoed: close(.aborted)
    case .open(_, .established):
      state.phase = .shutdownPending
      advanceShutdown()
    case .open, .closed: break
    }
  }

  /// Ends the association at once. Section 9.1.
  mutating func abort(now: Instant) {
    begin(now)
    abort(ErrorCause.userInitiatedAbort, [], reason: .aborted)
  }

  private mutating func abort(_ cause: UInt16, _ information: [UInt8], reason: AssociationCloseReason) {
    if let peer = state.peer {
      control.appendPacket(tag: peer.tag) { packet in
        packet.append(type: ChunkType.abort) { $0.writeParameter(cause, information) }
      }
    }
    close(reason)
  }

  private mutating func close(_ reason: AssociationCloseReason) {
    if state.isClosed { return }
    state = .closed
    reset.deadline = nil
    control.removeChunks()
    sender.queue.removeAll()
    events.append(.closed(reason))
  }

  /// Continues a shutdown once everything is acknowledged.
  private mutating func advanceShutdown() {
    guard sender.isDone else { return }
    switch state.phase {
    case .shutdownPending: sendShutdown(attempts: 0)
    case .shutdownReceived: sendShutdownAck(attempts: 0)
    default: break
    }
  }

  private mutating func sendShutdown(attempts: Int) {
    state.phase = .shutdownSent(attempts: attempts)
    retransmissionDeadline = nil
    startTimer(path.retransmissionTimeout, attempts: attempts)
    queueShutdown()
  }

  private mutating func queueShutdown() {
    let tsn = receiver.tsns.cumulativeTSN
    control.append(type: ChunkType.shutdown) { $0.write(tsn) }
  }

  private mutating func sendShutdownAck(attempts: Int) {
    state.phase = .shutdownAckSent(attempts: attempts)
    retransmissionDeadline = nil
    startTimer(path.retransmissionTimeout, attempts: attempts)
    control.append(type: ChunkType.shutdownAck)
  }

  private mutating func handleShutdown(cumulativeTSN: UInt32) {
    switch state.phase {
    case .established, .shutdownPending, .shutdownReceived:
      // What is queued is still sent; only new messages are refused from here on.
      state.phase = .shutdownReceived
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

  private mutating func handleShutdownAck() {
    switch state {
    case .open(let peer, .shutdownSent), .open(let peer, .shutdownAckSent):
      control.appendPacket(tag: peer.tag) { $0.append(type: ChunkType.shutdownComplete) }
      close(.shutDown)
    case .closed:
      // Section 8.4 rule 5: our SHUTDOWN COMPLETE was lost. Reflects the tag of the received packet.
      control.appendPacket(tag: localTag) { $0.append(type: ChunkType.shutdownComplete, flags: 1) }
    case .idle, .cookieWait, .cookieEchoed, .open: break
    }
  }
}
