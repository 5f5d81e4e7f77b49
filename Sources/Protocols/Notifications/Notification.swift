public import Control

/// What a notifier sends: an event of the child, as it is kept until it has been delivered.
public struct Notification: Codable, Hashable, Sendable {
  /// An `EventKind`, or `test`.
  public var kind: String
  /// An `EventLevel`.
  public var level: String
  /// Seconds since 1970-01-01 UTC.
  public var time: Double
  /// Who caused it.
  public var name: String?
  /// Which light, camera or track.
  public var id: String?
  /// For people.
  public var detail: String?
  /// How often it was tried in vain.
  public var attempts = 0

  public init(
    kind: String, level: EventLevel, time: Double, name: String? = nil, id: String? = nil, detail: String? = nil
  ) {
    self.kind = kind
    self.level = level.rawValue
    self.time = time
    self.name = name
    self.id = id
    self.detail = detail
  }

  public init(_ event: EventDocument) {
    self.init(
      kind: event.kind, level: event.level.flatMap(EventLevel.init) ?? .notice, time: event.time, name: event.name,
      id: event.id, detail: event.detail)
  }

  /// Sent by `cradle-child notify --test`.
  public static func test(time: Double) -> Notification {
    Notification(kind: "test", level: .notice, time: time, detail: "Notifications from this child arrive.")
  }
}

/// Which events a notifier gets.
public struct NotificationFilter: Hashable, Sendable {
  /// Nil: every kind.
  public var kinds: Set<EventKind>?
  /// The least level.
  public var level: EventLevel

  public init(kinds: Set<EventKind>? = nil, level: EventLevel = .warning) {
    self.kinds = kinds
    self.level = level
  }

  /// - Returns: false for a kind that this version does not know.
  public func admits(_ event: EventDocument) -> Bool {
    guard let kind = EventKind(rawValue: event.kind) else { return false }
    // A sound check that failed is graver than one that did not.
    let own = event.level.flatMap(EventLevel.init) ?? kind.level
    return own >= level && kinds?.contains(kind) ?? true
  }
}
