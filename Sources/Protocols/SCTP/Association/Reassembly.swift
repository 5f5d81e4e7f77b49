import Wire

/// A message as the peer sent it.
struct ReceivedMessage: Hashable, Sendable {
  var streamID: UInt16
  var payloadProtocolID: UInt32
  var payload: [UInt8]
}

/// Reassembles fragments and puts messages in order. RFC 9260 sections 6.5, 6.6 and 6.9.
struct Reassembly: Sendable {
  /// The fields of a DATA chunk that describe its message, without the payload.
  private struct Header: Sendable {
    var streamID: UInt16
    var streamSequenceNumber: UInt16
    var payloadProtocolID: UInt32
    var isOrdered: Bool

    init(_ chunk: DataChunk) {
      streamID = chunk.streamID
      streamSequenceNumber = chunk.streamSequenceNumber
      payloadProtocolID = chunk.payloadProtocolID
      isOrdered = !chunk.flags.contains(.unordered)
    }

    func isSameMessage(as other: Header) -> Bool {
      streamID == other.streamID && isOrdered == other.isOrdered
        && (!isOrdered || streamSequenceNumber == other.streamSequenceNumber)
    }
  }

  /// Consecutive fragments of one incomplete message.
  private struct Run: Sendable {
    var start: Int64
    var end: Int64
    var hasBeginning: Bool
    var hasEnd: Bool
    /// Of the first fragment.
    var header: Header
    /// Copies: a slice would keep the whole packet, which the window does not count.
    var parts: [[UInt8]]
    var bytes: Int
  }

  private struct Stream: Sendable {
    var nextSequenceNumber: UInt16 = 0
    /// Complete messages that wait for an earlier one.
    var waiting: [UInt16: ReceivedMessage] = [:]

    /// Advances past `number` and returns the waiting messages up to it, in order. Takes as many steps as there are
    /// numbers to pass or waiting messages, whichever is less: one chunk may list a stream thousands of times.
    mutating func takePassed(by number: UInt16) -> [ReceivedMessage] {
      let first = nextSequenceNumber
      nextSequenceNumber = number &+ 1
      let last = number &- first
      let passed =
        Int(last) < waiting.count
        ? (0...last).map { first &+ $0 }
        : waiting.keys.filter { $0 &- first <= last }.sorted { $0 &- first < $1 &- first }
      return passed.compactMap { waiting.removeValue(forKey: $0) }
    }
  }

  /// The cost in bytes of a fragment or a waiting message besides its payload.
  static let overhead = 64

  private var runs: [Int64: Run] = [:]
  private var startByEnd: [Int64: Int64] = [:]
  private var streams: [UInt16: Stream] = [:]
  /// Payload and overhead of all that is held.
  private(set) var bytesHeld = 0
  /// Streams whose next sequence number is stored.
  var streamCount: Int { streams.count }
  private(set) var ready: [ReceivedMessage] = []
  private let maximumMessageSize: Int
  private let maximumStreams: UInt16

  /// - Parameters:
  ///   - maximumMessageSize: bytes.
  ///   - maximumStreams: streams with this id or a higher one are not stored.
  init(maximumMessageSize: Int, maximumStreams: UInt16) {
    self.maximumMessageSize = maximumMessageSize
    self.maximumStreams = maximumStreams
  }

  mutating func takeReady() -> [ReceivedMessage] {
    defer { ready = [] }
    return ready
  }

  /// Adds a chunk with a new TSN. `cumulative` is the cumulative TSN before it. False if its message is too long.
  mutating func insert(_ chunk: DataChunk, tsn: Int64, cumulative: Int64) -> Bool {
    // Fragments of one message have consecutive TSNs (section 6.9). If neighbours do not match, the sender abandoned
    // the unfinished message, so it is dropped.
    let left = runs.isEmpty ? nil : startByEnd[tsn - 1].flatMap { runs[$0] }
    let header = Header(chunk)
    if chunk.flags.isSuperset(of: [.beginning, .end]) {
      guard chunk.payload.count <= maximumMessageSize else { return false }
      if let left, !left.hasEnd { remove(left.start) }
      complete(header, payload: Array(chunk.payload))
      return true
    }
    var run = Run(
      start: tsn, end: tsn, hasBeginning: chunk.flags.contains(.beginning), hasEnd: chunk.flags.contains(.end),
      header: header, parts: [Array(chunk.payload)], bytes: chunk.payload.count)
    if let left, !left.hasEnd {
      remove(left.start)
      if !run.hasBeginning, left.header.isSameMessage(as: header) { run = Self.join(left, run) }
    }
    if !run.hasEnd, let right = runs[tsn + 1], !right.hasBeginning {
      remove(right.start)
      if right.header.isSameMessage(as: header) { run = Self.join(run, right) }
    }
    guard run.bytes <= maximumMessageSize else { return false }
    if run.hasBeginning, run.hasEnd {
      var payload: [UInt8] = []
      payload.reserveCapacity(run.bytes)
      for part in run.parts { payload += part }
      complete(run.header, payload: payload)
    } else if run.hasBeginning || run.start > cumulative + 1 {
      store(run)
    }
    // Otherwise everything before it has arrived without its beginning, so it can never be completed.
    return true
  }

