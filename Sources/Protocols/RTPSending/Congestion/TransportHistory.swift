import RTP
import Wire

/// A packet acknowledged by transport-wide feedback, with both clocks in nanoseconds.
struct AcknowledgedPacket: Sendable {
  var sentAt: Instant
  /// On the receiver's clock, whose origin is unknown.
  var arrivedAt: Int64
  var bytes: Int
  /// Nil for padding.
  var media: MediaReference?
  /// The burst of `Probing` that it belonged to; 0 for none.
  var burst: UInt8 = 0
}

/// The media that a packet carried, or carried again.
struct MediaReference: Hashable, Sendable {
  /// The index among the sender's streams.
  var stream: Int
  /// Of the packet that carried it first; a retransmission has another.
  var sequenceNumber: UInt16
}

/// A packet that feedback reports as not received, or does not mention.
struct LostPacket: Hashable, Sendable {
  /// Nil for padding.
  var media: MediaReference?
  var sentAt: Instant
  var isReported = false
}

/// New information from one feedback packet.
struct TransportFeedbackResult: Sendable {
  var acknowledged: [AcknowledgedPacket] = []
  var lostPackets: [LostPacket] = []
  var lost: Int { lostPackets.count }
  /// How often one or more of them in a row were lost.
  var lossRuns = 0
  /// Acknowledged packets that had been counted as lost: they were only late, and were reported by a later feedback.
  var recovered = 0
  /// Packets that no feedback mentions, because it was lost itself: some have arrived.
  var unreportedPackets: [LostPacket] = []
  /// From the first to the last of them.
  var unreported: Duration {
    guard let first = unreportedPackets.first, let last = unreportedPackets.last else { return .zero }
    return max(.zero, last.sentAt - first.sentAt)
  }
}

/// Sent packets by transport-wide sequence number, until feedback reports them.
/// draft-holmer-rmcat-transport-wide-cc-extensions-01 section 2.
struct TransportHistory: Sendable {
  private struct Entry: Sendable {
    var sentAt = Instant.zero
    var bytes: Int32 = 0
    var sequenceNumber: UInt16 = 0
    var mediaSequenceNumber: UInt16 = 0
    var stream = Self.padding
    var burst: UInt8 = 0
    var state = State.unused

    static let padding = UInt8.max

    var media: MediaReference? {
      stream == Self.padding ? nil : MediaReference(stream: Int(stream), sequenceNumber: mediaSequenceNumber)
    }

    var lost: LostPacket { LostPacket(media: media, sentAt: sentAt) }
  }

  private enum State: UInt8, Sendable { case unused, inFlight, lost, arrived }

  /// 4 s at 500 packets a second; a power of two.
  private static let capacity = 2048
  private var entries = Array(repeating: Entry(), count: capacity)
  private var referenceTime: Int64?
  private var lastReference: UInt32 = 0
  /// What the next feedback begins with if none is lost.
  private var expected: UInt16?

  /// Nothing is recorded afterwards.
  mutating func forgetPackets() {
    entries = []
  }

  mutating func noteSent(
    _ sequenceNumber: UInt16, media: MediaReference?, bytes: Int, burst: UInt8 = 0, now: Instant
  ) {
    guard !entries.isEmpty else { return }
    entries[Int(sequenceNumber) & (Self.capacity - 1)] = Entry(
      sentAt: now, bytes: Int32(clamping: bytes), sequenceNumber: sequenceNumber,
      mediaSequenceNumber: media?.sequenceNumber ?? 0,
      stream: media.map { UInt8(clamping: $0.stream) } ?? Entry.padding,
      burst: burst, state: .inFlight)
  }

  /// Each packet is acknowledged at most once and counted as lost at most once, even if the peer repeats itself.
  /// Packets that were never sent are ignored. Work is bounded by the number of statuses, which the parser limits.
  mutating func handle(_ feedback: RTCPTransportFeedback) -> TransportFeedbackResult {
    var arrival = unwrap(referenceTime: feedback.referenceTime) &* RTCPTransportFeedback.referenceNanoseconds
    var result = TransportFeedbackResult()
    guard !entries.isEmpty else { return result }
    result.unreportedPackets = unreported(before: feedback.baseSequenceNumber)
    var sequenceNumber = feedback.baseSequenceNumber
    var isInRun = false
    for status in feedback.statuses {
      let index = Int(sequenceNumber) & (Self.capacity - 1)
      let isKnown = entries[index].sequenceNumber == sequenceNumber
      switch status {
      case .received(let delta):
        isInRun = false
        arrival &+= Int64(delta) &* RTCPTransportFeedback.deltaNanoseconds
        guard isKnown, entries[index].state == .inFlight || entries[index].state == .lost else { break }
        if entries[index].state == .lost { result.recovered += 1 }
        entries[index].state = .arrived
        result.acknowledged.append(
          AcknowledgedPacket(
            sentAt: entries[index].sentAt, arrivedAt: arrival, bytes: Int(entries[index].bytes),
            media: entries[index].media, burst: entries[index].burst))
      case .notReceived:
        guard isKnown, entries[index].state == .inFlight else { break }
        entries[index].state = .lost
        if !isInRun { result.lossRuns += 1 }
        isInRun = true
        var packet = entries[index].lost
        packet.isReported = true
        result.lostPackets.append(packet)
      }
      sequenceNumber &+= 1
    }
    if sequenceNumber.isAfter(serial: expected ?? sequenceNumber &- 1) { expected = sequenceNumber }
    return result
  }

  /// In the order of sending; the work is bounded by `capacity`, and done once for each gap.
  private func unreported(before base: UInt16) -> [LostPacket] {
    guard let expected, base.isAfter(serial: expected), base &- expected < UInt16(Self.capacity) else { return [] }
    return (0..<base &- expected).compactMap { offset in
      guard let entry = entry(expected &+ offset), entry.state == .inFlight else { return nil }
      return entry.lost
    }
  }

  /// What was sent before `limit`, and after all that feedback has reported, in the order of sending. The work is bounded by `capacity`.
  func unansweredPackets(sentBefore limit: Instant) -> [LostPacket] {
    guard !entries.isEmpty, var number = expected else { return [] }
    var packets: [LostPacket] = []
    while packets.count < Self.capacity, let entry = entry(number), entry.state == .inFlight, entry.sentAt < limit {
      packets.append(entry.lost)
      number &+= 1
    }
    return packets
  }

  private func entry(_ sequenceNumber: UInt16) -> Entry? {
    let entry = entries[Int(sequenceNumber) & (Self.capacity - 1)]
    return entry.sequenceNumber == sequenceNumber && entry.state != .unused ? entry : nil
  }

  /// The 24-bit reference time wraps after 12 days.
  private mutating func unwrap(referenceTime value: UInt32) -> Int64 {
    defer { lastReference = value }
    guard let referenceTime else {
      self.referenceTime = Int64(value)
      return Int64(value)
    }
    let step = Int32(bitPattern: (value &- lastReference) << 8) >> 8
    let unwrapped = referenceTime &+ Int64(step)
    self.referenceTime = unwrapped
    return unwrapped
  }
}
