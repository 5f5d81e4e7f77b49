public import Pairing

/// A command on its way to the child.
public struct ControlRequest: Hashable, Sendable {
  /// At most `ControlLimits.idLength`; comes back as the reply's `inReplyTo`.
  public var id: String?
  public var command: ControlCommand

  public init(id: String?, command: ControlCommand) {
    self.id = id
    self.command = command
  }
}

/// A message that is no command of ours; the reply says `error` to this `id`.
public struct RefusedRequest: Error, Hashable, Sendable {
  /// Nil when the message has none that could be read.
  public var id: String?
  public var error: ControlError

  public init(id: String?, error: ControlError) {
    self.id = id
    self.error = error
  }
}

/// What the child has to say to a command that was carried out: `ok` and these parameters.
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
  case pairing(PairingDocument)
  case pairs([PairDocument])
  case invite(InviteDocument)
  /// No parameters.
  case done
}

/// What the child says unasked.
public enum ControlPush: Hashable, Sendable {
  case hello(HelloDocument)
  /// What changed.
  case state(StateDocument)
  case event(EventDocument)
  case heartbeat(HeartbeatDocument)
  case level(LevelDocument)
  /// A planned stop: no alarm. The reason in words.
  case goodbye(reason: String)

  /// The push as a viewer with these permissions may have it; nil when not at all.
  public func visible(to permissions: Permissions) -> ControlPush? {
    switch self {
    case .hello, .state, .event, .goodbye: return self
    case .level: return permissions.contains(.listen) ? self : nil
    case .heartbeat(var beat):
      if !permissions.contains(.view) { beat.video = nil }
      if !permissions.contains(.listen) { beat.audio = nil }
      return .heartbeat(beat)
    }
  }
}

/// A message of the child.
public struct ControlMessage: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    case reply(to: String, ControlReply)
    /// Without `to` when the child could not read whose fault it is.
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

// A message has a largest size, a list has not: what does not fit is cut in half until it does.

extension ControlReply {
  /// The same with less of its list; nil when nothing can be left out.
  public var shortened: ControlReply? {
    switch self {
    case .tracks(let tracks): return tracks.firstHalf.map { .tracks($0) }
    // The oldest stay, so that asking again from the last one on brings the rest.
    case .events(let events): return events.firstHalf.map { .events($0) }
    case .pairs(let pairs): return pairs.firstHalf.map { .pairs($0) }
    case .status(var status):
      guard let state = status.state.shortened else { return nil }
      status.state = state
      return .status(status)
    case .time, .light, .lullaby, .cameras, .transfer, .talk, .pairing, .invite, .done: return nil
    }
  }
}

extension ControlPush {
  /// The same with fewer of the viewers named; nil when nothing can be left out.
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
  fileprivate var shortened: StateDocument? {
    guard let fewer = viewers?.firstHalf else { return nil }
    var state = self
    state.viewers = fewer
    return state
  }
}

extension Array {
  fileprivate var firstHalf: [Element]? { isEmpty ? nil : Array(prefix(count / 2)) }
}
