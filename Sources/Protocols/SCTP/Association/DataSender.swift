import Wire

/// The sending half of an established association: assigns TSNs to chunks, keeps them until they are acknowledged, and
/// decides what may be sent now. RFC 9260 sections 6.1 to 6.3 and 7.2, RFC 3758 section 3.5.
struct DataSender: Sendable {
  var queue = SendQueue()
  private(set) var outstanding = FIFO<OutstandingChunk>()
  /// The cumulative TSN acknowledged by the peer; `outstanding` begins right after it.
  private(set) var cumulativeAcked: UInt32
  private(set) var nextTSN: UInt32
  private(set) var congestion: CongestionControl
  /// From the last SACK, or INIT.
  private(set) var advertisedWindow = 0
  /// Bytes of chunks and of payload in flight.
  private var flightBytes = 0
  private var flightPayload = 0
  /// Payload in `outstanding`.
  private var outstandingPayload = 0
  private var markedCount = 0
  /// No chunk before this index is marked.
  private var markedHint = 0
  /// How many chunks at the front may be acknowledged by gap blocks.
  private var gapExtent = 0
  /// Fast recovery ends when this TSN is acknowledged. RFC 9260 section 7.2.4.
  private var fastRecoveryExit: UInt32?
  /// One packet may be sent regardless of the window. RFC 9260 section 7.2.4 rule 3.
  private var mayExceedWindow = false
  /// The chunk whose acknowledgement measures the round trip: one at a time. RFC 9260 section 6.3.1 rule C4.
  private var roundTripProbe: UInt32?
  /// Advanced.Peer.Ack.Point. RFC 3758 section 3.5.
  private var advancedPoint: UInt32
  private(set) var mustSendForwardTSN = false
  private var peerSupportsForwardTSN = true
  private var lastSentAt: Instant?
  private(set) var chunksRetransmitted: UInt64 = 0
  private(set) var messagesAbandoned: UInt64 = 0

  private let maximumOutstanding: Int
  private let maximumPayload: Int
  /// A smaller fragment is not worth its header, so it waits for the next packet.
  private static let minimumFragment = 256

  init(initialTSN: UInt32, configuration: SCTPConfiguration) {
    nextTSN = initialTSN
    cumulativeAcked = initialTSN &- 1
    advancedPoint = initialTSN &- 1
    maximumOutstanding = max(16, configuration.maximumOutstandingChunks)
    maximumPayload = configuration.packetSize - Packet.headerSize - DataChunk.headerSize
    congestion = CongestionControl(
      segment: configuration.packetSize - Packet.headerSize, limit: configuration.sendBufferSize)
  }

  /// Payload that is unsent or unacknowledged.
  var bufferedBytes: Int { queue.bytes + outstandingPayload }
  /// Whether everything was delivered or abandoned, and the peer knows.
  var isDone: Bool { queue.isEmpty && outstanding.isEmpty }
  /// Whether T3-rtx has to run.
  var needsTimer: Bool { flightBytes > 0 || markedCount > 0 || advancedPoint.isAfter(serial: cumulativeAcked) }
  private var peerWindow: Int { max(0, advertisedWindow - flightPayload) }
  /// The peer's window is zero, so what is in flight is a probe. RFC 9260 section 6.1 rule A.
  var isProbingWindow: Bool { advertisedWindow == 0 && outstanding.count > 0 }

  mutating func start(with peer: Peer) {
    advertisedWindow = Int(peer.advertisedWindow)
    peerSupportsForwardTSN = peer.supportsForwardTSN
  }

  /// Whether a packet built now could carry data. Approximate when a window is almost full.
  var hasSomethingToSend: Bool {
    (markedCount > 0 || !queue.isEmpty) && (mayExceedWindow || flightBytes < congestion.window)
  }

  /// The next chunk that fits into `room` bytes and that both windows allow; nil if none may be sent now.
  mutating func nextChunk(room: Int, now: Instant, timeout: Duration) -> DataChunk? {
    // RFC 9260 section 6.1 rule C: retransmissions go first.
    while let index = nextMarked() {
      var chunk = outstanding[index]
      if peerSupportsForwardTSN, let expiresAt = chunk.expiresAt, expiresAt <= now {
        abandon(at: index)
        continue
      }
      guard chunk.data.size <= room, allows(payload: chunk.data.payload.count, isRetransmission: true) else {
        return nil
      }
      chunk.status = .inFlight
      chunk.transmissions &+= 1
      chunk.sentAt = now
      chunk.misses = 0
      chunk.missesCountFrom = nextTSN
      outstanding[index] = chunk
      markedCount -= 1
      markedHint = index + 1
      entersFlight(chunk)
      chunksRetransmitted &+= 1
      if roundTripProbe == chunk.data.tsn { roundTripProbe = nil }
      lastSentAt = now
      return chunk.data
    }
    return nextNewChunk(room: room, now: now, timeout: timeout)
  }

