import Wire

extension SCTPAssociation {
  /// Handles one packet from DTLS. Whatever it contains, the answer is bounded and nothing traps.
  mutating func handle(packet bytes: [UInt8], now: Instant) {
    begin(now)
    guard bytes.count <= 65535, let packet = try? Packet(bytes), packet.sourcePort == configuration.remotePort,
      packet.destinationPort == configuration.localPort
    else {
      discardPacket()
      return
    }
    packetsReceived &+= 1
    var hasData = false
    for (index, raw) in packet.chunks.enumerated() {
      guard accepts(tag: packet.verificationTag, of: raw, isAlone: packet.chunks.count == 1),
        let chunk = try? Chunk(raw)
      else {
        // RFC 9260 section 8.5 for the tag. What follows a malformed chunk cannot be trusted either.
        discardPacket()
        break
      }
      if index == 0 { hasHeardSinceTimeout = true }
      if raw.type == ChunkType.data { hasData = true }
      if !handle(chunk) { break }
    }
    if hasData, openPeer() != nil {
      receiver.endOfPacket(now: now, delay: configuration.acknowledgementDelay)
      if case .shutdownSent = phase { repeatShutdown() }
    }
    performDeferredReset()
  }

  /// RFC 9260 section 8.5.1.
  private func accepts(tag: UInt32, of chunk: RawChunk, isAlone: Bool) -> Bool {
    switch chunk.type {
    case ChunkType.initiation: return tag == 0 && isAlone
    case ChunkType.abort, ChunkType.shutdownComplete:
      return chunk.flags & 1 == 0 ? tag == localTag : peer.map { $0.tag == tag } ?? false
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
    case .cookieAck: handleCookieAck()
    case .abort(let causes, _):
      guard !isClosed else { return false }
      if case .idle = state { return false }
      close(.abortedByPeer(causes.map(\.description).joined(separator: ", ")))
      return false
    case .error(let causes):
      if causes.contains(where: { $0.code == ErrorCause.staleCookie }) { handleStaleCookie() }
    case .shutdownAck: handleShutdownAck()
    case .shutdownComplete: handleShutdownComplete()
    case .unrecognized(let raw):
      let rule = UnrecognizedRule(chunkType: raw.type)
      if rule.reports, openPeer() != nil { report(raw) }
      return !rule.stops
    case .data, .sack, .heartbeat, .heartbeatAck, .shutdown, .reconfiguration, .forwardTSN:
      guard openPeer() != nil else { return false }
      handleInOpen(chunk)
    }
    return !isClosed
  }

  private mutating func handleInOpen(_ chunk: Chunk) {
    switch chunk {
    case .data(let data): handleData(data)
    case .sack(let sack): acknowledge(sack)
    case .heartbeat(let info):
      // Section 8.3. HEARTBEAT ACK is as long as HEARTBEAT; one that does not fit our packet size is not answered.
      if info.count + 4 + Packet.headerSize <= configuration.packetSize {
        queueControl(type: ChunkType.heartbeatAck, value: Array(info))
      }
    case .heartbeatAck(let info): handleHeartbeatAck(info)
    case .shutdown(let cumulativeTSN): handleShutdown(cumulativeTSN: cumulativeTSN)
    case .reconfiguration(let parameters):
      for parameter in parameters { handle(parameter) }
    case .forwardTSN(let forward):
      guard acceptsData else { return }
      receiver.forward(forward)
      deliver()
    default: break
    }
  }

  /// Section 9.2: a peer sends no more data after SHUTDOWN.
  private var acceptsData: Bool {
    switch phase {
    case .established, .shutdownPending, .shutdownSent: true
    case .shutdownReceived, .shutdownAckSent, nil: false
    }
  }

  private mutating func handleData(_ chunk: DataChunk) {
    guard acceptsData else { return }
    guard !chunk.payload.isEmpty else {
      // Section 6.2.
      var tsn = ByteWriter()
      tsn.write(chunk.tsn)
      let cause = tsn.bytes
      if let peer {
        queueDirect(tag: peer.tag) { packet in
          packet.append(type: ChunkType.abort) { $0.writeParameter(ErrorCause.noUserData, cause) }
        }
      }
      close(.protocolViolation("DATA without user data"))
      return
    }
    guard chunk.streamID < configuration.maximumStreams else {
      // Section 6.5: acknowledged, reported and dropped.
      receiver.skip(chunk.tsn)
      var cause = ByteWriter()
      cause.write(chunk.streamID)
      cause.write(UInt16(0))
      sendError(ErrorCause.invalidStream, cause.bytes)
      return
    }
    if receiver.receive(chunk) == .tooLong {
      violation("message longer than max-message-size")
      return
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

  mutating func acknowledge(_ sack: SackChunk) {
    guard let result = sender.handle(sack, now: now) else { return }
    if let roundTrip = result.roundTrip { timeout.measured(roundTrip) }
    if result.movedOn {
      errorCount = 0
      timeout.progressed()
      // Section 6.3.2 rules R2 and R3.
      timers.retransmission = sender.needsTimer ? now + timeout.current : nil
    } else if !sender.needsTimer {
      timers.retransmission = nil
    } else if timers.retransmission == nil {
      // Rule R4: the peer reneged on a gap block, so there is something to wait for again.
      timers.retransmission = now + timeout.current
    }
    advanceShutdown()
  }

  private mutating func handleHeartbeatAck(_ info: ArraySlice<UInt8>) {
    var reader = ByteReader(info)
    // Type and length of the parameter come first.
    guard let heartbeat = heartbeatInFlight, (try? reader.skip(4)) != nil, let nonce = try? reader.readUInt64(),
      nonce == heartbeat.nonce
    else { return }
    heartbeatInFlight = nil
    errorCount = 0
    timeout.measured(now - heartbeat.sentAt)
    scheduleHeartbeat()
  }

  private mutating func report(_ chunk: RawChunk) {
    // The chunk header identifies it; echoing the whole chunk would let garbage cause traffic.
    var cause = ByteWriter()
    cause.write(chunk.type)
    cause.write(chunk.flags)
    cause.write(UInt16(truncatingIfNeeded: 4 + chunk.value.count))
    sendError(ErrorCause.unrecognizedChunk, cause.bytes)
  }

  private mutating func sendError(_ code: UInt16, _ information: [UInt8]) {
    guard errorRepliesLeft > 0 else { return }
    errorRepliesLeft -= 1
    var writer = ByteWriter()
    writer.writeParameter(code, information)
    queueControl(type: ChunkType.error, value: writer.bytes)
  }
}
