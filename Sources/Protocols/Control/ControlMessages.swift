public import Pairing

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
      return EventsGet.requirement.isMet(by: permissions) ? self : nil
    case .level: return permissions.contains(.listen) ? self : nil
    case .heartbeat(var beat):
      if !permissions.contains(.view) { beat.video = nil }
      if !permissions.contains(.listen) { beat.audio = nil }
      return .heartbeat(beat)
    }
  }
}

/// A message from the child.
public struct ControlMessage: Equatable, Sendable {
  public enum Content: Equatable, Sendable {
    case reply(to: String, ControlAnswer)
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
    if StatusGet.requirement.isMet(by: permissions) { return self }
    return StateDocument(talk: permissions.contains(.talk) ? talk : nil)
  }

  var shortened: StateDocument? {
    guard let fewer = viewers?.firstHalf else { return nil }
    var state = self
    state.viewers = fewer
    return state
  }
}
