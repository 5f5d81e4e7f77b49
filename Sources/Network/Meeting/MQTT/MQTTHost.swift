internal import Messages
public import NIOCore
internal import Signaling
public import Wire

/// The child at an MQTT broker. interfaces/wire.md, "Meeting places".
public final class MQTTHost: MeetingHost {
  public var onEvent: (MeetingHostEvent) -> Void = { _ in }

  private enum State {
    case idle
    case connecting(MQTTConnection)
    /// Until the broker has taken the presence.
    case announcing(MQTTConnection, patience: Scheduled<Void>)
    case present(MQTTConnection, since: NIODeadline)
    case waiting(Scheduled<Void>)
    case closed
  }

  private let place: MQTTPlace
  private let program: MeetingProgram
  private let child: String
  private let topics: MeetingTopics
  private let loop: any EventLoop
  private var state: State = .idle
  private var presence = ""
  private var retry = MeetingRetry()
  private var addresses = AddressMemory()
  /// A broker tells nothing about who sends, so all senders share it.
  private var rate = RateLimiter<String>(burst: 256, interval: .milliseconds(20), maximumKeys: 1)

  /// In seconds. A pair of pings in two minutes, as at a `cradle-rendezvous`. The broker gives us up after three.
  private static let keepalive: Int32 = 120
  /// In seconds. A parent waits no longer.
  private static let expiry: UInt32 = 30
  /// In seconds. An announced presence counts no longer, and it is announced anew before.
  private static let presenceExpiry: UInt32 = 2 * 3600
  private static let limit: TimeAmount = .seconds(10)
  /// A connection that lasted this long was a good one.
  private static let settled: TimeAmount = .seconds(30)

  /// - Parameters:
  ///   - child: the child's id.
  ///   - program: serves the connection.
  public init(_ place: MQTTPlace, child: String, program: MeetingProgram = .own, eventLoop: any EventLoop) {
    self.place = place
    self.program = program
    self.child = child
    topics = MeetingTopics(prefix: place.topic, child: child)
    loop = eventLoop
  }

  public func open(presence: String) {
    self.presence = presence
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.connect() }
  }

  public func announce(presence: String) {
    self.presence = presence
    if case .present(let connection, _) = state { connection.order(statement) }
  }

  public func send(to client: String, message: String) {
    tell(client, .message(RoomDelivery(from: child, message: message)))
  }

  /// A broker lets everybody stay.
  public func vouch(for client: String, lifetime: Duration?) {}

  public func dismiss(_ client: String, reason: String) {
    tell(client, .error(RoomError(.refused, reason)))
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
    defer { state = .closed }
    switch state {
    case .present(let connection, _):
      return connection.leave(MQTTPublication(topic: topics.presence, payload: [], isRetained: true), then: done)
    case .announcing(let connection, let patience):
      patience.cancel()
      return connection.leave(MQTTPublication(topic: topics.presence, payload: [], isRetained: true), then: done)
    // Not abandoned: it may be about to say our name, and would push out whoever comes next with it.
    case .connecting(let connection): return connection.leave(nil, then: done)
    case .waiting(let retry): retry.cancel()
    case .idle, .closed: break
    }
    let bound = NIOLoopBound(done, eventLoop: loop)
    loop.execute { bound.value() }
  }

  private func tell(_ client: String, _ reply: RoomReply) {
    guard case .present(let connection, _) = state, MeetingTopics.isClient(client) else { return }
    connection.order(
      MQTTPublication(
        topic: topics.outbox(client), payload: Array(RoomMessages.text(reply).utf8), expirySeconds: Self.expiry))
  }

  private var statement: MQTTPublication {
    MQTTPublication(
      topic: topics.presence, payload: Array(presence.utf8), isRetained: true, expirySeconds: Self.presenceExpiry)
  }

  // MARK: - The connection

  private func connect() {
    guard case .idle = state else { return }
    guard let server = BrokerURL(place.url) else { return fail("\(place.url) is not \(BrokerURL.allowed)") }
    var settings = MQTTSettings(
      place, server: server, client: "cradle-\(child)", keepalive: Self.keepalive,
      subscriptions: [MQTTSubscription(topic: topics.inbox, wantsRetained: false)])
    settings.will = topics.presence
    state = .connecting(
      MQTTConnection(settings, program: program, eventLoop: loop) { [weak self] event in self?.handle(event) })
  }

  private func handle(_ event: MQTTConnection.Event) {
    switch (event, state) {
    case (.open, .connecting(let connection)):
      connection.order(statement)
      let bound = NIOLoopBound(self, eventLoop: loop)
      let patience = loop.scheduleTask(in: Self.limit) { bound.value.fail(MQTTWords.silent) }
      state = .announcing(connection, patience: patience)
    case (.received(.published(topics.presence, nil)), .announcing(let connection, let patience)):
      patience.cancel()
      state = .present(connection, since: .now())
      onEvent(.present)
    case (.received(.published(topics.presence, let refusal?)), .announcing),
      (.received(.published(topics.presence, let refusal?)), .present):
      fail("this account may not publish \(topics.presence): \(refusal)")
    case (.received(.message(let message)), .present):
      receive(message)
    case (.closed(let reason), _):
      fail(reason)
    case (.open, _), (.received, _), (.left, _):
      break
    }
  }

  /// Anybody with a password of the broker may have sent it.
  private func receive(_ message: MQTTMessage) {
    let now = Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds))
    guard message.topic == topics.inbox, case .admitted = rate.admit("", now: now), let text = message.text,
      case .message(let delivery)? = try? RoomMessages.reply(text), MeetingTopics.isClient(delivery.from)
    else { return }
    onEvent(.message(from: delivery.from, delivery.message))
  }

  /// Tries again later.
  private func fail(_ reason: String) {
    switch state {
    case .closed, .waiting: return
    // Two children with one identity would otherwise turn each other out several times a second.
    case .present(_, let since): if .now() - since > Self.settled { retry.succeeded() }
    case .idle, .connecting, .announcing: break
    }
    again(at: .nanoseconds(retry.next(jitter: .random(in: 0...1)).nanoseconds))
    onEvent(.absent(reason: reason))
  }

  /// Gives up what there is and connects anew.
  private func again(at delay: TimeAmount) {
    switch state {
    case .connecting(let connection), .present(let connection, _): connection.abandon()
    case .announcing(let connection, let patience):
      patience.cancel()
      connection.abandon()
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