  private mutating func nextNewChunk(room: Int, now: Instant, timeout: Duration) -> DataChunk? {
    guard outstanding.count < maximumOutstanding, let message = queue.next(now: now) else { return nil }
    if message.offset > 0, peerSupportsForwardTSN, let expiresAt = message.expiresAt, expiresAt <= now {
      abandonPartlySent(message.number)
      return nextNewChunk(room: room, now: now, timeout: timeout)
    }
    if flightBytes == 0, let lastSentAt, now - lastSentAt > timeout {
      congestion.idled()
      self.lastSentAt = now
    }
    let space = room - DataChunk.headerSize
    let size: Int
    if message.remaining <= space {
      size = message.remaining
    } else if message.remaining > maximumPayload, space >= Self.minimumFragment {
      size = min(space, maximumPayload) & ~3
    } else {
      return nil
    }
    guard allows(payload: size, isRetransmission: false) else { return nil }
    var data = queue.takeFragment(size: size, of: message)
    data.tsn = nextTSN
    nextTSN &+= 1
    let chunk = OutstandingChunk(
      data: data, messageNumber: message.number, maximumRetransmissions: message.maximumRetransmissions,
      expiresAt: message.expiresAt, sentAt: now, transmissions: 1, status: .inFlight, missesCountFrom: data.tsn)
    outstanding.append(chunk)
    outstandingPayload += size
    entersFlight(chunk)
    if roundTripProbe == nil { roundTripProbe = data.tsn }
    lastSentAt = now
    return data
  }

  /// RFC 9260 section 6.1 rules A and B. With nothing in flight one chunk is always allowed, to probe a full window.
  private func allows(payload: Int, isRetransmission: Bool) -> Bool {
    if flightBytes == 0 || (mayExceedWindow && isRetransmission) { return true }
    return flightBytes < congestion.window && payload <= peerWindow
  }

  private mutating func nextMarked() -> Int? {
    guard markedCount > 0 else { return nil }
    while markedHint < outstanding.count {
      if outstanding[markedHint].status == .marked { return markedHint }
      markedHint += 1
    }
    return nil
  }

  /// A packet is complete.
  mutating func endOfPacket() {
    mayExceedWindow = false
  }

  private mutating func entersFlight(_ chunk: OutstandingChunk) {
    flightBytes += chunk.data.size
    flightPayload += chunk.data.payload.count
  }

  private mutating func leavesFlight(_ chunk: OutstandingChunk) {
    flightBytes -= chunk.data.size
    flightPayload -= chunk.data.payload.count
  }

  // MARK: - Acknowledgement

  /// The result of a SACK.
  struct Acknowledgement: Sendable {
    var movedOn = false
    var roundTrip: Duration?
  }

  /// Processes a SACK; nil if it is outdated or acknowledges what was never sent. RFC 9260 section 6.2.1.
  mutating func handle(_ sack: SackChunk, now: Instant) -> Acknowledgement? {
    let advance = Int(sack.cumulativeTSN &- cumulativeAcked)
    guard sack.cumulativeTSN.isAtOrAfter(serial: cumulativeAcked), advance <= outstanding.count else { return nil }
    let wasFull = flightBytes + maximumPayload > congestion.window
    var result = Acknowledgement(movedOn: advance > 0)
    var acknowledgedBytes = 0
    for _ in 0..<advance {
      guard let chunk = outstanding.popFirst() else { break }
      switch chunk.status {
      case .inFlight:
        leavesFlight(chunk)
        acknowledgedBytes += chunk.data.size
        measure(chunk, now: now, into: &result)
      case .marked:
        markedCount -= 1
        acknowledgedBytes += chunk.data.size
      case .acknowledged, .abandoned: break
      }
      outstandingPayload -= chunk.data.payload.count
    }
    cumulativeAcked = sack.cumulativeTSN
    markedHint = max(0, markedHint - advance)
    gapExtent = max(0, gapExtent - advance)
    let highestNew = takeGaps(sack.gaps, acknowledgedBytes: &acknowledgedBytes, now: now, into: &result)
    advertisedWindow = Int(sack.advertisedWindow)

    if let exit = fastRecoveryExit, cumulativeAcked.isAtOrAfter(serial: exit) { fastRecoveryExit = nil }
    // RFC 9260 section 7.2.1: the window grows only outside fast recovery, and only when the cumulative TSN advances.
    if advance > 0, fastRecoveryExit == nil {
      congestion.acknowledged(
        bytes: acknowledgedBytes, wasFull: wasFull, isAllAcknowledged: outstanding.isEmpty)
    }
    countMisses(highestNew: highestNew, movedOn: advance > 0, now: now)

    // RFC 3758 section 3.5 rules C1 to C3: the peer hears again what it has not yet skipped.
    advancePoint()
    mustSendForwardTSN = advancedPoint.isAfter(serial: cumulativeAcked)
    return result
  }

