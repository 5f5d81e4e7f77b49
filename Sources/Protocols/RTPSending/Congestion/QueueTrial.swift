import Wire

/// One look after the other whether a queue that stays becomes shorter where less is sent. Who gives way to a queue that others keep is
/// left with nothing, and never sends enough to find out. Others' queue swings, so means are compared.
struct QueueTrial: Sendable {
  private enum Phase: Sendable {
    case observing(Observation)
    /// So many bits per second may be sent meanwhile.
    case trying(before: Double, after: Observation, bitsPerSecond: Double)
    /// Whose it is was found out a moment ago.
    case resting(until: Instant)
  }

  private struct Observation: Sendable {
    let began: Instant
    private var sum = 0.0
    private var count = 0.0

    init(now: Instant) { began = now }

    var milliseconds: Double { sum / max(1, count) }

    mutating func add(_ milliseconds: Double) {
      sum += milliseconds
      count += 1
    }
  }

  private var phase = Phase.resting(until: Instant(nanoseconds: .min))
  /// May be sent meanwhile, bits per second; nil: there is no trial.
  var bitsPerSecond: Double? { if case .trying(_, _, let bitsPerSecond) = phase { bitsPerSecond } else { nil } }

  /// Of the time that a small packet takes at the present rate: on a narrow path it looks like a queue, and behind others' it takes less.
  private static let slackShare = 0.5
  private static let observation = Duration.seconds(2)
  private static let trial = Duration.seconds(1)
  /// Of what arrives.
  private static let share = 0.7
  /// What is left of a queue of ours, at most.
  private static let left = 0.6
  private static let rest = Duration.seconds(5)

  /// Whether the queue is found not to be ours.
  ///
  /// - Parameters:
  ///   - milliseconds: how long packets wait.
  ///   - slackMilliseconds: how long a small packet takes at the present rate.
  ///   - isInteresting: little is sent, so that it is worth knowing.
  ///   - arriving: bits per second.
  mutating func update(
    milliseconds: Double, slackMilliseconds: Double, isInteresting: Bool, arriving: Double?, now: Instant
  ) -> Bool {
    switch phase {
    case .resting(let until):
      if now >= until { phase = .observing(Observation(now: now)) }
    case .observing(var seen):
      guard isInteresting, milliseconds > StandingQueue.harmless / 2, let arriving else {
        phase = .observing(Observation(now: now))
        return false
      }
      seen.add(milliseconds)
      phase = .observing(seen)
      guard now - seen.began >= Self.observation else { return false }
      guard seen.milliseconds > StandingQueue.harmless + slackMilliseconds * Self.slackShare else {
        phase = .observing(Observation(now: now))
        return false
      }
      phase = .trying(
        before: seen.milliseconds, after: Observation(now: now), bitsPerSecond: arriving * Self.share)
    case .trying(let before, var after, let bitsPerSecond):
      let age = Duration.nanoseconds(Int64(saturating: before * 1e6))
      // What was sent before arrives first.
      if now - after.began > age + Self.trial / 2 { after.add(milliseconds) }
      phase = .trying(before: before, after: after, bitsPerSecond: bitsPerSecond)
      guard now - after.began > age + Self.trial else { return false }
      phase = .resting(until: now + Self.rest)
      return after.milliseconds > before * Self.left
    }
    return false
  }
}
