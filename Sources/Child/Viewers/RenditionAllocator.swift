internal import Frames
internal import Pipelines
internal import Server
internal import Wire

/// Gives each viewer of a camera the best rendition that its path carries, and each rendition's encoder its rate. Pure:
/// estimates and times are passed in.
///
/// A viewer gets the highest rendition whose base layer fits into 0.85 of its estimate beside the sound. It goes down at
/// once, and up when 1.3 times what is needed was there for five seconds, longer after a try that failed and where others
/// would get the key frame. A rendition's rate is that of its best viewer, or up to 3 % less where a slower one
/// is near: a viewer that is much slower gets the base layer or the next rendition, and never makes the picture of
/// others worse.
struct RenditionAllocator {
  struct Settings {
    /// `bitrate-kbps`: of the high rendition.
    var range: ClosedRange<Int>
    /// Where an encoder starts before a path has been measured.
    var startKbps: Int
  }

  struct Viewer {
    var id: PeerID
    /// Nil before it has been measured.
    var estimateKbps: Int?
    /// What it wants of pictures at most, with their headers; nil: any rate.
    var limitKbps: Int?
    /// What its sound takes of the path.
    var soundKbps: Int
    /// What messages to it take of a narrow path.
    var messagesKbps = 0
    /// Of its packets, over the last ten seconds; 0...1.
    var fractionLost = 0.0
    /// When its connection came up.
    var since: Instant
    /// A guest or a player with a token: beside paired parents, its path decides about its own picture alone.
    var isLent = false
  }

  struct Allocation: Equatable {
    var assignments: [PeerID: PictureAssignment]
    var targets: PerRendition<RenditionTarget?>
  }

  /// What becomes of a viewer that has lost a picture for good.
  enum Repair {
    /// A key frame of its rendition mends it.
    case keyFrame
    /// It goes on with a smaller rendition, which begins with a key frame.
    case smallerRendition
  }

  private struct Known {
    var step: PictureStep
    /// It gets both temporal layers of its step.
    var hasAllLayers = false
    /// Since when there has been enough for each step above.
    var readySince: [PictureStep: Instant] = [:]
    /// Since when there has been less, also for the step itself.
    var scantSince: [PictureStep: Instant] = [:]
    var raisedAt: Instant?
    /// Where a try has failed.
    var patience: [PictureStep: Duration] = [:]
    /// Steps that lost too much, and until when they are avoided at least.
    var avoided: [PictureStep: Instant] = [:]
    /// It loses more than `lossyAbove`.
    var isLossy = false
    /// When key frames had to mend its picture, lately.
    var repairs: [Instant] = []
    /// So many of them that until then it gets the base layer alone.
    var baseLayerUntil: Instant?
    /// Since when there has been a little less than its step needs.
    var scarceSince: Instant?
    /// It came to the smallest rendition because of a fall, and has not had enough for it yet.
    var isFalling = false
    /// When there was last room for a still; nil when there has been none since it came to that step.
    var roomForStillAt: Instant?
    /// When a surplus will have lasted long enough for a rise, as of the last look; nil when none is waited for.
    var nextRise: Instant?

    /// There is too little: whether only for a moment so far, and not much too little.
    mutating func isScarceBriefly(_ estimateKbps: Int, needed: Int, patience: Duration, now: Instant) -> Bool {
      let since = scarceSince ?? now
      scarceSince = since
      return estimateKbps * 2 >= needed && now - since < patience
    }
  }

  /// A viewer with what its path leaves for pictures.
  private struct Candidate {
    var id: PeerID
    /// Beside the sound, and with a reserve.
    var budget: Int
    /// Of that, what pictures get: messages take a little.
    var pictureKbps: Int
    var soundKbps: Int
    var estimateKbps: Int
    /// Its estimate says how much the path carries, not only how much has been tried so far.
    var isMeasured: Bool
    /// What it wants of pictures at most; nil: any rate.
    var limitKbps: Int?
    var step: PictureStep