  /// Marks what gap blocks acknowledge and reverts what they no longer do (reneging, RFC 9260 section 6.2.1). Returns
  /// the highest index that is newly acknowledged.
  private mutating func takeGaps(
    _ gaps: [SackChunk.GapBlock], acknowledgedBytes: inout Int, now: Instant, into result: inout Acknowledgement
  ) -> Int? {
    var highestNew: Int?
    var next = 0
    for gap in gaps {
      let start = Int(gap.start) - 1
      let end = Int(gap.end) - 1
      // Blocks ascend; one that breaks that or reaches beyond what was sent is ignored.
      guard start >= next, end >= start, end < outstanding.count else { continue }
      for index in next..<start { takeBack(index) }
      for index in start...end {
        var chunk = outstanding[index]
        switch chunk.status {
        case .inFlight:
          leavesFlight(chunk)
          measure(chunk, now: now, into: &result)
        case .marked: markedCount -= 1
        case .acknowledged, .abandoned: continue
        }
        acknowledgedBytes += chunk.data.size
        chunk.status = .acknowledged
        outstanding[index] = chunk
        highestNew = index
      }
      next = end + 1
    }
    if next < gapExtent { for index in next..<gapExtent { takeBack(index) } }
    gapExtent = next
    return highestNew
  }

  private mutating func takeBack(_ index: Int) {
    guard index < gapExtent, outstanding[index].status == .acknowledged else { return }
    outstanding[index].status = .inFlight
    outstanding[index].misses = 0
    entersFlight(outstanding[index])
  }

  private mutating func measure(_ chunk: OutstandingChunk, now: Instant, into result: inout Acknowledgement) {
    guard roundTripProbe == chunk.data.tsn else { return }
    roundTripProbe = nil
    // Karn's rule: RFC 9260 section 6.3.1 rule C5.
    if chunk.transmissions == 1 { result.roundTrip = now - chunk.sentAt }
  }

  /// The "highest TSN newly acknowledged" rule, and fast retransmit at the third miss. RFC 9260 section 7.2.4.
  ///
  /// Beyond the RFC a chunk can be retransmitted fast more than once: a miss counts only when something was
  /// acknowledged that went out after the chunk's last transmission. That keeps heavy loss from waiting for T3-rtx.
  private mutating func countMisses(highestNew: Int?, movedOn: Bool, now: Instant) {
    let limit = fastRecoveryExit != nil && movedOn ? max(gapExtent - 1, highestNew ?? 0) : highestNew ?? 0
    guard limit > 0, limit < outstanding.count else { return }
    let reference = cumulativeAcked &+ UInt32(truncatingIfNeeded: limit + 1)
    for index in 0..<limit {
      guard outstanding[index].status == .inFlight,
        reference.isAtOrAfter(serial: outstanding[index].missesCountFrom)
      else { continue }
      outstanding[index].misses += 1
      guard outstanding[index].misses >= 3 else { continue }
      lost(at: index, now: now)
      if fastRecoveryExit == nil {
        congestion.lossDetected()
        fastRecoveryExit = nextTSN &- 1
        mayExceedWindow = true
      }
    }
  }

  /// T3-rtx expired: everything in flight counts as lost. RFC 9260 section 6.3.3.
  mutating func timedOut(now: Instant) {
    if flightBytes > 0 { congestion.timedOut() }
    fastRecoveryExit = nil
    roundTripProbe = nil
    for index in 0..<outstanding.count where outstanding[index].status == .inFlight {
      lost(at: index, now: now)
    }
    if advancedPoint.isAfter(serial: cumulativeAcked) { mustSendForwardTSN = true }
  }