  /// FORWARD TSN. RFC 3758 section 3.6: drops what can no longer be completed, and advances past the skipped messages.
  /// Streams that the peer may not use are ignored, as their DATA would be.
  mutating func forward(to cumulative: Int64, skips: [ForwardTSNChunk.Skip]) {
    for run in Array(runs.values) where run.start <= cumulative + 1 {
      // A message that reaches across without a gap was not abandoned.
      if run.hasBeginning, run.end >= cumulative { continue }
      remove(run.start)
    }
    for skip in skips where skip.streamID < maximumStreams {
      var stream = streams.removeValue(forKey: skip.streamID) ?? Stream()
      if skip.streamSequenceNumber.isAtOrAfter(serial: stream.nextSequenceNumber) {
        for message in stream.takePassed(by: skip.streamSequenceNumber) { release(message) }
      }
      streams[skip.streamID] = stream
      deliverWaiting(on: skip.streamID)
    }
  }

  /// The peer reset these of its outgoing streams: their sequence numbers restart. Nil means all.
  mutating func reset(_ ids: [UInt16]?) {
    for id in ids ?? Array(streams.keys) {
      for message in streams[id]?.waiting.values.map({ $0 }) ?? [] {
        bytesHeld -= message.payload.count + Self.overhead
      }
      streams[id] = nil
    }
  }

  mutating func setNextSequenceNumber(_ number: UInt16, of id: UInt16) {
    streams[id, default: Stream()].nextSequenceNumber = number
  }

  private mutating func complete(_ header: Header, payload: [UInt8]) {
    let message = ReceivedMessage(
      streamID: header.streamID, payloadProtocolID: header.payloadProtocolID, payload: payload)
    guard header.isOrdered else {
      ready.append(message)
      return
    }
    let number = header.streamSequenceNumber
    var stream = streams.removeValue(forKey: header.streamID) ?? Stream()
    if number == stream.nextSequenceNumber {
      stream.nextSequenceNumber &+= 1
      ready.append(message)
    } else if number.isAfter(serial: stream.nextSequenceNumber), stream.waiting[number] == nil {
      stream.waiting[number] = message
      bytesHeld += payload.count + Self.overhead
    }
    // A message whose number was already passed is dropped.
    streams[header.streamID] = stream
    if !stream.waiting.isEmpty { deliverWaiting(on: header.streamID) }
  }

  private mutating func deliverWaiting(on id: UInt16) {
    while let number = streams[id]?.nextSequenceNumber,
      let message = streams[id]?.waiting.removeValue(forKey: number)
    {
      streams[id]?.nextSequenceNumber = number &+ 1
      release(message)
    }
  }

  private mutating func release(_ message: ReceivedMessage) {
    bytesHeld -= message.payload.count + Self.overhead
    ready.append(message)
  }

  private mutating func store(_ run: Run) {
    runs[run.start] = run
    startByEnd[run.end] = run.start
    bytesHeld += run.bytes + Self.overhead * run.parts.count
  }

  private mutating func remove(_ start: Int64) {
    guard let run = runs.removeValue(forKey: start) else { return }
    startByEnd[run.end] = nil
    bytesHeld -= run.bytes + Self.overhead * run.parts.count
  }

  private static func join(_ left: consuming Run, _ right: Run) -> Run {
    var run = left
    run.end = right.end
    run.hasEnd = right.hasEnd
    run.parts += right.parts
    run.bytes += right.bytes
    return run
  }
}