    /// Its path would carry more than it wants.
    var isAtLimit: Bool
    var isLent: Bool
    /// What there is to say about its path: it was measured, or has carried more than an estimate begins with.
    var isKnown: Bool

    /// Whether it wants as much as an encoder of this rate makes.
    func accepts(kbps: Int) -> Bool { limitKbps.map { $0 * 100 >= kbps * RenditionAllocator.limitedPercent } ?? true }
  }

  /// Of the estimate, what is used: the rest is for retransmissions, feedback and estimates that are too high.
  static let usablePercent = 85
  /// Of an encoder's rate, what a viewer has to want for it: headers come on top, and encoders exceed their rate.
  static let limitedPercent = 115
  /// For stills, also what their encoder is told: one of 1 to 3 kB every five seconds, and as much again in reserve.
  static let stillsKbps = 8
  /// How long there has to be enough for more, at first and after tries that failed.
  static let patience = Duration.seconds(5)
  static let maximumPatience = Duration.seconds(60)
  /// A rise that is taken back sooner than this was a mistake; one that lasted three times as long was none.
  static let trial = Duration.seconds(20)
  /// How much more than needed there has to be, in percent.
  static let surplusPercent = 130
  /// The same for the smallest rendition: its first picture, a key frame, is as much as such a path carries in half a second.
  static let smallestSurplusPercent = 175
  /// A moment with less than that, but enough, does not begin the wait anew, nor does one without the reserve cost the middle
  /// rendition: a late burst lowers an estimate for as long.
  static let scantPatience = Duration.seconds(1)
  /// Where there is twice as much as that, there is no need to look for long.
  static let amplePatience = Duration.seconds(1)
  /// How long at least for each viewer that watches the rendition already, up to `maximumPatience`: each gets the key frame
  /// with which another joins.
  static let patiencePerOther = Duration.seconds(4)
  /// By how much slower viewers may lower a rendition's rate, in percent of it: 5 % are the most that others may notice, and
  /// encoders do not keep to their rate that well.
  static let toleratedPercent = 3
  /// With several viewers a rate rises by that much of itself a second: the estimates of all rise with what they are sent.
  static let growthPerSecond = 0.15
  /// How long a viewer keeps the smallest rendition with less than it needs, but more than half of that: while a queue
  /// drains, as after its key frame, the estimate is low for a moment.
  static let scarcePatience = Duration.seconds(3)
  /// The same for who comes to it because of a fall, as long as the first queue takes to drain: where the path then turns out
  /// to carry stills alone, what was sent meanwhile stands before them.
  static let fallPatience = Duration.milliseconds(1500)
  /// The same for stills, which come only every few seconds.
  static let stillsPatience = Duration.seconds(5)
  /// How long at least a rendition is avoided that could not be repaired for one viewer.
  static let avoidance = Duration.seconds(30)
  /// While a viewer loses a greater share than this, it avoids such a rendition where more than `fewOthers` watch it: what was
  /// lost for good once will be again, and each return costs all of them a key frame.
  static let lossyAbove = 0.05
  static let fewOthers = 2
  /// How long a viewer by itself gets the base layer alone after it needed a key frame: while that is on its way, there is less
  /// to lose.
  static let relief = Duration.seconds(2)
  /// So many key frames within that time, for one viewer alone, are too many.
  static let maximumRepairs = 3
  static let repairMemory = Duration.seconds(10)
  /// An estimate that has not fallen in that time is one that is still rising.
  static let unmeasuredTime = Duration.seconds(10)

  private let settings: Settings
  private var known: [PeerID: Known] = [:]
  private var rates: PerRendition<Int?> = PerRendition { _ in nil }
  private var updatedAt: Instant?
  /// When `allocate` has to be called for a rise, at the latest: estimates that rest bring no call. Nil when nobody waits for
  /// one.
  var nextRise: Instant? { known.values.compactMap(\.nextRise).min() }

  init(settings: Settings) {
    self.settings = settings
  }

