import Wire

/// RE-CONFIG. RFC 6525 section 5.
extension SCTPAssociation {
  mutating func handle(_ parameter: ReconfigurationParameter) {
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
        errorCount = 0
        reset.deadline = now + timeout.current
      case .finished(let ids, let performed):
        errorCount = 0
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
  mutating func performDeferredReset() {
    guard openPeer() != nil, let request = reset.takeDeferred(hasArrived: hasArrived) else { return }
    perform(request)
    respond(request.sequence, .performed)
  }

  private mutating func respond(_ sequence: UInt32, _ result: ReconfigurationParameter.Result) {
    var writer = ByteWriter()
    writer.writeResponse(sequence: sequence, result: result)
    queueControl(type: ChunkType.reconfiguration, value: writer.bytes)
  }

  /// Requests a reset of streams whose last message has been assigned its TSN.
  mutating func requestWantedResets() {
    guard !reset.wanted.isEmpty, reset.pending == nil, let peer = openPeer(), peer.supportsReconfiguration,
      phase == .established || phase == .shutdownPending
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
    var writer = ByteWriter()
    writer.writeReset(request)
    queueControl(type: ChunkType.reconfiguration, value: writer.bytes)
    reset.deadline = now + timeout.current
  }

  /// Section 5.1.1 step C1: the request is retransmitted unchanged, as DATA would be.
  mutating func resetTimedOut() {
    reset.deadline = nil
    guard let request = reset.pending else { return }
    timeout.backOff()
    if countError() { sendReset(request) }
  }
}
