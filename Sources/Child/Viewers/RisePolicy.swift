internal import Control
internal import Wire

/// When a viewer goes up a step: its path has carried more than that needs for a while, longer after a try that failed.
struct RisePolicy {
  enum Tuning {
    /// How long there has to be enough for more, at first and after tries that failed.
    static let patience = Duration.seconds(5)
    static let maximumPatience = Duration.seconds(60)
    /// Where there is twice the surplus, there is no need to look for long.
    static let amplePatience = Duration.seconds(1)
    /// At least for each viewer that watches the rendition already, up to `maximumPatience`: each gets the key frame with
    /// which another joins.
    static let patiencePerOther = Duration.seconds(4)
    /// How much there has to be, in percent of what is needed.
    static let surplusPercent = 130
    /// The same for the smallest rendition: its first picture, a key frame, is as much as such a path carries in half a second.
    static let smallestSurplusPercent = 175
    /// A late burst lowers an estimate for as long: with less than the surplus, but enough, the wait continues.
    static let interruption = Duration.seconds(1)
    /// A rise that is taken back sooner than this was a mistake; one that lasted three times as long was none.
    static let trial = Duration.seconds(20)
  }

  private struct Surplus {
    var since: Instant
    /// When it became less than that, if it is now.
    var interruptedAt: Instant?
  }

  /// Of steps above; missing where there is not enough.
  private var surpluses: [PictureStep: Surplus] = [:]
  private var raisedAt: Instant?
  /// Of steps where a try has failed.
  private var patience: [PictureStep: Duration] = [:]
  /// When a surplus will have lasted long enough, as of this look; nil when none is waited for.
  private(set) var due: Instant?

  /// Called first each time that the viewers of a camera are looked at.
  mutating func beginLook() { due = nil }

  /// Whether there has been enough for a step above for long enough.
  ///
  /// - Parameters:
  ///   - others: how many viewers have it already.
  ///   - isAvoided: it lost too much there.
  mutating func isReady(
    for step: PictureStep, estimateKbps: Int, neededKbps: Int, others: Int, isAvoided: Bool, now: Instant
  ) -> Bool {
    let percent = estimateKbps * 100 / max(1, neededKbps)
    let wanted = step == .low ? Tuning.smallestSurplusPercent : Tuning.surplusPercent
    guard percent >= wanted, !isAvoided else {
      guard let surplus = surpluses[step] else { return false }
      let interruptedAt = surplus.interruptedAt ?? now
      let isBrief = !isAvoided && percent >= 100 && now - interruptedAt < Tuning.interruption
      surpluses[step] = isBrief ? Surplus(since: surplus.since, interruptedAt: interruptedAt) : nil
      return false
    }
    let since = surpluses[step]?.since ?? now
    surpluses[step] = Surplus(since: since)
    let usual = percent >= 2 * wanted ? Tuning.amplePatience : Tuning.patience
    let forOthers = min(Tuning.patiencePerOther * others, Tuning.maximumPatience)
    let ready = since + max(patience[step] ?? usual, forOthers)
    guard now < ready else { return true }
    due = min(due ?? ready, ready)
    return false
  }

  /// The viewer is on `next` now, or still.
  mutating func move(from step: PictureStep, to next: PictureStep, now: Instant) {
    if let raisedAt, now - raisedAt >= Tuning.trial * 3, next >= step {
      patience[step] = nil
      self.raisedAt = nil
    }
    if next > step {
      raisedAt = now
      // What there has been enough for, still is there: who comes back to the best need not wait on each step.
      surpluses = surpluses.filter { $0.key > next }.mapValues { Surplus(since: $0.since) }
    } else if next < step {
      if let raisedAt, now - raisedAt < Tuning.trial {
        patience[step] = min((patience[step] ?? Tuning.patience) * 2, Tuning.maximumPatience)
      }
      raisedAt = nil
      surpluses = [:]
      due = nil
    }
  }
}
