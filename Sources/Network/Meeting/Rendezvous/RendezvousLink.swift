internal import Messages
public import NIOCore
internal import Server
public import Signaling
public import Wire

/// A parent at a `cradle-rendezvous`: one client of the child's room there.
public final class RendezvousLink: MeetingLink {
  public var onReply: (RoomReply) -> Void = { _ in }
  public var onClose: (String) -> Void = { _ in }

  private enum State {
    case fresh
    case connecting(WebSocketClient)
    case registering(WebSocketConnection)
    /// - first: the registration that nobody has asked for yet.
    case open(WebSocketConnection, first: RoomRegistration?)
    case closed
  }

  private let place: RendezvousPlace
  private let registration: RoomRequest
  private let loop: any EventLoop
  private var state: State = .fresh
  private var completion: ((MeetingFailure?) -> Void)?

  /// - Parameters:
  ///   - child: the child's id, which is the room's name.
  ///   - client: our name in the room; nobody else can guess it.
  public init(_ place: RendezvousPlace, child: String, client: String, eventLoop: any EventLoop) {
    self.place = place
    registration = .register(room: child, client: client)
    loop = eventLoop
  }

  public func open(then completion: @escaping (MeetingFailure?) -> Void) {
    guard case .fresh = state else { preconditionFailure("a link is opened once") }
    self.completion = completion
    do {
      let client = try WebSocketClient(place, limits: RendezvousPlace.clientLimits, eventLoop: loop)
      state = .connecting(client)
      client.connect { [weak self] result in self?.connected(result) }
    } catch {
      let bound = NIOLoopBound(self, eventLoop: loop)
      loop.execute { bound.value.finish(.unreachable("\(error)")) }
    }
  }

  public func send(_ request: RoomRequest) {
    guard case .open(let socket, let first) = state else { return }
    if let first, request == registration {
      state = .open(socket, first: nil)
      let bound = NIOLoopBound(self, eventLoop: loop)
      loop.execute { bound.value.onReply(.registered(first)) }
    } else {
      socket.send(RoomMessages.text(request))
    }
  }

  public func verify(within limit: TimeAmount) {
    if case .open(let socket, _) = state { socket.verify(within: limit) }
  }

  public func close() {
    defer { state = .closed }
    completion = nil
    switch state {
    case .connecting(let client): client.cancel()
    case .registering(let socket), .open(let socket, _):
      socket.onText = { _ in }
      socket.onClose = { _ in }
      socket.close()
    case .fresh, .closed: break
    }
  }

  public var localAddress: IPAddress? {
    if case .open(let socket, _) = state { socket.localAddress?.ip } else { nil }
  }

  public var remoteAddress: IPAddress? {
    if case .open(let socket, _) = state { socket.remoteAddress?.ip } else { nil }
  }

  private func connected(_ result: Result<WebSocketConnection, WebSocketClientError>) {
    switch result {
    case .failure(let error):
      finish(.unreachable("\(error)"))
    case .success(let socket):
      state = .registering(socket)
      socket.onText = { [weak self] text in self?.receive(text) }
      socket.onClose = { [weak self] closure in self?.lost(closure.words) }
      socket.send(RoomMessages.text(registration))
    }
  }

  private func receive(_ text: String) {
    guard let reply = try? RoomMessages.reply(text) else { return }
    guard case .registering(let socket) = state else { return onReply(reply) }
    switch reply {
    case .registered(let registration):
      guard case .elsewhere = registration.host else { return finish(.absent) }
      state = .open(socket, first: registration)
      finish(nil)
    case .error(let error) where error.code == .noSuchRoom:
      finish(.unreachable("it does not know this child"))
    case .error(let error):
      finish(.unreachable("it refuses, in its own words: “\(error)”"))
    case .message, .proved, .presence, .vouched:
      break
    }
  }

  private func lost(_ reason: String) {
    guard completion == nil else { return finish(.unreachable(reason)) }
    if case .closed = state { return }
    state = .closed
    onClose(reason)
  }

  private func finish(_ failure: MeetingFailure?) {
    guard let completion else { return }
    if failure != nil { close() }
    self.completion = nil
    completion(failure)
  }
}
