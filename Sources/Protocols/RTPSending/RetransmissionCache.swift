import RTP
import Wire

/// A sent packet, kept for retransmission. The payload is shared with all other viewers.
struct SentPacket: Sendable {
  var header: RTPHeader
  /// As sent: without RTX, a retransmission must be bit-identical, because SRTP ciphers must not encrypt two plaintexts
  /// under one packet index (RFC 7714 section 8.1).
  var extensions: RTPHeaderExtensions
  var payload: [UInt8]
  var counterOffset: VP8CounterOffset
  var lastRetransmittedAt: Instant?
  var retransmissions = 0
  var isQueued = false
}

/// The latest packets of one stream, with constant-time lookup by sequence number. RFC 4588 section 6.
struct RetransmissionCache: Sendable {
  private var slots: [Slot]
  private let mask: Int
  /// Packets before this one have been removed or overwritten.
  private var oldest: UInt16?
  /// Maximum packets removed per insertion: more than are added, but little work at once.
  private static let forgottenAtOnce = 4

  /// What is asked for each packet stands beside the packet: an optional is copied to look into it.
  struct Slot: Sendable {
    var sequenceNumber: UInt16 = 0
    var sentAt = Instant.zero
    /// As far as feedback says.
    var hasArrived = false
    /// Copies, the first among them, of which nobody knows yet whether they have arrived.
    var untold: UInt8 = 1
    var packet: SentPacket?
  }

  /// `capacity` is rounded up to a power of two; 0 keeps nothing.
  init(capacity: Int) {
    let limited = min(max(capacity, 0), 16384)
    let size = limited == 0 ? 0 : limited == 1 ? 1 : 1 << (Int.bitWidth - (limited - 1).leadingZeroBitCount)
    slots = Array(repeating: Slot(), count: size)
    mask = size - 1
  }

  /// Stores the packet, and removes packets older than `maximumAge`.
  mutating func insert(_ packet: SentPacket, sentAt: Instant, maximumAge: Duration) {
    guard !slots.isEmpty else { return }
    let newest = packet.header.sequenceNumber
    slots[Int(newest) & mask] = Slot(sequenceNumber: newest, sentAt: sentAt, packet: packet)
    var number = oldest ?? newest
    for _ in 0..<Self.forgottenAtOnce where number != newest {
      let index = Int(number) & mask
      if slots[index].sequenceNumber == number {
        guard sentAt - slots[index].sentAt > maximumAge else { break }
        slots[index].packet = nil
      }
      number &+= 1
    }
    oldest = number
  }

  mutating func removeAll() {
    for index in slots.indices { slots[index].packet = nil }
    oldest = nil
  }

  /// Whether a packet can be sent again now.
  enum Availability: Hashable, Sendable {
    /// It has so many bytes of payload.
    case available(byteCount: Int)
    /// It has arrived, waits to be sent again, or one of its copies may have arrived; or it is not known.
    case notNeeded
    /// It was sent too often, or too long ago, and every copy is known to be lost.
    case exhausted
  }

  /// - Parameter notSentSince: a packet that was sent again after this may still be in flight.
  func availability(
    of sequenceNumber: UInt16, now: Instant, maximumAge: Duration, notSentSince: Instant, maximumCount: Int
  ) -> Availability {
    guard let index = index(of: sequenceNumber), !slots[index].hasArrived, let packet = slots[index].packet,
      !packet.isQueued, packet.lastRetransmittedAt.map({ $0 <= notSentSince }) ?? true
    else { return .notNeeded }
    guard packet.retransmissions < maximumCount, now - slots[index].sentAt <= maximumAge else {
      return slots[index].untold == 0 ? .exhausted : .notNeeded
    }
    return .available(byteCount: packet.payload.count)
  }

  /// How often the packet was sent again; 0 when it is not cached.
  func retransmissions(of sequenceNumber: UInt16) -> Int {
    index(of: sequenceNumber).flatMap { slots[$0].packet?.retransmissions } ?? 0
  }

  /// Feedback says that the packet has arrived, the first time or again.
  mutating func noteArrived(_ sequenceNumber: UInt16) {
    guard let index = index(of: sequenceNumber) else { return }
    slots[index].hasArrived = true
  }

