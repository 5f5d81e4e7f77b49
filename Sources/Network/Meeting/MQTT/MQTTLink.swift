internal import Messages
public import NIOCore
public import Signaling
public import Wire

/// A parent at an MQTT broker: it reads the child's presence and what is said to it, and leaves messages for the child.
public final class MQTTLink: MeetingLink {
  public var onReply: (RoomReply) -> Void = { _ in }
  public var onClose: (String) -> Void = { _ in }

  private enum State {
    case fresh
    /// - isSubscribed: retained messages follow at once.
    case connecting(MQTTConnection, isSubscribed: Bool)
    case open(MQTTConnection)
    case closed
  }

  private let place: MQTTPlace
  private let program: MeetingProgram
  private let child: String
  private let client: String
  private let topics: MeetingTopics
  private let loop: any EventLoop
  private var state: State = .fresh
  private var presence: String?
  private var patience: Scheduled<Void>?
  private var completion: ((MeetingFailure?) -> Void)?

  /// In seconds.
  private static let keepalive: Int32 = 30
  /// In seconds. A child answers within seconds, or has gone.
  private static let expiry: UInt32 = 30
  private static let limit: TimeAmount = .seconds(10)
  /// For the retained presence, after the broker has acknowledged the subscription. It is already on its way then.
  private static let settling: TimeAmount = .seconds(1)

  /// - Parameters:
  ///   - child: the child's id.
  ///   - client: our name there; nobody else can guess it.
  ///   - program: serves the connection.
  public init(
    _ place: MQTTPlace, child: String, client: String, program: MeetingProgram = .own, eventLoop: any EventLoop
  ) {
    self.place = place
    self.program = program
    self.child = child
    self.client = client
    topics = MeetingTopics(prefix: place.topic, child: child)
    loop = eventLoop
  }

  public func open(then completion: @escaping (MeetingFailure?) -> Void) {
    guard case .fresh = state else { preconditionFailure("a link is opened once") }
    self.completion = completion
    guard let server = BrokerURL(place.url), MeetingTopics.isClient(client) else {
      let bound = NIOLoopBound(self, eventLoop: loop)
      return loop.execute { bound.value.finish(.unreachable("\(bound.value.place.url) is not \(BrokerURL.allowed)")) }
    }
    let settings = MQTTSettings(
      place, server: server, client: client, keepalive: Self.keepalive,
      subscriptions: [
        MQTTSubscription(topic: topics.presence, wantsRetained: true),
        MQTTSubscription(topic: topics.outbox(client), wantsRetained: false),
      ])
    let connection = MQTTConnection(settings, program: program, eventLoop: loop) { [weak self] event in
      self?.handle(event)
    }
    state = .connecting(connection, isSubscribed: false)
    wait(Self.limit, .unreachable(MQTTWords.silent))
  }

  public func send(_ request: RoomRequest) {
    guard case .open(let connection) = state else { return }
    switch request {
    case .register:
      let bound = NIOLoopBound(self, eventLoop: loop)
      loop.execute { bound.value.register() }
    case .send(child, let message):
      let text = RoomMessages.text(.message(RoomDelivery(from: client, message: message)))
      connection.order(
        MQTTPublication(topic: topics.inbox, payload: Array(text.utf8), expirySeconds: Self.expiry))
    case .send, .prove, .announce, .vouch, .dismiss:
      break
    }
  }

  /// Not known of a connection that a thread of its own serves.
  public var localAddress: IPAddress? { nil }

  public var remoteAddress: IPAddress? { nil }

  /// The libraries send no sign of life when asked; theirs come by themselves.
  public func verify(within limit: TimeAmount) {}

  public func close() {
    patience?.cancel()
    completion = nil
    switch state {
    case .connecting(let connection, isSubscribed: false): connection.abandon()
    case .connecting(let connection, isSubscribed: true), .open(let connection): connection.leave()
    case .fresh, .closed: break
    }
    state = .closed
  }

  // MARK: - The connection

  private func handle(_ event: MQTTConnection.Event) {
    switch (event, state) {
    case (.open, .connecting(let connection, _)):
      state = .connecting(connection, isSubscribed: true)
      if presence == nil { wait(Self.settling, .absent) } else { opened(connection) }
    case (.received(.message(let message)), _):
      receive(message)
    case (.received(.published(topics.inbox, let refusal?)), .open):
      lost("this account may not send messages to the child: \(refusal)")
    case (.closed(let reason), _):
      lost(reason)
    case (.open, _), (.received, _), (.left, _):
      break
    }
  }

  private func receive(_ message: MQTTMessage) {
    if message.topic == topics.presence {
      let text = message.payload.count <= Presence.maximumBytes ? message.text : nil
      // What cannot be a presence changes nothing.
      guard text != nil || message.payload.isEmpty, text != presence else { return }
      presence = text
      switch state {
      case .open: onReply(.presence(text))
      case .connecting(let connection, isSubscribed: true): if text != nil { opened(connection) }
      case .connecting, .fresh, .closed: break
      }
    } else if case .open = state, message.topic == topics.outbox(client), let text = message.text,
      let reply = try? RoomMessages.reply(text)
    {
      switch reply {
      case .message(let delivery): if delivery.from == child { onReply(reply) }
      case .error: onReply(reply)
      // A child says nothing else there.
      case .registered, .proved, .presence, .vouched: break
      }
    }
  }

  private func opened(_ connection: MQTTConnection) {
    state = .open(connection)
    finish(nil)
  }

  /// A broker has no rooms: this is how a room would answer.
  private func register() {
    guard case .open = state else { return }
    let challenge = Base64URL.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) })
    onReply(
      .registered(
        RoomRegistration(
          room: child, client: client, isInitiator: true, challenge: challenge,
          host: presence.map { .elsewhere(presence: $0) } ?? .absent)))
  }

  private func wait(_ time: TimeAmount, _ failure: MeetingFailure) {
    patience?.cancel()
    let bound = NIOLoopBound(self, eventLoop: loop)
    patience = loop.scheduleTask(in: time) { bound.value.finish(failure) }
  }

  private func lost(_ reason: String) {
    guard completion == nil else { return finish(.unreachable(reason)) }
    if case .closed = state { return }
    close()
    onClose(reason)
  }

  private func finish(_ failure: MeetingFailure?) {
    guard let completion else { return }
    patience?.cancel()
    if failure != nil { close() }
    self.completion = nil
    completion(failure)
  }
}
