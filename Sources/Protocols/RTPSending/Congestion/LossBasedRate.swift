import Wire

/// The bound by loss. Whether loss is a radio's, which loses what it loses at any rate, or that of a path which carries no more,
/// as behind a policer, a short buffer or active queue management, is found out: where loss persists, less is sent for a moment
/// (`LossTrial`). If less is lost then, too, the path's limit is found (`PathLimit`); if not, the rate returns, and that share of
/// loss is believed for a while.
struct LossBasedRate: Sendable {
  private enum Phase: Sendable {
    /// Loss says nothing against the present rate.
    case open
    case trying(LossTrial)
    case limited(PathLimit)
  }

  /// Bits per second.
  private(set) var bitsPerSecond: Double
  private var phase = Phase.open
  private let minimum: Double
  private var current = LossTally()
  private var observedAt: Instant?
  /// The last observations, oldest first.
  private var recent: [LossTally] = []
  /// What the path loses at any rate, 0...1, as far as was found out and is still believed.
  private var inherent = 0.0
  private var inherentUntil = Instant(nanoseconds: .min)
  /// The same, believed or not: loss that is like it needs no second step.
  private var inherentBefore = 0.0
  private var memory = shortestMemory

  private static let observation = Duration.milliseconds(250)
  /// Seconds of observations that are kept.
  private static let window = 2.0
  /// Loss beyond what the path loses anyway is noticed from this share on; who sends little does not fill the path, and few
  /// packets say little, so that many bits per second are added.
  private static let noticed = 0.04
  private static let noticedBitsPerSecond = 10_000.0
  /// And in half the time from this share on.
  private static let noticedAtOnce = 0.1
  /// Of losses in a row, each counts once.
  private static let fewestLost = 3.0
  /// And within half a second from this share on, which a radio's 20 % do not reach by chance: a download begins behind a policer, and
  /// what is sent again takes the rest.
  private static let noticedSoon = (seconds: 0.5, share: 0.4)
  /// With no more than this beyond what the path loses anyway the bound grows.
  private static let calm = 0.015
  /// Per second.
  private static let growth = 0.25
  /// A radio's loss is believed for so long; for twice as long each time it is confirmed.
  private static let shortestMemory = Duration.seconds(20)
  private static let longestMemory = Duration.seconds(120)

  /// - Parameter minimum: the rate that is sent in any case. A bound below it would take long to recover.
  init(bitsPerSecond: Double, minimum: Double) {
    self.bitsPerSecond = bitsPerSecond
    self.minimum = minimum
  }

  /// A limit has been found: less is lost where less is sent.
  var isLimited: Bool {
    switch phase {
    case .open: false
    case .trying(let trial): trial.limit != nil
    case .limited: true
    }
  }

  /// What was sent before a limit was found, bits per second; nil: none is.
  var limitOrigin: Double? {
    switch phase {
    case .open: nil
    case .trying(let trial): trial.limit?.origin
    case .limited(let limit): limit.origin
    }
  }

  /// What the rate was before a look, and returns to unless that finds a limit: for a look, no less is sent again. Bits per second.
  var withoutLook: Double {
    if case .trying(let trial) = phase, !limitsRepair { trial.returnsTo } else { bitsPerSecond }
  }

  /// Whether what is sent again has to fit into the bound: beyond a limit it would be lost as well, and it would hide what a
  /// second, larger step is for.
  var limitsRepair: Bool {
    if case .trying(let trial) = phase { trial.isSecond || trial.limit != nil } else { isLimited }
  }

  /// What comes at once is lost as a whole, as far as is known.
  var dropsBursts: Bool {
    switch phase {
    case .open: false
    case .trying(let trial): trial.isHeavy || trial.limit?.isHard == true
    case .limited(let limit): limit.isHard
    }
  }

  /// Adds the loss from a report.
  ///
  /// - Parameters:
  ///   - reported: lost packets are negative when packets counted as lost arrived after all; its time is not used.
  ///   - target: the current target bitrate, bits per second; `maximum` likewise.
  mutating func add(_ reported: LossTally, target: Double, maximum: Double, roundTripTime: Duration, now: Instant) {
    guard let began = observedAt else {
      observedAt = now
      return
    }
    current += reported
    let elapsed = now - began
    guard elapsed >= Self.observation, current.total > 0 else { return }
    var observed = current
    observed.seconds = elapsed.inSeconds
    current = LossTally()
    observedAt = now
    recent.append(observed)
    while recent.count > 1, recent.dropFirst().reduce(0, { $0 + $1.seconds }) >= Self.window { recent.removeFirst() }
    if now >= inherentUntil { inherent = 0 }
    observe(observed, began: began, target: target, maximum: maximum, roundTripTime: roundTripTime, now: now)
  }

  /// A probe has shown that the path carries this much. Where a limit was found, a burst says nothing: its bucket takes it.
  mutating func raise(to rate: Double) {
    guard case .open = phase else { return }
    bitsPerSecond = max(bitsPerSecond, rate)
  }