  /// Least and greatest rate of a rendition for a camera of this size, kbit/s. Below 600 kbit/s 720p shows less than the
  /// next smaller one.
  func range(of rendition: Rendition, size: (width: Int, height: Int)) -> ClosedRange<Int> {
    let upper = settings.range.upperBound
    switch rendition {
    case .high, .refreshed:
      let least = 600 * size.width * size.height / (1280 * 720)
      return min(max(40, least, settings.range.lowerBound), upper)...upper
    case .middle: return min(250, upper)...min(800, upper)
    case .low: return min(40, upper)...min(120, upper)
    }
  }

  /// Base layer in percent of the rate.
  private func basePercent(of rendition: Rendition) -> Int { rendition >= .high ? 75 : 60 }

  /// - Parameters:
  ///   - viewers: those that are connected and see the camera.
  ///   - size: of the camera's pictures.
  ///   - isRecorded: somebody records the high rendition.
  mutating func allocate(
    _ viewers: [Viewer], size: (width: Int, height: Int), isRecorded: Bool = false, now: Instant
  ) -> Allocation {
    let elapsed = updatedAt.map { min(5, max(0, (now - $0).inSeconds)) } ?? 0
    updatedAt = now
    let ids = Set(viewers.map(\.id))
    known = known.filter { ids.contains($0.key) }
    var waiting = viewers.map { candidate($0, now: now) }
    let renditions = Rendition.ladder.reversed().filter { $0.size(ofCamera: size.width, size.height) != nil }
    var allocation = Allocation(assignments: [:], targets: PerRendition { _ in nil })
    for rendition in renditions {
      let group = group(of: rendition, &waiting, size: size, elapsed: elapsed, now: now)
      rates[rendition] = group.viewers.isEmpty ? nil : group.best
      guard !group.viewers.isEmpty else { continue }
      allocation.targets[rendition] = RenditionTarget(kbps: group.kbps)
      for viewer in group.viewers {
        let takesAll = takesAllLayers(viewer, of: rendition, kbps: group.kbps, now: now)
        allocation.assignments[viewer.id] = PictureAssignment(
          step: PictureStep(rendition), rendition: rendition, takesAllLayers: takesAll,
          isReduced: rendition != .high && !viewer.isAtLimit)
        move(viewer, to: PictureStep(rendition), now: now)
        known[viewer.id]?.hasAllLayers = takesAll
      }
    }
    let smallest = renditions.last ?? .high
    for viewer in waiting {
      let room = roomForStills(viewer, now: now)
      let step: PictureStep = room == .never ? .soundAlone : .stills
      move(viewer, to: step, now: now)
      allocation.assignments[viewer.id] = PictureAssignment(
        step: step, rendition: room == .now ? smallest : nil, takesAllLayers: false,
        isReduced: !viewer.isAtLimit)
      if room == .now { known[viewer.id]?.roomForStillAt = now }
      // The encoder is kept for the next one.
      if known[viewer.id]?.roomForStillAt != nil, allocation.targets[smallest] == nil {
        allocation.targets[smallest] = RenditionTarget(kbps: Self.stillsKbps, isStillsOnly: true)
      }
    }
    if viewers.isEmpty || isRecorded, allocation.targets[.high].map(\.isStillsOnly) ?? true {
      allocation.targets[.high] = RenditionTarget(
        kbps: min(max(settings.startKbps, settings.range.lowerBound), settings.range.upperBound))
    }
    return allocation
  }

  /// Whether a viewer has room for all of a rendition. Once it has, the reserve counts as well: estimates that rise and fall
  /// a little would change the frame rate each time. On the narrowest paths the reserve is needed.
  private func takesAllLayers(_ viewer: Candidate, of rendition: Rendition, kbps: Int, now: Instant) -> Bool {
    guard viewer.accepts(kbps: kbps), !hasBaseLayerOnly(viewer.id, now: now) else { return false }
    guard viewer.isMeasured else { return true }
    if viewer.budget * 10 >= kbps * 9 { return true }
    guard rendition != .low, viewer.step == PictureStep(rendition) else { return false }
    return known[viewer.id]?.hasAllLayers == true && viewer.estimateKbps - viewer.soundKbps >= kbps
  }

