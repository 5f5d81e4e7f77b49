import RTP
import Wire

/// A frame all of whose packets are there.
struct VP8Frame: Sendable {
  /// The numbers of its first and last packet.
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

/// Puts the packets of VP8 frames together. RFC 7741 section 4.
///
/// A frame goes from a packet that begins partition 0 to the one with the marker bit. Packets may come in any order;
/// each is looked at a fixed number of times.
struct VP8FrameAssembly: Sendable {
  enum Insertion: Sendable {
    case stored
    case completed(VP8Frame)
    /// Its place has been released: it came too late.
    case tooLate
    /// Not VP8.
    case malformed
  }

  private struct Slot: Sendable {
    var sequence: Int64
    var timestamp: UInt32
    var endsFrame: Bool
    /// Of the packet that begins a frame.
    var descriptor: VP8PayloadDescriptor?
    /// Where the frame begins, once all packets from there to this one are known to be there.
    var frameStart: Int64?
    /// Empty for a packet that only pads.
    var payload: ArraySlice<UInt8>
    /// What the slot keeps in memory: the payload is a slice of its whole datagram, from the start of which it counts.
    var storedBytes: Int { payload.endIndex }
    var arrivedAt: Instant
  }

  private var slots: [Slot?]
  private let mask: Int64
  private let maximumBytes: Int
  /// In memory.
  private(set) var byteCount = 0
  /// What is below has been released. Nil before the first packet.
  private(set) var floor: Int64?
  private var highest: Int64 = 0
  /// Frames of which the beginning came, released without having been taken.
  private(set) var droppedFrames: UInt64 = 0
  /// Set when packets had to be released to make room; the owner resets it.
  var hasOverflowed = false

  /// Packets before the first one to come are waited for this far back.
  private static let initialReordering: Int64 = 64

  init(maximumPackets: Int, maximumBytes: Int) {
    let limited = min(max(maximumPackets, 64), 16384)
    let size = 1 << (Int.bitWidth - (limited - 1).leadingZeroBitCount)
    slots = Array(repeating: nil, count: size)
    mask = Int64(size - 1)
    self.maximumBytes = maximumBytes
  }

  /// The payload begins with its descriptor. An empty one is padding, which takes a number and no more.
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

  /// Whether this number came and carries nothing.
  func isPadding(_ sequence: Int64) -> Bool {
    slots[index(sequence)].map { $0.sequence == sequence && $0.payload.isEmpty } ?? false
  }

  /// Whether a key frame begins with this packet.
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

  /// Counts a frame that will be released as taken.
  mutating func noteTaken(_ frame: VP8Frame) {
    slots[index(frame.first)]?.descriptor = nil
  }

  /// Gives up everything below `sequence`.
  mutating func release(below sequence: Int64) {
    guard let floor, sequence > floor else { return }
    // Beyond the highest there is nothing to look at, however far it is.
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

  /// Key frames are told by the inverse key-frame flag in the first bit. RFC 6386 section 9.1.
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
      // Only what is really there is lost by it: numbers may have been skipped since.
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

  /// Follows the frame from where it is known to be whole. Every packet is joined once.
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