  /// Feedback says that the packet was lost, the first time or again.
  mutating func noteLost(_ sequenceNumber: UInt16) {
    guard let index = index(of: sequenceNumber), slots[index].untold > 0 else { return }
    slots[index].untold -= 1
  }

  /// The viewer says that it misses the packet. It may have asked before what was sent after `notSentSince` could arrive.
  mutating func noteMissing(_ sequenceNumber: UInt16, notSentSince: Instant) {
    guard let index = index(of: sequenceNumber), let packet = slots[index].packet else { return }
    slots[index].hasArrived = false
    if packet.lastRetransmittedAt ?? slots[index].sentAt <= notSentSince { slots[index].untold = 0 }
  }

  /// How urgently the packet should be sent again.
  func urgency(of sequenceNumber: UInt16) -> RetransmissionUrgency {
    RetransmissionUrgency(untold: index(of: sequenceNumber).map { Int(slots[$0].untold) } ?? 1)
  }

  /// How long ago the packet was sent first; zero when it is not cached.
  func age(of sequenceNumber: UInt16, now: Instant) -> Duration {
    index(of: sequenceNumber).map { now - slots[$0].sentAt } ?? .zero
  }

  /// Where the packet is, or was.
  private func index(of sequenceNumber: UInt16) -> Int? {
    guard !slots.isEmpty else { return nil }
    let index = Int(sequenceNumber) & mask
    return slots[index].sequenceNumber == sequenceNumber ? index : nil
  }

  /// Marks the packet as waiting in the retransmission queue, so that it is not queued twice.
  mutating func markQueued(_ sequenceNumber: UInt16) {
    guard let index = index(of: sequenceNumber) else { return }
    slots[index].packet?.isQueued = true
  }

  /// The packet, if it is still cached and recent enough; it is marked as retransmitted.
  mutating func takeForRetransmission(_ sequenceNumber: UInt16, now: Instant, maximumAge: Duration) -> SentPacket? {
    guard let index = index(of: sequenceNumber), let packet = slots[index].packet, packet.isQueued else { return nil }
    slots[index].packet?.isQueued = false
    guard now - slots[index].sentAt <= maximumAge else { return nil }
    slots[index].packet?.retransmissions += 1
    slots[index].untold = min(slots[index].untold, .max - 1) + 1
    slots[index].packet?.lastRetransmittedAt = now
    return packet
  }
}

/// How urgently a packet should be sent again.
enum RetransmissionUrgency: Sendable {
  /// It is known to be missing: every copy was lost.
  case missing
  /// Of one copy nobody knows whether it has arrived.
  case uncertain
  /// Of several copies nobody knows: one has arrived, most probably.
  case spare

  /// - Parameter untold: copies of which nobody knows yet whether they have arrived.
  init(untold: Int) {
    self =
      switch untold {
      case 0: .missing
      case 1: .uncertain
      default: .spare
      }
  }

  /// The share of the budget that it leaves to what is more urgent.
  fileprivate var reserve: Double {
    switch self {
    case .missing: 0
    case .uncertain: 0.1
    case .spare: 0.5
    }
  }
}

/// Bounds retransmissions, however many are requested: half of the target bitrate, in bursts of at most half a second
/// of it.
struct RetransmissionBudget: Sendable {
  private var bytes: Double?
  private var updatedAt = Instant.zero

  /// Of the target.
  private static let share = 0.5
  /// At once, however low the target: a picture, or some packets of one.
  private static let bytes = 48_000.0

  /// Takes `count` bytes from the budget; false if that would leave less than the reserve for what is more urgent.
  mutating func take(
    _ count: Int, for urgency: RetransmissionUrgency, targetKbps: Int, now: Instant
  ) -> Bool {
    let bytesPerSecond = Double(targetKbps) * 125 * Self.share
    let capacity = max(Self.bytes, bytesPerSecond)
    var available = bytes ?? capacity
    if bytes != nil { available += max(0, (now - updatedAt).inSeconds) * bytesPerSecond }
    available = min(available, capacity)
    updatedAt = now
    defer { bytes = available }
    guard available - Double(count) >= capacity * urgency.reserve else { return false }
    available -= Double(count)
    return true
  }
}