  private mutating func candidate(_ viewer: Viewer, now: Instant) -> Candidate {
    if known[viewer.id] == nil { known[viewer.id] = Known(step: .high) }
    known[viewer.id]?.nextRise = nil
    known[viewer.id]?.isLossy = viewer.fractionLost > Self.lossyAbove
    let sound = viewer.soundKbps
    let path = viewer.estimateKbps ?? settings.startKbps
    let limit = viewer.limitKbps.map { $0 + sound } ?? .max
    let estimate = min(path, limit)
    let isRising = estimate >= settings.startKbps && now - viewer.since < Self.unmeasuredTime
    let budget = estimate * Self.usablePercent / 100 - sound
    return Candidate(
      id: viewer.id, budget: budget, pictureKbps: budget - viewer.messagesKbps, soundKbps: sound,
      estimateKbps: estimate,
      isMeasured: viewer.estimateKbps != nil && !isRising, limitKbps: viewer.limitKbps,
      step: known[viewer.id]?.step ?? .high, isAtLimit: path >= limit, isLent: viewer.isLent,
      isKnown: viewer.estimateKbps != nil && (!isRising || path > settings.startKbps))
  }

  /// Takes those out of `waiting` that are on this rendition now, with its rate, and the best one's: from that it grows, or what
  /// is tolerated would be taken off again and again.
  private mutating func group(
    of rendition: Rendition, _ waiting: inout [Candidate], size: (width: Int, height: Int), elapsed: Double,
    now: Instant
  ) -> (viewers: [Candidate], kbps: Int, best: Int) {
    let range = range(of: rendition, size: size)
    let step = PictureStep(rendition)
    let percent = basePercent(of: rendition)
    let base = { (kbps: Int) in kbps * percent / 100 }
    // Below the smallest one there is only a still now and then, and below the middle one a third of the pictures.
    let spared = waiting.filter {
      switch rendition {
      case .low: isSpared($0, needed: base(range.lowerBound), now: now)
      case .middle: usesReserve($0, needed: base(range.lowerBound), at: step, now: now)
      case .high, .refreshed: false
      }
    }.map(\.id)
    let fits = { (viewer: Candidate, kbps: Int) in
      viewer.accepts(kbps: base(kbps))
        && (!viewer.isMeasured || viewer.budget >= base(kbps) || spared.contains(viewer.id))
    }

    // Who is here, or comes from above, where it was too much.
    var here = waiting.filter { $0.step >= step && fits($0, range.lowerBound) && !isAvoided(step, by: $0.id, now: now) }
    let best = bestRate(of: here, on: step, range: range, before: rates[rendition], elapsed: elapsed)
    here.removeAll { !fits($0, best) }

    let needed = base(here.allSatisfy { isGuest($0, on: step) } ? range.lowerBound : best)
    let others = here.count
    for viewer in waiting where viewer.step < step {
      let needed = needed + viewer.soundKbps
      if isRaised(viewer, to: step, needed: needed, others: others, now: now) { here.append(viewer) }
    }
    let ids = Set(here.map(\.id))
    waiting.removeAll { ids.contains($0.id) }
    let rate = bestRate(of: here, on: step, range: range, before: rates[rendition], elapsed: elapsed)
    let slowest = deciding(here, on: step).filter(\.isMeasured).map(\.pictureKbps).min() ?? rate
    let followed = max(slowest, rate * (100 - Self.toleratedPercent) / 100)
    return (here, min(max(min(rate, followed), range.lowerBound), range.upperBound), rate)
  }

  /// Those whose paths decide about a rendition's rate: paired parents before whoever was lent access, and not those that came
  /// down to it by their loss, where there are others.
  private func deciding(_ viewers: [Candidate], on step: PictureStep) -> [Candidate] {
    let parents = viewers.filter { !$0.isLent }
    let first = parents.isEmpty ? viewers : parents
    let residents = first.filter { !isGuest($0, on: step) }
    return residents.isEmpty ? first : residents
  }

