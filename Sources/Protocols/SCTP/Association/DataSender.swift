import Wire

/// The sending half of an established association: assigns TSNs to chunks, keeps them until they are acknowledged, and
/// decides what may be sent now. RFC 9260 sections 6.1 to 6.3 and 7.2, RFC 3758 section 3.5.
struct DataSender: Sendable {
  var queue = SendQueue()
  var outstanding = FIFO<OutstandingChunk>()
  /// The cumulative TSN acknowledged by the peer; `outstanding` begins right after it.
  var cumulativeAcked: UInt32
  var nextTSN: UInt32
  var congestion: CongestionControl
  /// From the last SACK, or INIT.
  var advertisedWindow = 0
  /// Bytes of chunks and of payload in flight.
  var flightBytes = 0
  var flightPayload = 0
  /// Payload in `outstanding`.
  var outstandingPayload = 0
  var markedCount = 0
  /// No chunk before this index is marked.
  var markedHint = 0
  /// How many chunks at the front may be acknowledged by gap blocks.
  var gapExtent = 0
  /// Fast recovery ends when this TSN is acknowledged. RFC 9260 section 7.2.4.
  var fastRecoveryExit: UInt32?
  /// One packet may be sent regardless of the window. RFC 9260 section 7.2.4 rule 3.
  var mayExceedWindow = false
  /// The chunk whose acknowledgement measures the round trip: one at a time. RFC 9260 section 6.3.1 rule C4.
  var roundTripProbe: UInt32?
  /// Advanced.Peer.Ack.Point. RFC 3758 section 3.5.
  var advancedPoint: UInt32
  var mustSendForwardTSN = false
  var peerSupportsForwardTSN = true
  var lastSentAt: Instant?
  private(set) var chunksRetransmitted: UInt64 = 0
  var messagesAbandoned: UInt64 = 0

  private let maximumOutstanding: Int
  let maximumPayload: Int
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
  var peerWindow: Int { max(0, advertisedWindow - flightPayload) }
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

  mutating func entersFlight(_ chunk: OutstandingChunk) {
    flightBytes += chunk.data.size
    flightPayload += chunk.data.payload.count
  }

  mutating func leavesFlight(_ chunk: OutstandingChunk) {
    flightBytes -= chunk.data.size
    flightPayload -= chunk.data.payload.count
  }
}
