/// How much an event or a fault matters to a parent.
public enum EventLevel: String, CaseIterable, Codable, Comparable, Sendable {
  /// Worth reading in the morning.
  case notice
  /// Something is worse than it should be; the child is still seen and heard.
  case warning
  /// The child is not seen or not heard.
  case alarm

  /// The graver one is greater.
  public static func < (left: EventLevel, right: EventLevel) -> Bool {
    left.order < right.order
  }

  /// This level and the graver ones.
  public var andAbove: [EventLevel] { Self.allCases.filter { $0 >= self } }

  private var order: Int {
    switch self {
    case .notice: 0
    case .warning: 1
    case .alarm: 2
    }
  }
}

/// Kinds of events in the log.
public enum EventKind: String, CaseIterable, Codable, Sendable {
  case viewerJoined = "viewer-joined"
  case viewerLeft = "viewer-left"
  case paired
  case unpaired
  case pairingOpened = "pairing-opened"
  case pairingClosed = "pairing-closed"
  /// `id` is the light.
  case light
  /// `id` is the track.
  case lullaby
  case talk
  /// `id` is the camera.
  case cameraSwitched = "camera-switched"
  case cameraPaused = "camera-paused"
  case cameraResumed = "camera-resumed"
  case cameraLost = "camera-lost"
  case cameraBack = "camera-back"
  /// Night begins (`detail` is `on`) or ends (`off`) for a camera, the `id`.
  case night
  case screenshot
  case microphoneLost = "microphone-lost"
  case microphoneBack = "microphone-back"
  case speakerLost = "speaker-lost"
  case speakerBack = "speaker-back"
  /// The child has started.
  case restart
  /// A viewer whose link was lost is back; `detail` says after how long.
  case reconnected
  /// The wall clock was set; `detail` says how far.
  case clockSet = "clock-set"
  /// An alarm rang at a parent (`id`: what was wrong), as that parent reported.
  case alarm
  /// A proof of hearing is over: `id` is `heard` or `not-heard`, `detail` says by whom.
  case hearing
  /// An alarm drill is over: `id` is `passed`, `failed` or `stopped`, `detail` says what was wrong where.
  case drill
  /// Nobody has been listening for as long as `unheard` of the configuration allows.
  case unheard
  case heardAgain = "heard-again"
  /// Something about the machine is not as it should be: `id` is one of `HealthLog.Concern`.
  case health
  /// It is well again; `detail` says how long it was not.
  case healthOver = "health-over"
  /// A part of the program (`id`) stopped responding, or a device fails again and again: the service manager starts the
  /// program again.
  case stuck
  /// The child itself records; `detail` says why.
  case recordingStarted = "recording-started"
  case recordingStopped = "recording-stopped"
  /// It should record and cannot; `detail` says why.
  case recordingPaused = "recording-paused"
  /// Something of the configuration's `schedule` could not be done; `detail` says why.
  case scheduleFailed = "schedule-failed"

  public var level: EventLevel {
    switch self {
    case .cameraLost, .microphoneLost, .stuck: .alarm
    case .speakerLost, .unheard, .health, .recordingPaused, .scheduleFailed: .warning
    case .viewerJoined, .viewerLeft, .paired, .unpaired, .pairingOpened, .pairingClosed, .light, .lullaby, .talk,
      .cameraSwitched, .cameraPaused, .cameraResumed, .cameraBack, .night, .screenshot, .microphoneBack, .speakerBack,
      .restart, .reconnected,
      .clockSet, .alarm, .hearing, .drill, .heardAgain, .healthOver, .recordingStarted, .recordingStopped:
      .notice
    }
  }
}

/// Why a viewer is gone: `detail` of `viewer-left`.
public enum LeavingCause: String, Sendable {
  /// It left by itself.
  case left
  case linkLost = "link-lost"
  /// Its access was ended, or the child needed its place.
  case ended
}

/// The latest events, oldest first. The shell persists them across restarts.
///
/// When the log is full, it drops the oldest event of the largest group, where a group is one kind of event by one
/// person. A viewer that toggles a light all night thus displaces only its own light events: the lost camera, the
/// pairing and what others did stay.
public struct EventLog: Sendable {
  /// A few days of a household; about 100 KB.
  public static let defaultCapacity = 512

  /// Events that compete for the same space.
  private struct Group: Hashable {
    var kind: String
    var name: String?

    init(_ event: EventDocument) {
      kind = event.kind
      name = event.name
    }
  }

  private let capacity: Int
  private var events: [EventDocument]
  private var counts: [Group: Int] = [:]
  private var nextSequence: UInt64

  /// - Parameter restored: events kept by an earlier run, oldest first.
  public init(capacity: Int = defaultCapacity, restored: [EventDocument] = []) {
    self.capacity = max(1, capacity)
    events = restored.suffix(self.capacity)
    nextSequence = min((events.map(\.sequence).max() ?? 0), UInt64(ControlLimits.sequence.upperBound)) &+ 1
    for event in events { counts[Group(event), default: 0] += 1 }
  }

  /// Appends an event.
  ///
  /// - Parameters:
  ///   - level: nil: that of the kind.
  ///   - time: seconds since 1970-01-01 UTC.
  ///   - name: who caused it.
  ///   - id: which light, camera or track.
  ///   - detail: for people; cut to 200 characters.
  ///   - began: when what is reported began, by the clock of who reports it.
  ///   - acknowledgedAt: when somebody acknowledged it.
  ///   - count: how often it happened since `began`; nil: once.
  /// - Returns: the event, to be pushed.
  public mutating func append(
    _ kind: EventKind, level: EventLevel? = nil, time: Double, name: String? = nil, id: String? = nil,
    detail: String? = nil, began: Double? = nil, acknowledgedAt: Double? = nil, count: Int? = nil
  ) -> EventDocument {
    let event = EventDocument(
      sequence: nextSequence, kind: kind.rawValue, level: (level ?? kind.level).rawValue, time: time, name: name,
      id: id, detail: detail.map { String($0.unicodeScalars.prefix(200)) }, began: began,
      acknowledgedAt: acknowledgedAt, count: count)
    nextSequence &+= 1
    if events.count >= capacity { removeOne() }
    events.append(event)
    counts[Group(event), default: 0] += 1
    return event
  }

  private mutating func removeOne() {
    let most = counts.values.max() ?? 0
    guard let index = events.firstIndex(where: { counts[Group($0)] == most }) else { return }
    let group = Group(events.remove(at: index))
    counts[group] = most > 1 ? most - 1 : nil
  }

  /// All events in the log, oldest first.
  public var all: [EventDocument] { events }

  /// The number of the latest event; 0 before the first.
  public var lastSequence: UInt64 { nextSequence &- 1 }

  /// Those after `sequence`, oldest first.
  public func after(_ sequence: UInt64) -> ArraySlice<EventDocument> {
    guard sequence < lastSequence else { return [] }
    return events.drop { $0.sequence <= sequence }
  }

  /// The reply to `events.get`, oldest first. With `since`, the first `limit` events after it, so that repeated
  /// requests return all of them; without it, the latest. A `since` in the future refers to a log that was lost, and is
  /// ignored.
  ///
  /// - Parameter level: less grave events are left out.
  public func events(since: UInt64?, limit: Int?, level: EventLevel? = nil) -> [EventDocument] {
    let limit = max(1, limit ?? ControlDefaults.eventLimit)
    let events = level.map { level in self.events.filter { $0.isAtLeast(level) } } ?? self.events
    guard let since, since < nextSequence else { return Array(events.suffix(limit)) }
    return Array(events.drop { $0.sequence <= since }.prefix(limit))
  }
}
