import RTP
import Wire

/// A frame whose packets have all arrived.
struct VP8Frame: Sendable {
  /// Sequence numbers of its first and last packet.
  var first: Int64
  var last: Int64
  var timestamp: UInt32
  var isKeyFrame: Bool
  var pictureID: VP8PayloadDescriptor.PictureID?
  var tl0PictureIndex: UInt8?
  var temporalLayer: VP8PayloadDescriptor.TemporalLayer?
  var byteCount: Int
  var firstArrival: Instant
  var lastArrival: Instant
  var completedAt: Instant
}

/// Assembles VP8 frames from packets. RFC 7741 section 4.
///
/// A frame extends from a packet that starts partition 0 to the one with the marker bit. Packets may arrive in any
/// order; each is visited a constant number of times.
struct VP8FrameAssembly: Sendable {
  enum Insertion: Sendable {
    case stored
    case completed(VP8Frame)
    /// Its slot has been released: it arrived too late.
    case tooLate
    /// Not VP8.
    case malformed
  }

  private struct Slot: Sendable {
    var sequence: Int64
    var timestamp: UInt32
    var endsFrame: Bool
    /// Set for a packet that starts a frame.
    var descriptor: VP8PayloadDescriptor?
    /// First packet of the frame, once all packets from there to this one have arrived.
    var frameStart: Int64?
    /// Empty for padding.
    var payload: ArraySlice<UInt8>
    /// Memory held by the slot: the payload is a slice of its datagram, counted from the datagram's start.
    var storedBytes: Int { payload.endIndex }
    var arrivedAt: Instant
  }

  private var slots: [Slot?]
  private let mask: Int64
  private let maximumBytes: Int
  /// In memory.
  private(set) var byteCount = 0
  /// Packets below have been released. Nil before the first packet.
  private(set) var floor: Int64?
  private var highest: Int64 = 0
  /// Frames whose first packet arrived, released without having been taken.
  private(set) var droppedFrames: UInt64 = 0
  /// Set when packets had to be released to make room; the owner resets it.
  var hasOverflowed = false

  /// How far before the first received packet others are still accepted.
  private static let initialReordering: Int64 = 64

  init(maximumPackets: Int, maximumBytes: Int) {
    let limited = min(max(maximumPackets, 64), 16384)
    let size = 1 << (Int.bitWidth - (limited - 1).leadingZeroBitCount)
    slots = Array(repeating: nil, count: size)
    mask = Int64(size - 1)
    self.maximumBytes = maximumBytes
  }

  /// The payload starts with its descriptor. An empty one is padding, which only consumes a sequence number.
  mutating func insert(
    sequence: Int64, timestamp: UInt32, marker: Bool, payload: ArraySlice<UInt8>, now: Instant
  ) -> Insertion {
    var content = payload
    var descriptor: VP8PayloadDescriptor?
    if !payload.isEmpty {
      guard let parsed = try? VP8PayloadDescriptor(parsing: &content), !content.isEmpty else { return .malformed }
      if parsed.startsFrame { descriptor = parsed }
    }
    let isPadding = content.isEmpty
    if isPadding { content = [] }
    guard makeRoom(for: sequence, bytes: content.endIndex) else { return .tooLate }
    highest = max(highest, sequence)
    byteCount += content.endIndex
    slots[index(sequence)] = Slot(
      sequence: sequence, timestamp: timestamp, endsFrame: marker && !isPadding, descriptor: descriptor,
      frameStart: nil, payload: content, arrivedAt: now)
    guard !isPadding else { return .stored }
    return join(from: sequence, now: now)
  }

  /// Whether this packet has arrived and is padding.
  func isPadding(_ sequence: Int64) -> Bool {
    slots[index(sequence)].map { $0.sequence == sequence && $0.payload.isEmpty } ?? false
  }

  /// Whether a packet of these has not arrived.
  func lacksAny(of range: Range<Int64>) -> Bool {
    guard range.count <= slots.count else { return true }
    return range.contains { slots[index($0)]?.sequence != $0 }
  }

  /// Whether this packet starts a key frame.
  func beginsKeyFrame(_ sequence: Int64) -> Bool {
    guard let slot = slots[index(sequence)], slot.sequence == sequence, slot.descriptor != nil else { return false }
    return Self.isKeyFrame(slot.payload)
  }