  /// What the best of the viewers that decide can have.
  private func bestRate(
    of viewers: [Candidate], on step: PictureStep, range: ClosedRange<Int>, before: Int?, elapsed: Double
  ) -> Int {
    let viewers = deciding(viewers, on: step)
    // Who wants only so much says nothing about the paths of others.
    let unlimited = viewers.filter { $0.limitKbps == nil }
    let isAnyKnown = unlimited.contains(where: \.isKnown)
    guard let best = viewers.filter({ $0.isKnown || !isAnyKnown }).map(\.pictureKbps).max() else {
      return range.lowerBound
    }
    var rate = best
    if (unlimited.isEmpty ? viewers : unlimited).count > 1, let before {
      rate = min(rate, before + max(1, Int(saturating: Double(before) * Self.growthPerSecond * elapsed)))
    }
    return min(max(rate, range.lowerBound), range.upperBound)
  }

  /// A viewer whose path loses packets has lost a picture of `rendition` for good. Where others watch the same one, it goes
  /// on with a smaller one: a key frame of that costs them nothing. A viewer by itself gets a key frame, and for a moment no
  /// upper layer, which is as much less to lose. When it needs them again and again, it does without that layer for longer,
  /// and then goes down as well.
  mutating func repair(
    _ rendition: Rendition, for id: PeerID, isShared: Bool, size: (width: Int, height: Int), now: Instant
  ) -> Repair {
    guard var state = known[id] else { return .keyFrame }
    defer { known[id] = state }
    let hasSmaller = Rendition.ladder.contains {
      PictureStep($0) < PictureStep(rendition) && $0.size(ofCamera: size.width, size.height) != nil
    }
    if !isShared {
      state.repairs = state.repairs.filter { now - $0 < Self.repairMemory } + [now]
      guard state.repairs.count >= Self.maximumRepairs else { return .keyFrame }
      state.repairs = []
      guard let until = state.baseLayerUntil, now < until else {
        state.baseLayerUntil = now + Self.avoidance
        return .keyFrame
      }
    }
    guard hasSmaller else { return .keyFrame }
    state.avoided[PictureStep(rendition)] = now + Self.avoidance
    return .smallerRendition
  }

  private func hasBaseLayerOnly(_ id: PeerID, now: Instant) -> Bool {
    guard let state = known[id] else { return false }
    let isRelieved = state.repairs.last.map { now - $0 < Self.relief } ?? false
    return isRelieved || state.baseLayerUntil.map { now < $0 } ?? false
  }

  /// Whether it has come down to a step because of what it loses, not because its path is narrow.
  private func isGuest(_ viewer: Candidate, on step: PictureStep) -> Bool {
    known[viewer.id]?.avoided.keys.contains { $0 > step } ?? false
  }

  /// - Parameter others: how many viewers would get the key frame with which this one comes to the step.
  private func isAvoided(_ step: PictureStep, by id: PeerID, others: Int = 0, now: Instant) -> Bool {
    guard let state = known[id], let until = state.avoided[step] else { return false }
    return now < until || others > Self.fewOthers && state.isLossy
  }

  /// Whether there is too little only for a moment so far, and not much too little.
  private mutating func isSpared(_ viewer: Candidate, needed: Int, now: Instant) -> Bool {
    guard viewer.step >= .low, var state = known[viewer.id] else { return false }
    defer { known[viewer.id] = state }
    guard viewer.isMeasured, viewer.budget < needed else {
      state.scarceSince = nil
      state.isFalling = false
      return false
    }
    if viewer.step > .low { state.isFalling = true }
    return state.isScarceBriefly(
      viewer.estimateKbps, needed: needed + viewer.soundKbps,
      patience: state.isFalling ? Self.fallPatience : Self.scarcePatience, now: now)
  }

