public import Wire

/// A parent's end of a meeting place, for one session with one child: connects, waits for the child's presence, and then behaves
/// as the room at the child's own address does. A transport below it speaks with the place's server.
///
/// A core: the time is passed in, and `nextDeadline` says when `handleTimeout` is due.
public struct MeetingLinkMachine: Sendable {
  public struct Timing: Sendable {
    /// Until `connected`; nil: the transport has a limit of its own.
    public var connecting: Duration?
    /// From there until the child's presence has come.
    public var asking: Duration
    /// What it means when none has come by then.
    public var silence: MeetingFailure
    /// The server has rooms, and answers `register` itself.
    public var hasRooms = false
    /// The server does not say that a child is back, so it is asked until it is.
    public var asksAgain = false

    /// The retained presence is on its way when the broker acknowledges the subscription.
    public static let mqtt = Timing(connecting: .seconds(10), asking: .seconds(1), silence: .absent)
    /// A server says at once that the child is not there. A child whose connection is dead, and whose server does not know it
    /// yet, says nothing.
    public static let xmpp = Timing(connecting: .seconds(15), asking: .seconds(3), silence: .absent, asksAgain: true)
    public static let rendezvous = Timing(asking: .seconds(10), silence: .silent, hasRooms: true)
  }

  /// What the transport reports.
  public enum Input: Hashable, Sendable {
    /// The child can be asked for.
    case connected
    /// The child's signed presence; nil: it has gone.
    case presence(String?)
    /// The server says that the child is not there.
    case absent
    /// A server with rooms has answered `register`.
    case registered(RoomRegistration)
    /// Of the child, or of the server.
    case reply(RoomReply)
    /// The connection is lost, could not be made, or is of no use; for a person.
    case lost(String)
  }

  public enum Action: Hashable, Sendable {
    case connect
    /// Ask for the child: `presence`, `absent` or `registered` follows.
    case ask
    case send(RoomRequest)
    /// Close the connection, which has not been open yet. The transport reports nothing more of it.
    case drop
    /// Say goodbye and close it. The same.
    case leave
    case opened
    /// It could not be opened. The last action.
    case failed(MeetingFailure)
    case reply(RoomReply)
    /// It was open, and is lost. The last action.
    case lost(String)
  }

  private enum State {
    case fresh
    case connecting(until: Instant?)
    case asking(until: Instant)
    case open(nextQuestion: Instant?)
    case closed
  }

  private let timing: Timing
  private let child: String
  private let client: String
  private var state = State.fresh
  private var presence: String?
  /// The registration at a server with rooms, until the session asks for it.
  private var registration: RoomRegistration?
  private var retry = MeetingRetry()
  private var random: any RandomNumberGenerator & Sendable

  /// - Parameters:
  ///   - child: the child's id.
  ///   - client: our name there.
  public init(_ timing: Timing, child: String, client: String, random: any RandomNumberGenerator & Sendable) {
    self.timing = timing
    self.child = child
    self.client = client
    self.random = random
  }

  public var nextDeadline: Instant? {
    switch state {
    case .connecting(let until): until
    case .asking(let until): until
    case .open(let nextQuestion): nextQuestion
    case .fresh, .closed: nil
    }
  }

  public var isOpen: Bool { if case .open = state { true } else { false } }

  // MARK: - Calls

  /// Connects. Once; not after `close`.
  public mutating func start(now: Instant) -> [Action] {
    guard case .fresh = state else { return [] }
    state = .connecting(until: timing.connecting.map { now + $0 })
    return [.connect]
  }

  public mutating func receive(_ input: Input, now: Instant) -> [Action] {
    switch (input, state) {
    case (.connected, .connecting):
      if presence != nil { return open() }
      state = .asking(until: now + timing.asking)
      return [.ask]
    case (.presence(let statement), .connecting):
      presence = statement
    case (.presence(let statement?), .asking):
      presence = statement
      return open()
    case (.presence(let statement), .open):
      followQuestions(isThere: statement != nil, now)
      guard statement != presence else { return [] }
      presence = statement
      return [.reply(.presence(statement))]
    case (.absent, .asking):
      return end(.absent)
    case (.registered(let registration), .asking):
      guard case .elsewhere = registration.host else { return end(.absent) }
      self.registration = registration
      return open()
    case (.registered(let registration), .open):
      return [.reply(.registered(registration))]
    case (.reply(let reply), .open):
      return [.reply(reply)]
    case (.lost(let reason), .connecting), (.lost(let reason), .asking), (.lost(let reason), .open):
      return end(.unreachable(reason))
    case (.connected, _), (.presence, _), (.absent, _), (.registered, _), (.reply, _), (.lost, _):
      break
    }
    return []
  }

  /// Sends what the session has to say. `register` is answered here: by the server, or as a room would.
  public mutating func send(_ request: RoomRequest) -> [Action] {
    guard isOpen else { return [] }
    guard case .register = request else { return [.send(request)] }
    if let registration {
      self.registration = nil
      return [.reply(.registered(registration))]
    }
    if timing.hasRooms { return [.send(request)] }
    return [
      .reply(
        .registered(
          RoomRegistration(
            room: child, client: client, isInitiator: true, challenge: RandomName.make(from: &random),
            host: presence.map { .elsewhere(presence: $0) } ?? .absent)))
    ]
  }

  /// Nothing is reported any more.
  public mutating func close() -> [Action] {
    defer { state = .closed }
    return switch state {
    case .connecting: [.drop]
    case .asking, .open: [.leave]
    case .fresh, .closed: []
    }
  }

  public mutating func handleTimeout(now: Instant) -> [Action] {
    guard let nextDeadline, nextDeadline <= now else { return [] }
    switch state {
    case .connecting: return end(.silent)
    case .asking: return end(timing.silence)
    case .open:
      followQuestions(isThere: false, now)
      return [.ask]
    case .fresh, .closed: return []
    }
  }

  // MARK: - Helpers

  private mutating func open() -> [Action] {
    state = .open(nextQuestion: nil)
    return [.opened]
  }

  private mutating func end(_ failure: MeetingFailure) -> [Action] {
    let wasOpen = isOpen
    return close() + [wasOpen ? .lost("\(failure)") : .failed(failure)]
  }

  private mutating func followQuestions(isThere: Bool, _ now: Instant) {
    guard timing.asksAgain else { return }
    if isThere {
      retry.succeeded()
      state = .open(nextQuestion: nil)
    } else {
      state = .open(nextQuestion: now + retry.next(jitter: Double.random(in: 0...1, using: &random)))
    }
  }
}

/// Why a child is not met at a place.
public enum MeetingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The place works, and the child is not there.
  case absent
  /// The place cannot be reached or refuses us; for a person.
  case unreachable(String)

  static let silent: MeetingFailure = .unreachable("it does not answer")

  public var description: String {
    switch self {
    case .absent: "the child is not there"
    case .unreachable(let reason): reason
    }
  }
}