  /// The bytes of a frame, in one piece.
  func payload(of frame: VP8Frame) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(frame.byteCount)
    for sequence in frame.first...frame.last {
      if let slot = slots[index(sequence)] { bytes += slot.payload }
    }
    return bytes
  }

  /// Marks a frame as taken, so that its release does not count as a drop.
  mutating func noteTaken(_ frame: VP8Frame) {
    slots[index(frame.first)]?.descriptor = nil
  }

  /// Releases everything below `sequence`.
  mutating func release(below sequence: Int64) {
    guard let floor, sequence > floor else { return }
    // There is nothing above the highest, however far `sequence` is.
    let end = min(sequence, highest + 1)
    if floor < end {
      for number in floor..<end { remove(number) }
    }
    self.floor = sequence
    highest = max(highest, sequence - 1)
  }

  mutating func removeAll() {
    if let floor { release(below: max(floor, highest + 1)) }
    floor = nil
    highest = 0
  }

  /// The first bit is the inverse key-frame flag. RFC 6386 section 9.1.
  private static func isKeyFrame(_ content: ArraySlice<UInt8>) -> Bool {
    content.first.map { $0 & 1 == 0 } ?? false
  }

  private func index(_ sequence: Int64) -> Int { Int(sequence & mask) }

  private mutating func remove(_ sequence: Int64) {
    let index = index(sequence)
    guard let slot = slots[index], slot.sequence == sequence else { return }
    byteCount -= slot.storedBytes
    if slot.descriptor != nil { droppedFrames += 1 }
    slots[index] = nil
  }

  private mutating func makeRoom(for sequence: Int64, bytes: Int) -> Bool {
    guard let floor else {
      self.floor = sequence - min(Self.initialReordering, mask)
      highest = sequence
      return true
    }
    guard sequence >= floor else { return false }
    if sequence - floor > mask {
      // Only packets actually released are an overflow: sequence numbers may have been skipped.
      let before = byteCount
      release(below: sequence - mask)
      if byteCount < before { hasOverflowed = true }
    }
    if byteCount + bytes > maximumBytes {
      release(below: sequence)
      hasOverflowed = true
    }
    return byteCount + bytes <= maximumBytes
  }

  /// Extends the frame from where it is known to be contiguous. Every packet is joined once.
  private mutating func join(from sequence: Int64, now: Instant) -> Insertion {
    guard let slot = slots[index(sequence)] else { return .stored }
    let start: Int64
    if slot.descriptor != nil {
      start = sequence
    } else if let previous = slots[index(sequence - 1)], previous.sequence == sequence - 1, !previous.endsFrame,
      previous.timestamp == slot.timestamp, let known = previous.frameStart
    {
      start = known
    } else {
      return .stored
    }
    var number = sequence
    while true {
      slots[index(number)]?.frameStart = start
      if slots[index(number)]?.endsFrame == true { return completed(start...number, now: now) }
      number += 1
      guard let next = slots[index(number)], next.sequence == number, next.timestamp == slot.timestamp,
        next.descriptor == nil, !next.payload.isEmpty
      else { return .stored }
    }
  }

  private func completed(_ range: ClosedRange<Int64>, now: Instant) -> Insertion {
    guard let head = slots[index(range.lowerBound)], let descriptor = head.descriptor else { return .stored }
    var bytes = 0
    var firstArrival = head.arrivedAt
    var lastArrival = head.arrivedAt
    for number in range {
      guard let slot = slots[index(number)] else { continue }
      bytes += slot.payload.count
      firstArrival = min(firstArrival, slot.arrivedAt)
      lastArrival = max(lastArrival, slot.arrivedAt)
    }
    return .completed(
      VP8Frame(
        first: range.lowerBound, last: range.upperBound, timestamp: head.timestamp,
        isKeyFrame: Self.isKeyFrame(head.payload), pictureID: descriptor.pictureID,
        tl0PictureIndex: descriptor.tl0PictureIndex, temporalLayer: descriptor.temporalLayer, byteCount: bytes,
        firstArrival: firstArrival, lastArrival: lastArrival, completedAt: now))
  }
}
