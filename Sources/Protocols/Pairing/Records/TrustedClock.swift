public import Wire

/// The date that decides whether something has expired.
///
/// The system's date can be wrong: a board without a real-time clock starts in 1970, a broken one in 2031, and anyone who
/// can answer NTP can set it. So there are two dates:
/// - The *certain* one never goes back or stands still. It continues at the pace of the monotonic clock, and follows the
///   system's date ahead by up to a day at a time.
/// - A system's date that is further ahead is a *jump*. It counts while the system stays there, at the same pace, but it
///   becomes certain only after `evidenceNeeded` of running. Until then a system's date that is back between the certain
///   date and the jump refutes it, and nothing of it remains.
///
/// A jump while the program runs ends nothing for `settlingTime`: a clock that is wrong for seconds ends no session.
///
/// So a clock that is set back revives nothing that has expired in certain time, nor what was made after the jump, and one
/// start with a date far ahead ends nothing for good. The owner keeps `mark` on disk; after a restart only the time
/// without power is missing.
public struct TrustedClock: Hashable, Sendable {
  /// A date far ahead that is not certain yet.
  public struct Jump: Hashable, Sendable {
    /// The first date after it.
    public var to: UnixTime
    /// How long the system has stayed there; an hour while synchronized counts as a day.
    public var evidence: Duration

    public init(to: UnixTime, evidence: Duration) {
      self.to = to
      self.evidence = evidence
    }
  }

  /// What has to outlive the process.
  public struct Mark: Hashable, Sendable {
    /// The latest date.
    public var latest: UnixTime
    /// The certain one: `latest` unless there is a jump; nil when none is known.
    public var certain: UnixTime?
    public var jump: Jump?

    public init(latest: UnixTime, certain: UnixTime?, jump: Jump?) {
      self.latest = latest
      self.certain = certain
      self.jump = jump
    }
  }

  /// What happened to the date, for the log.
  public enum Change: Hashable, Sendable {
    /// The system's date is far ahead of `from`.
    case jumped(from: UnixTime, to: UnixTime)
    /// The system's date is back: the jump to `latest` was wrong.
    case refuted(latest: UnixTime)
    /// The date after a jump is certain from now on.
    case confirmed(UnixTime)
  }

  /// A date that goes on at the pace of the monotonic clock.
  private struct Point: Hashable {
    var date: UnixTime
    var instant: Instant

    func date(at now: Instant) -> UnixTime {
      UnixTime(seconds: date.seconds + max(0, (now - instant).components.seconds))
    }

    /// Moves only ahead: every move loses fractions of a second.
    mutating func advance(to other: UnixTime, at now: Instant) {
      if other > date(at: now) { self = Point(date: other, instant: now) }
    }
  }

  private struct Unsettled: Hashable {
    var base: Point
    var since: Instant
  }

  /// Of running after a jump, before it is certain.
  public static let evidenceNeeded: Duration = .seconds(86_400)
  /// After a jump within a run, `settled` is as it would be without it for so long.
  public static let settlingTime: Duration = .seconds(60)
  /// How much more a second counts while the system's clock is synchronized.
  private static let weightOfSynchronized = 24
  /// 2026-01-01, before this program was made: an earlier date is that of a board without a clock, and says nothing.
  public static let earliest = UnixTime(seconds: 1_767_225_600)

  private var certain: Point
  private var jumped: Point?
  private var jump: Jump?
  private var last: Instant
  /// What the date would be without the first jump of this run that is not certain yet, and when that was.
  private var unsettled: Unsettled?
  private var hasBegun = false
  /// Keep it on disk.
  public private(set) var mark: Mark
  private var changes: [Change] = []

  /// - Parameters:
  ///   - mark: of earlier runs; nil when none is known.
  ///   - now: monotonic.
  public init(mark: Mark?, now: Instant) {
    let start = UnixTime(seconds: 0)
    self.mark = mark ?? Mark(latest: start, certain: nil, jump: nil)
    certain = Point(date: mark?.certain ?? start, instant: now)
    jump = mark?.jump
    jumped = mark?.jump == nil ? nil : mark.map { Point(date: $0.latest, instant: now) }
    last = now
  }

  /// The date now.
  ///
  /// - Parameter isSynchronized: whether something keeps the system's clock right. Asked only after a jump.
  public mutating func date(system: UnixTime, now: Instant, isSynchronized: () -> Bool = { false }) -> UnixTime {
    let passed = max(.zero, now - last)
    last = max(last, now)
    refuteJump(system, now)
    if let point = jumped, !system.isInTheFuture(of: point.date(at: now)) {
      jumped?.advance(to: system, at: now)
      // Time counts for the jump only while the system agrees.
      if !point.date(at: now).isInTheFuture(of: system) {
        jump?.evidence += isSynchronized() ? passed * Self.weightOfSynchronized : passed
      }
      confirmJump(now)
    } else {
      let known = jumped?.date(at: now) ?? certain.date(at: now)
      if system.isInTheFuture(of: known) {
        jump = Jump(to: system, evidence: .zero)
        // Nothing goes on from before the first date of a run.
        if hasBegun, known >= Self.earliest, unsettled == nil {
          unsettled = Unsettled(base: jumped ?? certain, since: now)
        }
        jumped = Point(date: system, instant: now)
        changes.append(.jumped(from: known, to: system))
      } else {
        certain.advance(to: system, at: now)
      }
    }
    hasBegun = true
    let date = max(jumped?.date(at: now) ?? certain.date(at: now), certain.date(at: now))
    mark = Mark(latest: date, certain: certain.date == UnixTime(seconds: 0) ? nil : certain.date(at: now), jump: jump)
    return date
  }

  /// Only a date that can be right refutes a jump: not one before the certain date, nor that of a board without a clock.
  private mutating func refuteJump(_ system: UnixTime, _ now: Instant) {
    guard let date = jumped?.date(at: now), date.isInTheFuture(of: system), system >= Self.earliest,
      !certain.date(at: now).isInTheFuture(of: system)
    else { return }
    (jump, jumped, unsettled) = (nil, nil, nil)
    changes.append(.refuted(latest: date))
  }

  private mutating func confirmJump(_ now: Instant) {
    guard let jump, let point = jumped, jump.evidence >= Self.evidenceNeeded else { return }
    certain = point
    (self.jump, jumped, unsettled) = (nil, nil, nil)
    changes.append(.confirmed(point.date(at: now)))
  }

  /// The date, as of the last call of `date`, by which what was good before ends: it follows a jump after `settlingTime`.
  public var settled: UnixTime {
    guard let unsettled, last - unsettled.since < Self.settlingTime else { return mark.latest }
    return unsettled.base.date(at: last)
  }

  /// What happened since the last call, in order.
  public mutating func takeChanges() -> [Change] {
    defer { changes = [] }
    return changes
  }

  /// What was made from this date on and has expired is so for good. What is older may have expired only by a jump.
  public var firmSince: UnixTime { jump?.to ?? UnixTime(seconds: 0) }

  /// How far the system's date is behind, in seconds; 0 when it is not.
  public func secondsAhead(of system: UnixTime) -> Int64 {
    max(0, mark.latest.seconds - system.seconds)
  }
}