  /// Whether the reserve, but no more than that, is lacking for a moment: its base layer fits without.
  private mutating func usesReserve(_ viewer: Candidate, needed: Int, at step: PictureStep, now: Instant) -> Bool {
    guard viewer.step == step, viewer.isMeasured, var state = known[viewer.id] else { return false }
    defer { known[viewer.id] = state }
    guard viewer.budget < needed, viewer.estimateKbps - viewer.soundKbps >= needed else {
      state.scantSince[step] = nil
      return false
    }
    let since = state.scantSince[step] ?? now
    state.scantSince[step] = since
    return now - since < Self.scantPatience
  }

  /// Whether there has been enough for a step for long enough.
  ///
  /// - Parameter others: how many viewers have it already.
  private mutating func isRaised(
    _ viewer: Candidate, to step: PictureStep, needed: Int, others: Int = 0, now: Instant
  ) -> Bool {
    guard var state = known[viewer.id] else { return false }
    defer { known[viewer.id] = state }
    let surplus = viewer.estimateKbps * 100 / max(1, needed)
    let wanted = step == .low ? Self.smallestSurplusPercent : Self.surplusPercent
    let isAvoided = isAvoided(step, by: viewer.id, others: others, now: now)
    guard surplus >= wanted, !isAvoided else {
      let scantSince = state.scantSince[step] ?? now
      state.scantSince[step] = scantSince
      let isBrief = surplus >= 100 && now - scantSince < Self.scantPatience
      if isAvoided || !isBrief { state.readySince[step] = nil }
      return false
    }
    state.scantSince[step] = nil
    let since = state.readySince[step] ?? now
    state.readySince[step] = since
    let usual = surplus >= 2 * wanted ? Self.amplePatience : Self.patience
    let forOthers = min(Self.patiencePerOther * others, Self.maximumPatience)
    let due = since + max(state.patience[step] ?? usual, forOthers)
    guard now < due else { return true }
    state.nextRise = min(state.nextRise ?? due, due)
    return false
  }

  private enum Room { case now, soon, never }

  /// Each still, large as it is for such a path, lowers the estimate for a moment. The next one waits until that is over, and
  /// for moving pictures that are near: it would put them off. Never for long: who is told of stills waits for one.
  private mutating func roomForStills(_ viewer: Candidate, now: Instant) -> Room {
    let needed = viewer.soundKbps + Self.stillsKbps
    if viewer.step == .soundAlone {
      return isRaised(viewer, to: .stills, needed: needed, now: now) ? .now : .never
    }
    guard var state = known[viewer.id] else { return .never }
    defer { known[viewer.id] = state }
    guard viewer.estimateKbps < needed else {
      state.scarceSince = nil
      guard let last = state.roomForStillAt, let rise = state.nextRise else { return .now }
      return rise - last <= Self.stillsPatience ? .soon : .now
    }
    let isBrief = state.isScarceBriefly(
      viewer.estimateKbps, needed: needed, patience: Self.stillsPatience, now: now)
    return isBrief ? .soon : .never
  }

  private mutating func move(_ viewer: Candidate, to step: PictureStep, now: Instant) {
    guard var state = known[viewer.id] else { return }
    defer { known[viewer.id] = state }
    if let raisedAt = state.raisedAt, now - raisedAt >= Self.trial * 3, step >= state.step {
      state.patience[state.step] = nil
      state.raisedAt = nil
    }
    guard step != state.step else { return }
    if step > state.step {
      state.raisedAt = now
      // What there has been enough for, still is there: who comes back to the best need not wait on each step.
      state.readySince = state.readySince.filter { $0.key > step }
      state.avoided = state.avoided.filter { $0.key > step }
    } else {
      if let raisedAt = state.raisedAt, now - raisedAt < Self.trial {
        state.patience[state.step] = min((state.patience[state.step] ?? Self.patience) * 2, Self.maximumPatience)
      }
      state.raisedAt = nil
      state.readySince = [:]
      state.nextRise = nil
    }
    state.scantSince = [:]
    state.scarceSince = nil
    state.roomForStillAt = nil
    state.repairs = []
    state.baseLayerUntil = nil
    if step != .low { state.isFalling = false }
    state.step = step
  }
}
