internal import Control
internal import Signaling
internal import Wire

/// What viewers do, on its way into the event log: joins and leaves, lights, lullabies, talking, photos. Each viewer's first ones
/// are events of their own; what comes more often than that becomes one event with a count, so that nobody fills the log, and
/// nobody's alarms are lost among them.
struct ViewerEvents {
  /// Whose they are.
  struct Viewer: Hashable, Sendable {
    var credential: Credential
    var name: String
    /// Paired without an expiry: more of its events are shown by themselves.
    var isParent: Bool
  }

  /// What happened, once or several times.
  struct Entry: Equatable {
    var kind: EventKind
    var name: String
    /// Which light, camera or track; of an alarm: what was wrong.
    var id: String?
    /// Of the latest one.
    var detail: String?
    /// When the latest one happened: seconds since 1970-01-01 UTC.
    var time: Double
    /// When the first one happened; nil if there was only one. Of alarms: when the first one began.
    var began: Double?
    /// When the latest one was acknowledged, of alarms.
    var acknowledgedAt: Double?
    /// How often; nil: once.
    var count: Int?
  }

  private struct Key: Hashable {
    var kind: EventKind
    var id: String?
    /// Kept apart: a report names the causes.
    var cause: LeavingCause?
  }

  static let lentBurst = 8
  static let lentInterval = Duration.seconds(300)
  static let parentBurst = 24
  static let parentInterval = Duration.seconds(60)
  /// Viewers whose events wait. There are fewer credentials; what no longer fits is an event at once.
  static let maximumHeld = 256

  private var lent = RateLimiter<Viewer>(burst: lentBurst, interval: lentInterval)
  private var parents = RateLimiter<Viewer>(burst: parentBurst, interval: parentInterval)
  private var held: [Viewer: [Key: Entry]] = [:]

  /// - Parameters:
  ///   - cause: of a leave.
  ///   - id: which light, camera or track.
  ///   - detail: the event's; nil: the cause.
  ///   - time: seconds since 1970-01-01 UTC.
  ///   - began: of an alarm.
  ///   - acknowledgedAt: of an alarm.
  /// - Returns: the event to write now; nil when it waits for others of its kind.
  mutating func add(
    _ kind: EventKind, of viewer: Viewer, cause: LeavingCause? = nil, id: String? = nil, detail: String? = nil,
    time: Double, began: Double? = nil, acknowledgedAt: Double? = nil, now: Instant
  ) -> Entry? {
    let entry = Entry(
      kind: kind, name: viewer.name, id: id, detail: detail ?? cause?.rawValue, time: time, began: began,
      acknowledgedAt: acknowledgedAt)
    guard held[viewer] != nil || !admit(viewer, now: now) else { return entry }
    guard held[viewer] != nil || held.count < Self.maximumHeld else { return entry }
    let key = Key(kind: kind, id: id, cause: cause)
    if var known = held[viewer]?[key] {
      known.began = known.began ?? known.time
      known.count = (known.count ?? 1) &+ 1
      known.detail = entry.detail
      known.acknowledgedAt = acknowledgedAt
      known.time = time
      held[viewer]?[key] = known
    } else {
      held[viewer, default: [:]][key] = entry
    }
    return nil
  }

  /// What has waited long enough, in the order in which it happened. Call it each second.
  mutating func due(now: Instant) -> [Entry] {
    guard !held.isEmpty else { return [] }
    var entries: [Entry] = []
    for viewer in held.keys where admit(viewer, now: now) {
      entries += held.removeValue(forKey: viewer)?.values.map(\.self) ?? []
    }
    return entries.sorted { $0.time < $1.time }
  }

  /// All that waits, in the order in which it happened: for a report, and before the end.
  mutating func takeAll() -> [Entry] {
    defer { held = [:] }
    return held.values.flatMap(\.values).sorted { $0.time < $1.time }
  }

  private mutating func admit(_ viewer: Viewer, now: Instant) -> Bool {
    let verdict = viewer.isParent ? parents.admit(viewer, now: now) : lent.admit(viewer, now: now)
    return verdict.wait == nil
  }
}
