public import NIOCore
internal import Signaling
public import Wire

/// The child at an XMPP server. interfaces/wire.md, "Meeting places".
public final class XMPPHost: MeetingHost {
  public var onEvent: (MeetingHostEvent) -> Void = { _ in }

  private enum State {
    case idle
    case connecting(XMPPConnection)
    case present(XMPPConnection, since: NIODeadline)
    case waiting(Scheduled<Void>)
    case closed
  }

  private let place: XMPPPlace
  private let program: MeetingProgram
  private let child: String
  private let loop: any EventLoop
  private var state: State = .idle
  private var presence = ""
  private var retry = MeetingRetry()
  private var addresses = AddressMemory()
  private var patience: Scheduled<Void>?
  /// Full JIDs that have asked for the presence, the latest last: they are told of a newer one.
  private var watchers: [String] = []
  private var rate = RateLimiter<String>(burst: 256, interval: .milliseconds(20), maximumKeys: 1)

  private static let mostWatchers = 64
  private static let limit: TimeAmount = .seconds(20)
  /// A connection that lasted this long was a good one.
  private static let settled: TimeAmount = .seconds(30)

  /// - Parameters:
  ///   - child: the child's id.
  ///   - program: serves the connection.
  public init(_ place: XMPPPlace, child: String, program: MeetingProgram = .own, eventLoop: any EventLoop) {
    self.place = place
    self.program = program
    self.child = child
    loop = eventLoop
  }

  public func open(presence: String) {
    self.presence = presence
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.connect() }
  }

  public func announce(presence: String) {
    self.presence = presence
    guard case .present(let connection, _) = state else { return }
    for watcher in watchers { connection.order(.presence(presence, of: child, to: watcher)) }
  }

  public func send(to client: String, message: String) {
    tell(client) { .message(message, to: $0) }
  }

  /// The server lets everybody stay.
  public func vouch(for client: String, lifetime: Duration?) {}

  public func dismiss(_ client: String, reason: String) {
    tell(client) { .message(reason, kind: "refused", to: $0) }
  }

  public func addressesChanged(_ own: Set<IPAddress>) {
    guard addresses.loses(own) else { return }
    switch state {
    case .idle, .closed: break
    case .present:
      again(at: .zero)
      onEvent(.moved)
    default: again(at: .zero)
    }
  }

  /// What is sent over a connection that is dead ends it soon: the presence that is there already does.
  public func verify() {
    announce(presence: presence)
  }

  public func close(then done: @escaping () -> Void) {
    patience?.cancel()
    defer { state = .closed }
    switch state {
    case .present(let connection, _): return connection.leave(nil, then: done)
    case .connecting(let connection): connection.abandon()
    case .waiting(let retry): retry.cancel()
    case .idle, .closed: break
    }
    let bound = NIOLoopBound(done, eventLoop: loop)
    loop.execute { bound.value() }
  }

  /// A client's name is its resource, which the server vouches for.
  private func tell(_ client: String, _ stanza: (String) -> XMPPStanza) {
    guard case .present(let connection, _) = state, MeetingTopics.isClient(client) else { return }
    let account = place.parents ?? place.account
    let latest = watchers.last { $0.hasSuffix("/\(client)") }
    connection.order(stanza(latest ?? account.at(client)))
  }

  // MARK: - The connection

  private func connect() {
    guard case .idle = state else { return }
    guard place.isUsable else { return fail("its password or host cannot be used") }
    watchers = []
    let connection = XMPPConnection(place, resource: XMPPPlace.resource, program: program, eventLoop: loop) {
      [weak self] event in
      self?.handle(event)
    }
    state = .connecting(connection)
    let bound = NIOLoopBound(self, eventLoop: loop)
    patience = loop.scheduleTask(in: Self.limit) { bound.value.fail(XMPPService.silent) }
  }

  private func handle(_ event: XMPPConnection.Event) {
    switch (event, state) {
    case (.open, .connecting(let connection)):
      patience?.cancel()
      state = .present(connection, since: .now())
      onEvent(.present)
    case (.received(let incoming), .present(let connection, _)):
      receive(incoming, connection)
    case (.closed(let reason), _):
      fail(reason)
    case (.open, _), (.received, _), (.left, _):
      break
    }
  }

  private func receive(_ incoming: XMPPIncoming, _ connection: XMPPConnection) {
    let now = Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds))
    guard let client = client(incoming.from) else {
      if case .question = incoming.kind { connection.order(.refusal(of: incoming)) }
      return
    }
    guard case .admitted = rate.admit("", now: now) else { return }
    switch incoming.kind {
    case .question:
      watchers.removeAll { $0 == incoming.from }
      if watchers.count >= Self.mostWatchers { watchers.removeFirst() }
      watchers.append(incoming.from)
      connection.order(.answer(presence, of: child, to: incoming))
      // From now on the server tells it when we have gone.
      connection.order(.presence(presence, of: child, to: incoming.from))
    case .message(let text):
      onEvent(.message(from: client, text))
    case .presence(nil):
      watchers.removeAll { $0 == incoming.from }
    case .presence, .refusal, .answer, .unknown:
      break
    }
  }

  /// The name of a client of our own account or the parents'; nil for strangers.
  private func client(_ address: String) -> String? {
    let parts = address.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let account = AccountAddress(String(parts[0])),
      account == place.account || account == place.parents
    else { return nil }
    let name = String(parts[1])
    return MeetingTopics.isClient(name) && !(account == place.account && name == XMPPPlace.resource) ? name : nil
  }

  /// Tries again later.
  private func fail(_ reason: String) {
    switch state {
    case .closed, .waiting: return
    // Two children with one account would otherwise turn each other out several times a second.
    case .present(_, let since): if .now() - since > Self.settled { retry.succeeded() }
    case .idle, .connecting: break
    }
    again(at: .nanoseconds(retry.next(jitter: .random(in: 0...1)).nanoseconds))
    onEvent(.absent(reason: reason))
  }

  /// Gives up what there is and connects anew.
  private func again(at delay: TimeAmount) {
    patience?.cancel()
    switch state {
    case .connecting(let connection), .present(let connection, _): connection.abandon()
    case .waiting(let retry): retry.cancel()
    case .idle, .closed: break
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    state = .waiting(
      loop.scheduleTask(in: delay) {
        bound.value.state = .idle
        bound.value.connect()
      })
  }
}
