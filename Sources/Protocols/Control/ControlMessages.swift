public import Pairing

/// A command as sent to the child.
public struct ControlRequest: Hashable, Sendable {
  /// At most `ControlLimits.idLength` scalars; comes back as `inReplyTo` in the reply.
  public var id: String?
  public var command: ControlCommand

  public init(id: String?, command: ControlCommand) {
    self.id = id
    self.command = command
  }
}

/// A message that is not a valid command; the reply is `error` with this `id`.
public struct RefusedRequest: Error, Hashable, Sendable {
  /// Nil when the message has no readable id.
  public var id: String?
  public var error: ControlError

  public init(id: String?, error: ControlError) {
    self.id = id
    self.error = error
  }
}

/// The reply to a command that was carried out: `ok` with these parameters.
public enum ControlReply: Hashable, Sendable {
  /// Seconds since 1970-01-01 UTC.
  case time(Double)
  case status(StatusDocument)
  case light(LightDocument)
  case tracks([TrackDocument])
  case lullaby(LullabyDocument)
  case cameras([CameraDocument])
  case transfer(TransferDocument)
  case talk(TalkDocument)
  case events([EventDocument])
  case report(ReportDocument)
  case hearing(HearingDocument)
  case drill(DrillDocument)
  case pairing(PairingDocument)
  case pairs([PairDocument])
  case invite(InviteDocument)
  case recordings(RecordingsDocument)
  case pushKey(PushKeyDocument)
  case pushTest(PushTestDocument)
  /// No parameters.
  case done
}

/// A message that the child sends unasked.
public enum ControlPush: Hashable, Sendable {
  case hello(HelloDocument)
  /// What changed.
  case state(StateDocument)
  case event(EventDocument)
  case heartbeat(HeartbeatDocument)
  case level(LevelDocument)
  /// A planned stop, which is no reason for an alarm. The reason is for people.
  case goodbye(reason: String)

  public var isGoodbye: Bool {
    if case .goodbye = self { true } else { false }
  }

  /// The part of the push that a viewer with these permissions may see; nil when there is none. A push never reveals
  /// what `status.get` or `events.get` would refuse, except that a viewer with `talk` has to know who has the floor.
  public func visible(to permissions: Permissions) -> ControlPush? {
    switch self {
    case .goodbye: return self
    case .hello(var hello):
      hello.state = hello.state.visible(to: permissions)
      return .hello(hello)
    case .state(let state):
      let visible = state.visible(to: permissions)
      return visible == StateDocument() ? nil : .state(visible)
    case .event:
      return ControlCommand.eventsGet(since: nil, limit: nil).requirement.isMet(by: permissions) ? self : nil
    case .level: return permissions.contains(.listen) ? self : nil
    case .heartbeat(var beat):
      if !permissions.contains(.view) { beat.video = nil }
      if !permissions.contains(.listen) { beat.audio = nil }
      return .heartbeat(beat)
    }
  }
}

/// A message from the child.
public struct ControlMessage: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    case reply(to: String, ControlReply)
    /// Without `to` when the request had no readable id.
    case refusal(to: String?, ControlError)
    case push(ControlPush)
  }

  public var id: String
  public var content: Content

  public init(id: String, content: Content) {
    self.id = id
    self.content = content
  }
}

// Messages have a maximum size, lists do not: a list that does not fit is halved until it does.

extension ControlReply {
  /// The same with half of its list; nil when nothing can be left out.
  public var shortened: ControlReply? {
    switch self {
    case .tracks(let tracks): return tracks.firstHalf.map { .tracks($0) }
    // Keeps the oldest, so that another request with `since` returns the rest.
    case .events(let events): return events.firstHalf.map { .events($0) }
    case .pairs(let pairs): return pairs.firstHalf.map { .pairs($0) }
    case .report(let report): return report.shortened.map { .report($0) }
    case .recordings(var recordings):
      // Keeps the newest; older ones are found with `to`.
      guard let parts = recordings.parts.lastHalf else { return nil }
      recordings.parts = parts
      return .recordings(recordings)
    case .status(var status):
      guard let state = status.state.shortened else { return nil }
      status.state = state
      return .status(status)
    case .time, .light, .lullaby, .cameras, .transfer, .talk, .pairing, .invite, .hearing, .drill, .pushKey, .pushTest,
      .done:
      return nil
    }
  }
}

extension ControlPush {
  /// The same with half of the viewers; nil when nothing can be left out.
  public var shortened: ControlPush? {
    switch self {
    case .hello(var hello):
      guard let state = hello.state.shortened else { return nil }
      hello.state = state
      return .hello(hello)
    case .state(let state): return state.shortened.map { .state($0) }
    case .event, .heartbeat, .level, .goodbye: return nil
    }
  }
}

extension StateDocument {
  /// Complete for viewers that may use `status.get`; otherwise only the floor.
  fileprivate func visible(to permissions: Permissions) -> StateDocument {
    if ControlCommand.statusGet.requirement.isMet(by: permissions) { return self }
    return StateDocument(talk: permissions.contains(.talk) ? talk : nil)
  }

  fileprivate var shortened: StateDocument? {
    guard let fewer = viewers?.firstHalf else { return nil }
    var state = self
    state.viewers = fewer
    return state
  }
}

extension Array {
  fileprivate var firstHalf: [Element]? { isEmpty ? nil : Array(prefix(count / 2)) }
  fileprivate var lastHalf: [Element]? { isEmpty ? nil : Array(suffix(count / 2)) }
}
