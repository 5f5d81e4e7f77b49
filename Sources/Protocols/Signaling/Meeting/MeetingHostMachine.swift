public import Wire

/// The child's end of a meeting place: connects, announces the child's presence, checks the connection, and connects again when
/// it is lost. A transport below it speaks with the place's server; each connection is reported by one `connected`.
///
/// A core: the time is passed in, and `nextDeadline` says when `handleTimeout` is due.
public struct MeetingHostMachine: Sendable {
  public struct Timing: Sendable {
    /// Until `connected`; nil: the transport has a limit of its own.
    public var connecting: Duration?
    /// From there until `present`.
    public var announcing: Duration = .seconds(10)
    /// A connection that lasted this long was a good one. A server that accepts us and drops us is not asked each second, and
    /// two children with one account do not push each other out several times a second.
    public var settled: Duration = .seconds(30)
    /// How often a connection has to show that it lives, and how soon; nil: the transport asks by itself.
    public var pulse: (interval: Duration, limit: Duration)?
    /// After a change of the network. Mobile networks take up to two seconds.
    public var verification: Duration = .seconds(3)

    public static let mqtt = Timing()
    public static let xmpp = Timing(connecting: .seconds(20))
    /// Two packets a minute are enough to keep a router's entry (RFC 5382 asks for two hours, some forget after five minutes),
    /// and to find out that a router has forgotten it all. Whoever comes to meet the child makes the server check it.
    public static let rendezvous = Timing(settled: .seconds(60), pulse: (.seconds(120), .seconds(8)))
  }

  /// What the transport reports.
  public enum Input: Hashable, Sendable {
    /// The presence can be announced.
    case connected
    /// The server has accepted the presence.
    case present
    /// The connection is lost, or could not be made; for a person.
    case lost(String)
    /// A client's message, with the client's name.
    case message(from: String, String)
    /// The place lends servers, with credentials for us; `place` is where it was reached.
    case iceServers([ICEServerDocument], place: IPAddress?)
  }

  public enum Action: Hashable, Sendable {
    case connect
    /// Show the presence as it is now.
    case announce
    /// The connection has to show that it lives; `lost` follows if it does not.
    case verify(within: Duration)
    /// Close the connection without a goodbye. The transport reports nothing more of it.
    case drop
    case event(MeetingHostEvent)
  }

  private enum State {
    case idle
    case connecting(until: Instant?)
    case announcing(until: Instant)
    case present(since: Instant, pulse: Instant?)
    case waiting(until: Instant)
    case closed
  }

  private let timing: Timing
  private var state = State.idle
  private var retry = MeetingRetry()
  private var random: any RandomNumberGenerator & Sendable

  public init(_ timing: Timing, random: any RandomNumberGenerator & Sendable) {
    self.timing = timing
    self.random = random
  }

  public var nextDeadline: Instant? {
    switch state {
    case .connecting(let until): until
    case .announcing(let until), .waiting(let until): until
    case .present(_, let pulse): pulse
    case .idle, .closed: nil
    }
  }

  /// Messages can be sent.
  public var isPresent: Bool { if case .present = state { true } else { false } }

  private var hasConnection: Bool {
    switch state {
    case .connecting, .announcing, .present: true
    case .idle, .waiting, .closed: false
    }
  }

  // MARK: - Calls

  /// Connects, and stays connected. Once.
  public mutating func start(now: Instant) -> [Action] {
    guard case .idle = state else { return [] }
    return connect(now)
  }

  /// There is a newer presence.
  public func announce() -> [Action] {
    switch state {
    case .announcing, .present: [.announce]
    case .idle, .connecting, .waiting, .closed: []
    }
  }

  public mutating func receive(_ input: Input, now: Instant) -> [Action] {
    switch (input, state) {
    case (.connected, .connecting):
      state = .announcing(until: now + timing.announcing)
      return [.announce]
    case (.present, .announcing):
      state = .present(since: now, pulse: timing.pulse.map { now + $0.interval })
      return [.event(.present)]
    case (.lost(let reason), .connecting), (.lost(let reason), .announcing), (.lost(let reason), .present):
      return fail(reason, now)
    case (.message(let client, let text), .present):
      return [.event(.message(from: client, text))]
    case (.iceServers(let servers, let place), .present):
      return [.event(.iceServers(servers, place: place))]
    case (.connected, _), (.present, _), (.lost, _), (.message, _), (.iceServers, _):
      return []
    }
  }

  /// Addresses of this machine have come or gone, so the connection may be dead without a word.
  ///
  /// - Parameters:
  ///   - isGone: the connection is from an address that is gone: another one is made at once.
  ///   - isOffline: this machine has no address.
  public mutating func addressesChanged(isGone: Bool, isOffline: Bool, now: Instant) -> [Action] {
    switch state {
    case .present where isGone: return again(at: now) + [.event(.moved)]
    case .connecting where isGone, .announcing where isGone: return again(at: now)
    case .announcing, .present: return [.verify(within: timing.verification)]
    case .waiting(let until):
      // What has failed without a network may work with one.
      if !isOffline { state = .waiting(until: min(until, now + .seconds(1))) }
      return []
    case .idle, .connecting, .closed: return []
    }
  }

  /// The network seems to have changed beyond this machine.
  public mutating func verify(now: Instant) -> [Action] {
    switch state {
    case .announcing, .present: return [.verify(within: timing.verification)]
    case .waiting:
      state = .waiting(until: now)
      return []
    case .idle, .connecting, .closed: return []
    }
  }

  /// Nothing is done any more.
  ///
  /// - Returns: whether there is a connection, on which to say goodbye.
  public mutating func close() -> Bool {
    defer { state = .closed }
    return hasConnection
  }

  public mutating func handleTimeout(now: Instant) -> [Action] {
    guard let nextDeadline, nextDeadline <= now else { return [] }
    switch state {
    case .waiting: return connect(now)
    case .connecting, .announcing: return fail("it does not answer", now)
    case .present(let since, _):
      guard let pulse = timing.pulse else { return [] }
      state = .present(since: since, pulse: now + pulse.interval)
      return [.verify(within: pulse.limit)]
    case .idle, .closed: return []
    }
  }

  // MARK: - Helpers

  private mutating func connect(_ now: Instant) -> [Action] {
    state = .connecting(until: timing.connecting.map { now + $0 })
    return [.connect]
  }

  private mutating func fail(_ reason: String, _ now: Instant) -> [Action] {
    if case .present(let since, _) = state, now - since > timing.settled { retry.succeeded() }
    return again(at: now + retry.next(jitter: Double.random(in: 0...1, using: &random))) + [
      .event(.absent(reason: reason))
    ]
  }

  private mutating func again(at time: Instant) -> [Action] {
    defer { state = .waiting(until: time) }
    return hasConnection ? [.drop] : []
  }
}

public enum MeetingHostEvent: Hashable, Sendable {
  /// Parents can find the child there.
  case present
  /// They cannot; for a person. It is being tried again.
  case absent(reason: String)
  /// Its connection is from an address that is gone.
  static let moved: MeetingHostEvent = .absent(reason: "this machine's addresses have changed")
  /// A client's message, with the client's name.
  case message(from: String, String)
  /// The place lends servers that help to connect, with credentials for us; `place` is where it was reached.
  case iceServers([ICEServerDocument], place: IPAddress?)
}
