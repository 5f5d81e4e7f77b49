import Wire

/// How much of what was sent lately was lost: decides what is done about loss, not how much is sent.
struct RecentLoss: Sendable {
  private struct Slot: Sendable {
    var lost = 0
    var total = 0
    var endedAt = Instant.zero

    var fraction: Double { total > 0 ? Double(lost) / Double(total) : 0 }
  }

  /// The last seconds that are over, oldest first.
  private var slots: [Slot] = []
  private var current = Slot()
  private var startedAt: Instant?
  /// Whether the path is lossy enough for the viewer to wait for retransmissions; it ends after `calmBeforeLive`.
  private(set) var needsPatience = false
  private var lossyAt = Instant(nanoseconds: .min)

  private static let slot = Duration.seconds(1)
  private static let slotCount = 10
  /// For what is done at once.
  private static let recentSlots = 4
  /// What is older says nothing, where no feedback has come since.
  private static let memory = Duration.seconds(12)
  /// With fewer packets than this, a fraction is noise.
  private static let packetsToJudge = 20
  private static let patientAbove = 0.05
  private static let calmBelow = 0.02
  private static let calmBeforeLive = Duration.seconds(10)

  /// `lost` is negative where packets that had been counted as lost have arrived after all.
  mutating func add(lost: Int, total: Int, now: Instant) {
    guard let startedAt else {
      self.startedAt = now
      current = Slot(lost: lost, total: total)
      return
    }
    current.lost += lost
    current.total += max(0, total)
    guard now - startedAt >= Self.slot, current.total >= Self.packetsToJudge else { return }
    current.endedAt = now
    slots.append(current)
    if slots.count > Self.slotCount { slots.removeFirst() }
    current = Slot()
    self.startedAt = now
    judge(now: now)
  }

  /// Of the last one to four seconds, 0...1. Asked for each packet, so without iterators.
  var fraction: Double { fraction(from: slots.count - Self.recentSlots, and: current) }

  /// Of the last ten seconds, 0...1.
  func longFraction(now: Instant) -> Double {
    let isFresh = startedAt.map { now - $0 < Self.memory } ?? false
    let firstFresh = slots.firstIndex { now - $0.endedAt < Self.memory } ?? slots.endIndex
    return fraction(from: firstFresh, and: isFresh ? current : Slot())
  }

  private func fraction(from first: Int, and current: Slot) -> Double {
    var sum = current
    var index = max(0, first)
    while index < slots.count {
      sum.lost += slots[index].lost
      sum.total += slots[index].total
      index += 1
    }
    guard sum.total >= Self.packetsToJudge else { return 0 }
    return min(max(0, sum.fraction), 1)
  }

  /// A single gap, however long, is no reason to wait: nothing that was sent meanwhile comes in time.
  private mutating func judge(now: Instant) {
    if fraction > Self.calmBelow { lossyAt = now }
    let lossySlots = slots.suffix(Self.recentSlots).count { $0.fraction > Self.patientAbove }
    if fraction > Self.patientAbove, lossySlots >= Self.recentSlots - 1 {
      needsPatience = true
    } else if needsPatience, now - lossyAt >= Self.calmBeforeLive {
      needsPatience = false
    }
  }
}

/// Whether what feedback reports as lost tends to arrive later: a path that reorders.
struct FeedbackReordering: Sendable {
  /// Of the packets reported as lost, those that arrived after all; over the last hundred or so.
  private var recoveredShare = 0.0

  private static let weight = 1.0 / 64
  private static let limit = 0.25

  /// Whether a report of loss can be taken at its word.
  var isRare: Bool { recoveredShare < Self.limit }

  mutating func add(lost: Int, recovered: Int) {
    for _ in 0..<min(lost, 64) { recoveredShare -= recoveredShare * Self.weight }
    for _ in 0..<min(recovered, 64) { recoveredShare += (1 - recoveredShare) * Self.weight }
  }
}
