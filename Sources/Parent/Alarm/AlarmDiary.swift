internal import Control
internal import Monitoring
internal import Wire

/// The alarms that rang here, to be reported to the child: each one once, when somebody has acknowledged it or when it is over.
/// Pure. While there is no link they wait, and the oldest are dropped when there are too many.
struct AlarmDiary {
  private struct Key: Hashable {
    var kind: Alarm.Kind
    var since: Instant
  }

  /// Rang and is not reported yet.
  private var ringing: (key: Key, note: AlarmNote)?
  private var reported: [Key] = []
  /// Oldest first.
  private(set) var waiting: [AlarmNote] = []

  static let capacity = 32

  /// - Parameters:
  ///   - report: what is wrong now.
  ///   - unix: seconds since 1970-01-01 UTC at `now`.
  mutating func note(_ report: Alarm.Report?, unix: Double, now: Instant) {
    let key = report.map { Key(kind: $0.kind, since: $0.since) }
    if let ringing, ringing.key != key { finish(ringing.key, ringing.note) }
    guard let report, let key, report.kind != .test, !reported.contains(key) else { return }
    if report.isAcknowledged {
      // What was acknowledged before it was shown here rang behind a graver one.
      guard var note = ringing?.note else { return }
      note.acknowledgedAt = unix
      finish(key, note)
    } else if report.isRinging, ringing == nil {
      let began = max(0, unix - (now - report.since).inSeconds)
      ringing = (
        key,
        AlarmNote(
          kind: report.kind.rawValue, level: EventLevel(rawValue: report.level.rawValue) ?? .alarm, began: began)
      )
    }
  }

  private mutating func finish(_ key: Key, _ note: AlarmNote) {
    ringing = nil
    if reported.count >= Self.capacity { reported.removeFirst() }
    reported.append(key)
    if waiting.count >= Self.capacity { waiting.removeFirst() }
    waiting.append(note)
  }

  /// The child knows it now, or will never want to.
  mutating func remove(_ note: AlarmNote) {
    if let index = waiting.firstIndex(of: note) { waiting.remove(at: index) }
  }
}
