import Wire

/// How much of what was sent lately was lost: decides what is done about loss, not how much is sent.
struct RecentLoss: Sendable {
  private struct Slot: Sendable {
    var lost = 0
    var total = 0
    var endedAt = Instant.zero

    var fraction: Double { total > 0 ? Double(lost) / Double(total) : 0 }
  }

  /// Of the last ten seconds, oldest first.
  private var slots: [Slot] = []
  private var current = Slot()
  private var startedAt: Instant?
  /// Of the last half to two and a half seconds, 0...1. Asked for each packet, so stored.
  private(set) var fraction = 0.0
  /// How long the viewer should wait for retransmissions. It grows step by step, so that the picture never stands for long,
  /// and ends after `calmBeforeLess`.
  private(set) var patience = Patience.none
  /// When the loss was last too high for less patience.
  private var someNeededAt = Instant(nanoseconds: .min)
  private var longNeededAt = Instant(nanoseconds: .min)

  enum Patience: Comparable, Sendable {
    case none
    /// For a retransmission.
    case some
    /// For a retransmission of a retransmission.
    case long
  }

  private static let slot = Duration.milliseconds(500)
  private static let slotCount = 20
  /// For what is done at once.
  private static let recentSlots = 4
  /// For what is done about little loss.
  private static let someSlots = 8
  /// What is older says nothing, where no feedback has come since.
  private static let memory = Duration.seconds(12)
  /// With fewer packets than this, a fraction is noise.
  private static let packetsToJudge = 20
  private static let longAbove = 0.05
  private static let longUntil = 0.02
  private static let someAbove = 0.01
  private static let someUntil = 0.005
  private static let calmBeforeLess = Duration.seconds(10)

  /// `lost` is negative where packets that had been counted as lost have arrived after all.
  mutating func add(lost: Int, total: Int, now: Instant) {
    defer { fraction = fraction(from: slots.count - Self.recentSlots, and: current) }
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

  /// Whether more than this share has been lost lately, or is since a moment ago. Asked for each packet, so without
  /// generic functions, which allocate where nothing is optimized.
  func isLossy(above limit: Double) -> Bool {
    if fraction > limit { return true }
    // Steadily: what was lost at once is no sign that more will be.
    let last = slots.count - 1
    guard last >= 0, current.total >= Self.packetsToJudge, current.fraction > limit / 2,
      slots[last].fraction > limit / 2
    else { return false }
    return fraction(from: last, and: current) > limit
  }

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
    let fraction = fraction(from: slots.count - Self.recentSlots, and: current)
    if fraction > Self.someUntil { someNeededAt = now }
    if fraction > Self.longUntil { longNeededAt = now }
    let isVeryLossy = isMostlyLossy(above: Self.longAbove, slots: Self.recentSlots)
    if isVeryLossy, patience > .none {
      patience = .long
    } else if patience == .none, isVeryLossy || isMostlyLossy(above: Self.someAbove, slots: Self.someSlots) {
      patience = .some
    } else if patience > .none, now - someNeededAt >= Self.calmBeforeLess {
      patience = .none
    } else if patience == .long, now - longNeededAt >= Self.calmBeforeLess {
      patience = .some
    }
  }

  /// In most of the last slots, not in one or two alone.
  private func isMostlyLossy(above limit: Double, slots count: Int) -> Bool {
    fraction(from: slots.count - count, and: Slot()) > limit
      && slots.suffix(count).count { $0.fraction > limit / 2 } > count / 2
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
