import Wire

/// Tells packets that were held up together from packets that wait in a queue. A machine that does not schedule its
/// receiver, or a radio that sleeps, delivers nothing for a while and then everything at once: the first of these are late,
/// although the path carries what it did before. A queue is late, too, but delivers all the time.
struct ArrivalStall: Sendable {
  enum Verdict: Hashable, Sendable {
    /// The packet says how long the path takes.
    case telling
    /// It was held up.
    case heldUp
    /// The first after those that were held up: what was measured before has a gap.
    case over
  }

  private struct Last: Sendable {
    var sentAt: Int64
    var arrivedAt: Int64
  }

  private var last: Last?
  /// What was sent before this was held up; nil: nothing is.
  private var heldUpBefore: Int64?
  /// Such delays follow each other: a radio that sleeps. Its batches are what there is to measure.
  private var stallsInARow = 0
  private var stalledAt: Int64?
  private var packetsSinceStall = 0

  private static let regular: Int64 = 400_000_000
  private static let regularStalls = 4
  /// A batch has more than one packet: on a narrow path each comes alone.
  private static let fewestPackets = 3
  private static let gap: Int64 = 100_000_000
  /// More than this is an outage, or a clock that jumped.
  private static let longestGap: Int64 = 3_000_000_000
  /// Of the gap, what was not a gap between the packets already.
  private static let excess: Int64 = 75_000_000
  /// What was held up together arrives together.
  private static let burstGap: Int64 = 50_000_000

  /// What arrives comes in batches: how fast a burst comes says nothing.
  var isRegular: Bool {
    guard let last, let stalledAt else { return false }
    return stallsInARow >= Self.regularStalls && last.arrivedAt &- stalledAt < Self.regular
  }

  /// When the first of the last batch arrived; nil where nothing comes in batches.
  var batchBegan: Int64? { isRegular ? stalledAt : nil }

  /// Packets must be added in the order in which the feedback lists them.
  mutating func add(_ packet: AcknowledgedPacket) -> Verdict {
    let sent = packet.sentAt.nanoseconds
    guard let last else {
      self.last = Last(sentAt: sent, arrivedAt: packet.arrivedAt)
      return .telling
    }
    let sinceLast = packet.arrivedAt &- last.arrivedAt
    // Reordered.
    guard sinceLast >= 0, sent >= last.sentAt else {
      return heldUpBefore.map { sent < $0 } ?? false ? .heldUp : .telling
    }
    let isStall =
      (Self.gap...Self.longestGap).contains(sinceLast) && sinceLast - (sent - last.sentAt) > Self.excess
    self.last = Last(sentAt: sent, arrivedAt: packet.arrivedAt)
    if isStall { noteStall(at: packet.arrivedAt) }
    packetsSinceStall += 1
    if isRegular {
      heldUpBefore = nil
      return .telling
    }
    if let bound = heldUpBefore {
      guard sent < bound else {
        heldUpBefore = nil
        return .over
      }
      guard sinceLast > Self.burstGap else { return .heldUp }
      heldUpBefore = nil
      return .telling
    }
    guard isStall else { return .telling }
    heldUpBefore = last.sentAt &+ sinceLast
    return .heldUp
  }

  private mutating func noteStall(at time: Int64) {
    let isNext = stalledAt.map { time &- $0 < Self.regular } ?? false && packetsSinceStall >= Self.fewestPackets
    stallsInARow = isNext ? min(stallsInARow + 1, Self.regularStalls) : 1
    stalledAt = time
    packetsSinceStall = 0
  }
}
