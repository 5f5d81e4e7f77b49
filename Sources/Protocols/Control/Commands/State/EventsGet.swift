/// The latest events, oldest first.
public struct EventsGet: ControlCommand {
  public typealias Reply = [EventDocument]
  public static let name = "events.get"
  public static let requirement: Requirement = .state
  public static let parameters: [ControlParameter] = [
    .whole("since", in: ControlLimits.sequence), .whole("limit", in: ControlLimits.eventLimit),
    .word("level", of: EventLevel.self),
  ]

  /// Sequence number of the last event that the parent has.
  public var since: UInt64?
  /// Maximum number of events in the reply.
  public var limit: Int?
  /// Less grave ones are left out.
  public var level: EventLevel?

  public init(since: UInt64? = nil, limit: Int? = nil, level: EventLevel? = nil) {
    self.since = since
    self.limit = limit
    self.level = level
  }
}
