import Wire

/// An outgoing message.
struct OutgoingMessage: Sendable {
  /// Local only: identifies the chunks of a message that is abandoned.
  var number: UInt64
  var streamID: UInt16
  var payloadProtocolID: UInt32
  var payload: [UInt8]
  var isOrdered: Bool
  /// The message is abandoned when any chunk exceeds this; nil for never.
  var maximumRetransmissions: UInt32?
  var expiresAt: Instant?
  /// Whether it counts towards the buffered amount of its channel.
  var isUserData: Bool
  /// Bytes already placed in chunks.
  var offset = 0
  var streamSequenceNumber: UInt16 = 0

  var remaining: Int { payload.count - offset }
}

/// Messages that wait for their first transmission, by stream.
///
/// Without interleaving (RFC 8260) the fragments of a message have consecutive TSNs, so streams take turns message by
/// message: the one with the fewest bytes sent relative to its priority comes next (RFC 8831 section 6.4).
struct SendQueue: Sendable {
  private struct Stream: Sendable {
    var messages = FIFO<OutgoingMessage>()
    var nextSequenceNumber: UInt16 = 0
    var bufferedBytes = 0
    var priority: UInt16 = 256
    var servedUntil: UInt64 = 0
  }

  private var streams: [UInt16: Stream] = [:]
  /// Streams with messages.
  private var active: [UInt16] = []
  /// The stream whose message is partly sent.
  private var current: UInt16?
  private var virtualTime: UInt64 = 0
  /// Unsent payload of all streams.
  private(set) var bytes = 0
  private(set) var expiredMessages: UInt64 = 0

  var isEmpty: Bool { active.isEmpty }

  func bufferedAmount(of id: UInt16) -> Int { streams[id]?.bufferedBytes ?? 0 }
  func hasMessages(on id: UInt16) -> Bool { streams[id].map { !$0.messages.isEmpty } ?? false }

  mutating func setPriority(_ priority: UInt16, of id: UInt16) {
    streams[id, default: Stream()].priority = max(1, priority)
  }

  /// 0 for a stream that was reset: its numbers restart. RFC 6525 section 5.2.7.
  mutating func setNextSequenceNumber(_ number: UInt16, of id: UInt16) {
    streams[id, default: Stream()].nextSequenceNumber = number
  }

  /// Resets the priority of a closed channel.
  mutating func forgetPriority(of id: UInt16) {
    streams[id]?.priority = 256
  }

  mutating func append(_ message: OutgoingMessage) {
    let id = message.streamID
    bytes += message.payload.count
    var stream = streams.removeValue(forKey: id) ?? Stream()
    if stream.messages.isEmpty {
      active.append(id)
      stream.servedUntil = max(stream.servedUntil, virtualTime)
    }
    if message.isUserData { stream.bufferedBytes += message.payload.count }
    stream.messages.append(message)
    streams[id] = stream
  }

  /// Drops what is queued on a stream, except a message that is already partly sent.
  mutating func discardUnstarted(on id: UInt16) {
    guard let stream = streams[id], !stream.messages.isEmpty else { return }
    let kept = current == id ? stream.messages.first : nil
    while let message = streams[id]?.messages.popFirst() {
      released(message.remaining, of: message)
    }
    if let kept {
      streams[id]?.messages.append(kept)
      bytes += kept.remaining
      if kept.isUserData { streams[id]?.bufferedBytes += kept.remaining }
    } else {
      active.removeAll { $0 == id }
    }
  }

  mutating func removeAll() {
    for id in active {
      streams[id]?.messages.removeAll()
      streams[id]?.bufferedBytes = 0
    }
    active = []
    current = nil
    bytes = 0
  }

  /// The next message to send, after dropping those that expired before they were started.
  mutating func next(now: Instant) -> OutgoingMessage? {
    while let id = current ?? active.min(by: { servedUntil($0) < servedUntil($1) }) {
      guard let message = streams[id]?.messages.first else { return nil }
      if message.offset == 0, let expiresAt = message.expiresAt, expiresAt <= now {
        expiredMessages += 1
        released(message.remaining, of: message)
        removeFirst(of: id)
        continue
      }
      return message
    }
    return nil
  }

  /// Moves `size` bytes of the message that `next` returned into a chunk. The caller fills in the TSN.
  mutating func takeFragment(size: Int, of message: OutgoingMessage) -> DataChunk {
    var message = message
    let id = message.streamID
    var flags: DataChunk.Flags = []
    if message.offset == 0 {
      flags.insert(.beginning)
      if message.isOrdered, let number = streams[id]?.nextSequenceNumber {
        message.streamSequenceNumber = number
        streams[id]?.nextSequenceNumber = number &+ 1
      }
    }
    if !message.isOrdered { flags.insert(.unordered) }
    let end = message.offset + size
    let payload = message.payload[message.offset..<end]
    message.offset = end
    let served = UInt64(size + DataChunk.headerSize) * 1024 / UInt64(streams[id]?.priority ?? 256)
    virtualTime = max(virtualTime, servedUntil(id))
    streams[id]?.servedUntil += served
    released(size, of: message)
    if message.remaining == 0 {
      flags.insert(.end)
      current = nil
      removeFirst(of: id)
    } else {
      current = id
      streams[id]?.messages[0] = message
    }
    return DataChunk(
      flags: flags, tsn: 0, streamID: id, streamSequenceNumber: message.streamSequenceNumber,
      payloadProtocolID: message.payloadProtocolID, payload: payload)
  }

  /// Drops the rest of the partly sent message, if it is this one.
  mutating func abandonCurrent(number: UInt64) -> OutgoingMessage? {
    guard let id = current, let message = streams[id]?.messages.first, message.number == number else { return nil }
    current = nil
    released(message.remaining, of: message)
    removeFirst(of: id)
    return message
  }

  private func servedUntil(_ id: UInt16) -> UInt64 { streams[id]?.servedUntil ?? 0 }

  private mutating func removeFirst(of id: UInt16) {
    _ = streams[id]?.messages.popFirst()
    if streams[id]?.messages.isEmpty ?? true { active.removeAll { $0 == id } }
  }

  private mutating func released(_ count: Int, of message: OutgoingMessage) {
    bytes -= count
    if message.isUserData { streams[message.streamID]?.bufferedBytes -= count }
  }
}