  /// A queue has drained, and has shown what the path carries. What was lost meanwhile was its overflow: that is explained.
  mutating func settle(at rate: Double, now: Instant) {
    phase = .open
    bitsPerSecond = max(bitsPerSecond, rate)
    recent.removeAll(keepingCapacity: true)
    current = LossTally()
    observedAt = now
  }

  private mutating func observe(
    _ observed: LossTally, began: Instant, target: Double, maximum: Double, roundTripTime: Duration, now: Instant
  ) {
    let isCalm = sum(seconds: 1).map { $0.all.fractionLost <= inherent + Self.calm } ?? false
    switch phase {
    case .open:
      if let noticed = noticed(steadilyFor: Self.window, atOnceFor: Self.window / 2) {
        look(after: noticed, from: min(bitsPerSecond, target), limit: nil, roundTripTime: roundTripTime, now: now)
      } else if isCalm || !observed.hasQueue {
        grow(by: Self.growth, observed, maximum: maximum)
      }
    case .limited(var limit):
      if let noticed = noticed(steadilyFor: Self.window / 2, atOnceFor: Self.window / 4) {
        look(after: noticed, from: min(bitsPerSecond, target), limit: limit, roundTripTime: roundTripTime, now: now)
      } else if isCalm, let arriving = sum(seconds: 1)?.all.arrivalRate {
        let growth = limit.growth(observed, rate: bitsPerSecond, roundTripTime: roundTripTime, free: Self.growth)
        grow(by: growth, observed, maximum: min(maximum, limit.bound(arriving: arriving)))
        phase = bitsPerSecond >= maximum ? .open : .limited(limit)
      } else {
        limit.noteLoss()
        phase = .limited(limit)
        // The bucket is empty. What is sent again needs room, too: beyond the limit it would be lost again and again.
        if bitsPerSecond > limit.bitsPerSecond, observed.fractionLost > inherent + Self.noticedAtOnce,
          observed.lost >= Self.fewestLost
        {
          bitsPerSecond = max(minimum, limit.bitsPerSecond * LossTrial.step)
        }
      }
    case .trying(var trial):
      switch trial.add(observed, began: began, inherent: inherentBefore) {
      case .undecided:
        phase = .trying(trial)
      case .further:
        trial.goOn(roundTripTime: roundTripTime, now: now)
        bitsPerSecond = max(minimum, trial.rate)
        phase = .trying(trial)
      case .limit:
        inherent = min(inherent, trial.fractionLost)
        inherentBefore = min(inherentBefore, trial.fractionLost)
        memory = Self.shortestMemory
        conclude(
          .limited(
            PathLimit(
              arriving: trial.before.arrivalRate, origin: trial.returnsTo, isHard: trial.isHeavy, after: trial.limit)))
      case .inherent(let share):
        (inherent, inherentBefore) = (share, share)
        inherentUntil = now + memory
        memory = min(memory * 2, Self.longestMemory)
        if let limit = trial.limit, !trial.isSecond {
          bitsPerSecond = max(bitsPerSecond, trial.returnsTo)
          conclude(.limited(limit))
        } else {
          // Even a large step made no difference: what was taken for a limit was chance.
          bitsPerSecond = max(bitsPerSecond, trial.limit?.origin ?? trial.returnsTo)
          conclude(.open)
        }
      }
    }
  }

  private mutating func look(
    after noticed: LossTally, from rate: Double, limit: PathLimit?, roundTripTime: Duration, now: Instant
  ) {
    let trial = LossTrial(after: noticed, from: rate, limit: limit, roundTripTime: roundTripTime, now: now)
    bitsPerSecond = max(minimum, trial.rate)
    phase = .trying(trial)
  }

  private mutating func conclude(_ next: Phase) {
    phase = next
    recent.removeAll(keepingCapacity: true)
  }

  /// What was observed while more was lost than the path loses anyway; nil where no such loss persists. Seconds.
  private func noticed(steadilyFor long: Double, atOnceFor short: Double) -> LossTally? {
    for (seconds, share) in [
      (Self.noticedSoon.seconds, Self.noticedSoon.share), (short, Self.noticedAtOnce), (long, Self.noticed),
    ] {
      guard let (all, isSteady) = sum(seconds: seconds), min(all.lost, all.runs) >= Self.fewestLost else { continue }
      // A queue that overflows needs no more proof.
      let limit = inherent + (all.hasQueue ? Self.noticed : share) + Self.noticedBitsPerSecond / bitsPerSecond
      if isSteady || all.hasQueue, all.fractionLost > limit { return all }
    }
    return nil
  }

  /// Of the last seconds, and whether something was lost in most of them; nil before there are so many.
  private func sum(seconds: Double) -> (all: LossTally, isSteady: Bool)? {
    var all = LossTally()
    var (lossy, count) = (0, 0)
    for observed in recent.reversed() {
      all += observed
      count += 1
      lossy += observed.lost > 0 ? 1 : 0
      if all.seconds >= seconds { return (all, lossy * 2 > count) }
    }
    return nil
  }

  private mutating func grow(by growth: Double, _ observed: LossTally, maximum: Double) {
    bitsPerSecond = max(bitsPerSecond, min(maximum, bitsPerSecond * (1 + growth * min(observed.seconds, 1))))
  }
}
