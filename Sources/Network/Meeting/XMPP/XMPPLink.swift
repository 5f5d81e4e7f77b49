public import NIOCore
public import Signaling
public import Wire

/// A parent at an XMPP server: it asks the child's account for its presence, and sends messages to it.
public final class XMPPLink: MeetingLink {
  public var onReply: (RoomReply) -> Void = { _ in }
  public var onClose: (String) -> Void = { _ in }

  private enum State {
    case fresh
    case connecting(XMPPConnection)
    /// The child has been asked.
    case asking(XMPPConnection)
    case open(XMPPConnection)
    case closed
  }

  private let place: XMPPPlace
  private let program: MeetingProgram
  private let child: String
  private let client: String
  private let loop: any EventLoop
  private var state: State = .fresh
  private var presence: String?
  private var patience: Scheduled<Void>?
  private var completion: ((MeetingFailure?) -> Void)?
  /// Asks a child that has gone whether it is back: nobody else knows that we want to be told.
  private var nextQuestion: Scheduled<Void>?
  private var retry = MeetingRetry()

  private static let limit: TimeAmount = .seconds(15)
  /// For the child's answer. A server says at once that the child is not there; a child whose connection is dead, and
  /// whose server does not know yet, says nothing.
  private static let answering: TimeAmount = .seconds(3)
  private static let question = "cradle-presence"

  /// - Parameters:
  ///   - child: the child's id.
  ///   - client: our name there: the resource.
  ///   - program: serves the connection.
  public init(
    _ place: XMPPPlace, child: String, client: String, program: MeetingProgram = .own, eventLoop: any EventLoop
  ) {
    self.place = place
    self.program = program
    self.child = child
    self.client = client
    loop = eventLoop
  }

  private var address: String { place.child.at(XMPPPlace.resource) }

  public func open(then completion: @escaping (MeetingFailure?) -> Void) {
    guard case .fresh = state else { preconditionFailure("a link is opened once") }
    self.completion = completion
    guard place.isUsable, MeetingTopics.isClient(client) else {
      let bound = NIOLoopBound(self, eventLoop: loop)
      return loop.execute { bound.value.finish(.unreachable("its password or host cannot be used")) }
    }
    state = .connecting(
      XMPPConnection(place, resource: client, program: program, eventLoop: loop) { [weak self] event in
        self?.handle(event)
      })
    wait(Self.limit, .unreachable(XMPPService.silent))
  }

  public func send(_ request: RoomRequest) {
    guard case .open(let connection) = state else { return }
    switch request {
    case .register:
      let bound = NIOLoopBound(self, eventLoop: loop)
      loop.execute { bound.value.register() }
    case .send(child, let message):
      connection.order(.message(message, to: address))
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
    nextQuestion?.cancel()
    completion = nil
    switch state {
    case .connecting(let connection): connection.abandon()
    case .asking(let connection), .open(let connection): connection.leave()
    case .fresh, .closed: break
    }
    state = .closed
  }

  // MARK: - The connection

  private func handle(_ event: XMPPConnection.Event) {
    switch (event, state) {
    case (.open, .connecting(let connection)):
      state = .asking(connection)
      connection.order(.question(Self.question, to: address))
      wait(Self.answering, .absent)
    case (.received(let incoming), .asking(let connection)):
      guard incoming.from == address, incoming.id == Self.question, case .answer(let statement) = incoming.kind else {
        return
      }
      guard let statement else { return finish(.absent) }
      presence = statement
      state = .open(connection)
      finish(nil)
    case (.received(let incoming), .open):
      receive(incoming)
    case (.closed(let reason), _):
      lost(reason)
    case (.open, _), (.received, _), (.left, _):
      break
    }
  }

  private func receive(_ incoming: XMPPIncoming) {
    guard incoming.from == address else { return }
    switch incoming.kind {
    case .message(let text): onReply(.message(RoomDelivery(from: child, message: text)))
    case .refusal(let reason): onReply(.error(RoomError(.refused, reason.printable())))
    case .presence(let statement): note(statement)
    case .answer(let statement?): if incoming.id == Self.question { note(statement) }
    case .question, .answer(nil), .unknown: break
    }
  }

  private func note(_ statement: String?) {
    nextQuestion?.cancel()
    if statement == nil { askLater() } else { retry.succeeded() }
    guard statement != presence else { return }
    presence = statement
    onReply(.presence(statement))
  }

  private func askLater() {
    let bound = NIOLoopBound(self, eventLoop: loop)
    let delay = TimeAmount.nanoseconds(retry.next(jitter: .random(in: 0...1)).nanoseconds)
    nextQuestion = loop.scheduleTask(in: delay) {
      let link = bound.value
      guard case .open(let connection) = link.state else { return }
      connection.order(.question(Self.question, to: link.address))
      link.askLater()
    }
  }

  /// The server has no rooms: this is how a room would answer.
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