  private mutating func lost(at index: Int, now: Instant) {
    guard outstanding[index].status == .inFlight else { return }
    if peerSupportsForwardTSN, outstanding[index].isExhausted(now: now) {
      abandon(at: index)
      return
    }
    leavesFlight(outstanding[index])
    outstanding[index].status = .marked
    outstanding[index].misses = 0
    markedCount += 1
    markedHint = min(markedHint, index)
  }

  // MARK: - Partial reliability, RFC 3758 section 3.5

  /// Abandons the whole message that the chunk belongs to.
  private mutating func abandon(at index: Int) {
    let number = outstanding[index].messageNumber
    var first = index
    while first > 0, outstanding[first - 1].messageNumber == number { first -= 1 }
    var position = first
    while position < outstanding.count, outstanding[position].messageNumber == number {
      abandonChunk(at: position)
      position += 1
    }
    abandonRest(number)
    messagesAbandoned &+= 1
    advancePoint()
  }

  /// Abandons a partly sent message whose lifetime has expired.
  private mutating func abandonPartlySent(_ number: UInt64) {
    var index = outstanding.count - 1
    while index >= 0, outstanding[index].messageNumber == number {
      abandonChunk(at: index)
      index -= 1
    }
    abandonRest(number)
    messagesAbandoned &+= 1
    advancePoint()
  }

  /// A message abandoned before its last fragment was sent needs one more TSN, for an end that is never sent: if the
  /// peer has acknowledged every fragment so far, it could otherwise not know to drop them.
  private mutating func abandonRest(_ number: UInt64) {
    guard let rest = queue.abandonCurrent(number: number) else { return }
    let data = DataChunk(
      flags: rest.isOrdered ? [.end] : [.end, .unordered], tsn: nextTSN, streamID: rest.streamID,
      streamSequenceNumber: rest.streamSequenceNumber, payloadProtocolID: rest.payloadProtocolID, payload: [])
    outstanding.append(
      OutstandingChunk(
        data: data, messageNumber: number, sentAt: .zero, transmissions: 0, status: .abandoned,
        missesCountFrom: nextTSN))
    nextTSN &+= 1
  }

  private mutating func abandonChunk(at index: Int) {
    switch outstanding[index].status {
    case .inFlight: leavesFlight(outstanding[index])
    case .marked: markedCount -= 1
    case .acknowledged, .abandoned: break
    }
    outstanding[index].status = .abandoned
  }

  /// Rules C1 and C2: advances Advanced.Peer.Ack.Point over everything abandoned.
  private mutating func advancePoint() {
    if cumulativeAcked.isAfter(serial: advancedPoint) { advancedPoint = cumulativeAcked }
    var index = Int(advancedPoint &- cumulativeAcked)
    while index < outstanding.count, outstanding[index].status == .abandoned { index += 1 }
    let point = cumulativeAcked &+ UInt32(truncatingIfNeeded: index)
    if point.isAfter(serial: advancedPoint) {
      advancedPoint = point
      mustSendForwardTSN = true
    }
  }

  /// The FORWARD TSN to send now, if any. `room`, in bytes, bounds the streams it lists.
  mutating func nextForwardTSN(room: Int) -> ForwardTSNChunk? {
    guard mustSendForwardTSN, peerSupportsForwardTSN, room >= ForwardTSNChunk.headerSize + 4 else { return nil }
    advancePoint()
    mustSendForwardTSN = false
    let maximumSkips = (room - ForwardTSNChunk.headerSize) / 4
    var skips: [UInt16: UInt16] = [:]
    var covered = 0
    let count = Int(advancedPoint &- cumulativeAcked)
    guard count > 0, count <= outstanding.count else { return nil }
    for index in 0..<count {
      let chunk = outstanding[index].data
      if !chunk.flags.contains(.unordered), outstanding[index].status == .abandoned {
        guard skips[chunk.streamID] != nil || skips.count < maximumSkips else { break }
        skips[chunk.streamID] = chunk.streamSequenceNumber
      }
      covered = index + 1
    }
    return ForwardTSNChunk(
      newCumulativeTSN: cumulativeAcked &+ UInt32(truncatingIfNeeded: covered),
      skips: skips.sorted { $0.key < $1.key }.map { .init(streamID: $0.key, streamSequenceNumber: $0.value) })
  }
}
