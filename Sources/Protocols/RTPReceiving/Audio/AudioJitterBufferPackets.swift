import Wire

/// A packet that waits to be played.
struct BufferedAudioPacket: Sendable {
  var sequence: Int64
  /// Media time of its first sample, see `AudioJitterBufferTimeline`.
  var media: Int64
  var samples: Int64
  var payload: [UInt8]
  var arrival: Instant
  /// Received by retransmission or as a copy in another packet.
  var isRecovered: Bool
  /// Samples at the end of the preceding packet that this one carries as a copy; 0 for none.
  var copiedSamples: Int64

  /// The first sample after it.
  var end: Int64 { media &+ samples }
}

/// The buffered packets, indexed by sequence number.
struct AudioJitterBufferPackets: Sendable {
  /// 5 s of 20 ms packets, 640 ms of 2.5 ms ones; a power of two.
  static let capacity = 256

  private var slots: [BufferedAudioPacket?] = Array(repeating: nil, count: capacity)
  private(set) var count = 0
  private(set) var byteCount = 0
  private var lowest: Int64 = 0
  private var highest: Int64 = 0

  private static func index(_ sequence: Int64) -> Int {
    Int(truncatingIfNeeded: sequence) & (capacity - 1)
  }

  var first: BufferedAudioPacket? { count > 0 ? slots[Self.index(lowest)] : nil }
  var last: BufferedAudioPacket? { count > 0 ? slots[Self.index(highest)] : nil }

  func contains(_ sequence: Int64) -> Bool {
    slots[Self.index(sequence)]?.sequence == sequence
  }

  /// Whether there is room: all sequence numbers must lie within the capacity of each other.
  func fits(_ sequence: Int64) -> Bool {
    guard count > 0 else { return true }
    return max(highest, sequence) &- min(lowest, sequence) < Int64(Self.capacity)
  }

  /// The sequence number must fit and not be present yet.
  mutating func insert(_ packet: BufferedAudioPacket) {
    precondition(fits(packet.sequence) && !contains(packet.sequence), "the caller has asked")
    lowest = count > 0 ? min(lowest, packet.sequence) : packet.sequence
    highest = count > 0 ? max(highest, packet.sequence) : packet.sequence
    slots[Self.index(packet.sequence)] = packet
    count += 1
    byteCount += packet.payload.count
  }

  @discardableResult
  mutating func removeFirst() -> BufferedAudioPacket? {
    guard count > 0, let packet = slots[Self.index(lowest)].take() else { return nil }
    count -= 1
    byteCount -= packet.payload.count
    // Skip the gaps, of which there are fewer than the capacity.
    while count > 0, slots[Self.index(lowest)] == nil { lowest += 1 }
    return packet
  }

  mutating func removeAll() {
    while removeFirst() != nil {}
  }
}
