internal import Control
internal import Frames
internal import Pipelines
internal import Server
internal import VideoFormats
internal import Wire

/// Gives each viewer of a camera and codec the best rendition that its path carries, and each rendition's encoder its rate. Pure:
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
    /// It gets a key frame of its rendition.
    case keyFrame
    /// It gets a smaller rendition, which begins with a key frame.
    case smallerRendition
  }

  /// A viewer from its connection to its end.
  private struct State {
    private(set) var step = PictureStep.high
    /// It gets both temporal layers of its step.
    var hasAllLayers = false
    var rise = RisePolicy()
    var repair = RepairPolicy()
    var supply = PictureSupply.enough

    mutating func move(to next: PictureStep, now: Instant) {
      rise.move(from: step, to: next, now: now)
      guard next != step else { return }
      repair.move(from: step, to: next)
      supply.move(to: next)
      step = next
    }
  }

  /// A viewer with what its path leaves for pictures, at one look.
  private struct Candidate {
    var id: PeerID
    var state: State
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
    /// Its path would carry more than it wants.
    var isAtLimit: Bool
    var isLent: Bool
    /// What there is to say about its path: it was measured, or has carried more than an estimate begins with.
    var isKnown: Bool
    /// There is too little for a step, but only for a moment so far.
    var isSpared = false

    /// Whether it wants as much as an encoder of this rate makes.
    func accepts(kbps: Int) -> Bool { limitKbps.map { $0 * 100 >= kbps * Tuning.limitedPercent } ?? true }

    /// Whether it has room for all of a rendition. Once it has, the reserve counts as well: estimates that rise and fall a
    /// little would change the frame rate each time. On the narrowest paths the reserve is needed.
    func takesAllLayers(of rendition: Rendition, kbps: Int, now: Instant) -> Bool {
      guard accepts(kbps: kbps), !state.repair.hasBaseLayerOnly(at: now) else { return false }
      guard isMeasured else { return true }
      if budget * 10 >= kbps * 9 { return true }
      guard rendition != .low, state.step == PictureStep(rendition) else { return false }
      return state.hasAllLayers && estimateKbps - soundKbps >= kbps
    }

    /// Below the smallest rendition there is only a still now and then, and below the middle one a third of the pictures.
    ///
    /// - Parameter kbps: what the rendition takes at least.
    mutating func spare(_ rendition: Rendition, kbps: Int, now: Instant) {
      isSpared =
        switch rendition {
        case .low where state.step >= .low:
          state.supply.isShortBriefly(
            isMeasured && budget < kbps, isAbove: state.step > .low, estimateKbps: estimateKbps,
            neededKbps: kbps + soundKbps, now: now)
        case .middle where state.step == .middle && isMeasured:
          state.supply.lacksReserveBriefly(budget < kbps && estimateKbps - soundKbps >= kbps, now: now)
        default: false
        }
    }

    /// - Parameter others: how many viewers have the step already.
    mutating func isRaised(to step: PictureStep, kbps: Int, others: Int = 0, now: Instant) -> Bool {
      state.rise.isReady(
        for: step, estimateKbps: estimateKbps, neededKbps: kbps + soundKbps, others: others,
        isAvoided: state.repair.avoids(step, others: others, now: now), now: now)
    }

    mutating func roomForStill(now: Instant) -> PictureSupply.Room {
      guard state.step > .soundAlone else {
        return isRaised(to: .stills, kbps: Tuning.stillsKbps, now: now) ? .now : .never
      }
      return state.supply.roomForStill(
        estimateKbps: estimateKbps, neededKbps: soundKbps + Tuning.stillsKbps, rise: state.rise.due, now: now)
    }
  }

  enum Tuning {
    /// Of the estimate, what is used: the rest is for retransmissions, feedback and estimates that are too high.
    static let usablePercent = 85
    /// Of an encoder's rate, what a viewer has to want for it: headers come on top, and encoders exceed their rate.
    static let limitedPercent = 115
    /// Also what the encoder of stills is given: one of 1 to 3 kB every five seconds, and as much again in reserve.
    static let stillsKbps = 8
    /// By how much slower viewers may lower a rendition's rate, in percent of it: 5 % are the most that others may notice, and
    /// encoders do not keep to their rate that well.
    static let toleratedPercent = 3
    /// With several viewers a rate rises by that much of itself a second: the estimates of all rise with what they are sent.
    static let growthPerSecond = 0.15
    /// An estimate that has not fallen in that time is one that is still rising.
    static let unmeasuredTime = Duration.seconds(10)
  }

  private let settings: Settings
  private var states: [PeerID: State] = [:]
  private var rates: PerRendition<Int?> = PerRendition { _ in nil }
  private var updatedAt: Instant?
  /// When `allocate` has to be called for a rise, at the latest: estimates that rest bring no call. Nil when nobody waits for
  /// one.
  var nextRise: Instant? { states.values.compactMap(\.rise.due).min() }

  private let codec: VideoCodec

  init(settings: Settings, codec: VideoCodec = .vp8) {
    self.settings = settings
    self.codec = codec
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
  private func basePercent(of rendition: Rendition) -> Int {
    !codec.hasTemporalLayers ? 100 : rendition >= .high ? 75 : 60
  }

  /// - Parameters:
  ///   - viewers: those that are connected and see the camera.
  ///   - size: of the camera's pictures.
  ///   - isRecorded: somebody records the high rendition.
  ///   - staysReady: without viewers, the encoder of the high rendition has its rate for the first one.
  mutating func allocate(
    _ viewers: [Viewer], size: (width: Int, height: Int), isRecorded: Bool = false, staysReady: Bool = true,
    now: Instant
  ) -> Allocation {
    let elapsed = updatedAt.map { min(5, max(0, (now - $0).inSeconds)) } ?? 0
    updatedAt = now
    var waiting = viewers.map { candidate($0, now: now) }
    states = [:]
    let renditions = Rendition.ladder.reversed().filter { $0.size(ofCamera: size.width, size.height) != nil }
    var allocation = Allocation(assignments: [:], targets: PerRendition { _ in nil })
    for rendition in renditions {
      let group = group(of: rendition, &waiting, size: size, elapsed: elapsed, now: now)
      rates[rendition] = group.viewers.isEmpty ? nil : group.best
      guard !group.viewers.isEmpty else { continue }
      allocation.targets[rendition] = RenditionTarget(kbps: group.kbps)
      for var viewer in group.viewers {
        let takesAll = viewer.takesAllLayers(of: rendition, kbps: group.kbps, now: now)
        allocation.assignments[viewer.id] = PictureAssignment(
          step: PictureStep(rendition), rendition: rendition, takesAllLayers: takesAll,
          isReduced: rendition != .high && !viewer.isAtLimit)
        viewer.state.move(to: PictureStep(rendition), now: now)
        viewer.state.hasAllLayers = takesAll
        states[viewer.id] = viewer.state
      }
    }
    let smallest = renditions.last ?? .high
    for var viewer in waiting {
      let room = viewer.roomForStill(now: now)
      let step: PictureStep = room == .never ? .soundAlone : .stills
      viewer.state.move(to: step, now: now)
      allocation.assignments[viewer.id] = PictureAssignment(
        step: step, rendition: room == .now ? smallest : nil, takesAllLayers: false,
        isReduced: !viewer.isAtLimit)
      if room == .now { viewer.state.supply.useRoom(now: now) }
      // The encoder is kept for the next one.
      if viewer.state.supply.hasHadRoom, allocation.targets[smallest] == nil {
        allocation.targets[smallest] = RenditionTarget(kbps: Tuning.stillsKbps, isStillsOnly: true)
      }
      states[viewer.id] = viewer.state
    }
    if viewers.isEmpty && staysReady || isRecorded, allocation.targets[.high].map(\.isStillsOnly) ?? true {
      allocation.targets[.high] = RenditionTarget(
        kbps: min(max(settings.startKbps, settings.range.lowerBound), settings.range.upperBound))
    }
    return allocation
  }

  private func candidate(_ viewer: Viewer, now: Instant) -> Candidate {
    var state = states[viewer.id] ?? State()
    state.rise.beginLook()
    state.repair.measure(fractionLost: viewer.fractionLost)
    let sound = viewer.soundKbps
    let path = viewer.estimateKbps ?? settings.startKbps
    let limit = viewer.limitKbps.map { $0 + sound } ?? .max
    let estimate = min(path, limit)
    let isRising = estimate >= settings.startKbps && now - viewer.since < Tuning.unmeasuredTime
    let budget = estimate * Tuning.usablePercent / 100 - sound
    return Candidate(
      id: viewer.id, state: state, budget: budget, pictureKbps: budget - viewer.messagesKbps, soundKbps: sound,
      estimateKbps: estimate, isMeasured: viewer.estimateKbps != nil && !isRising, limitKbps: viewer.limitKbps,
      isAtLimit: path >= limit, isLent: viewer.isLent,
      isKnown: viewer.estimateKbps != nil && (!isRising || path > settings.startKbps))
  }

  /// Takes those out of `waiting` that are on this rendition now, with its rate, and the best one's: from that it grows, or what
  /// is tolerated would be taken off again and again.
  private func group(
    of rendition: Rendition, _ waiting: inout [Candidate], size: (width: Int, height: Int), elapsed: Double,
    now: Instant
  ) -> (viewers: [Candidate], kbps: Int, best: Int) {
    let range = range(of: rendition, size: size)
    let step = PictureStep(rendition)
    let percent = basePercent(of: rendition)
    let base = { (kbps: Int) in kbps * percent / 100 }
    for index in waiting.indices { waiting[index].spare(rendition, kbps: base(range.lowerBound), now: now) }
    let fits = { (viewer: Candidate, kbps: Int) in
      viewer.accepts(kbps: base(kbps))
        && (!viewer.isMeasured || viewer.budget >= base(kbps) || viewer.isSpared)
    }

    // Who is here, or comes from above, where it was too much.
    var here = waiting.filter {
      $0.state.step >= step && fits($0, range.lowerBound) && !$0.state.repair.avoids(step, now: now)
    }
    let best = bestRate(of: here, on: step, range: range, before: rates[rendition], elapsed: elapsed)
    here.removeAll { !fits($0, best) }

    let needed = base(here.allSatisfy { $0.state.repair.isDowngradedByLoss(to: step) } ? range.lowerBound : best)
    let others = here.count
    for index in waiting.indices where waiting[index].state.step < step {
      if waiting[index].isRaised(to: step, kbps: needed, others: others, now: now) { here.append(waiting[index]) }
    }
    let ids = Set(here.map(\.id))
    waiting.removeAll { ids.contains($0.id) }
    let rate = bestRate(of: here, on: step, range: range, before: rates[rendition], elapsed: elapsed)
    let slowest = deciding(here, on: step).filter(\.isMeasured).map(\.pictureKbps).min() ?? rate
    let followed = max(slowest, rate * (100 - Tuning.toleratedPercent) / 100)
    return (here, min(max(min(rate, followed), range.lowerBound), range.upperBound), rate)
  }

  /// Those whose paths decide about a rendition's rate: paired parents before whoever was lent access, and not those that came
  /// down to it by their loss, where there are others.
  private func deciding(_ viewers: [Candidate], on step: PictureStep) -> [Candidate] {
    let parents = viewers.filter { !$0.isLent }
    let first = parents.isEmpty ? viewers : parents
    let residents = first.filter { !$0.state.repair.isDowngradedByLoss(to: step) }
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
      rate = min(rate, before + max(1, Int(saturating: Double(before) * Tuning.growthPerSecond * elapsed)))
    }
    return min(max(rate, range.lowerBound), range.upperBound)
  }

  /// A viewer whose path loses packets has lost a picture of `rendition` for good: see `RepairPolicy`.
  ///
  /// - Parameter isShared: others watch the same rendition.
  mutating func repair(
    _ rendition: Rendition, for id: PeerID, isShared: Bool, size: (width: Int, height: Int), now: Instant
  ) -> Repair {
    let step = PictureStep(rendition)
    let hasSmaller = Rendition.ladder.contains {
      PictureStep($0) < step && $0.size(ofCamera: size.width, size.height) != nil
    }
    return states[id]?.repair.repair(step, isShared: isShared, hasSmaller: hasSmaller, now: now) ?? .keyFrame
  }
}
