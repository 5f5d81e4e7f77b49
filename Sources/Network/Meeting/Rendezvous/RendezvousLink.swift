internal import NIOCore
internal import Server
internal import Signaling
internal import Wire

/// A parent at a `cradle-rendezvous`: one client of the child's room there.
final class RendezvousLink: MeetingLinkTransport {
  private let place: RendezvousPlace
  private let registration: RoomRequest
  private let loop: any EventLoop
  private var client: WebSocketClient?
  private var socket: WebSocketConnection?
  private var isRegistered = false
  private var report: (MeetingLinkMachine.Input) -> Void = { _ in }

  init(_ place: RendezvousPlace, child: String, client: String, eventLoop: any EventLoop) {
    self.place = place
    registration = .register(room: child, client: client)
    loop = eventLoop
  }

  func connect(report: @escaping (MeetingLinkMachine.Input) -> Void) {
    self.report = report
    do {
      let client = try WebSocketClient(place, limits: RendezvousPlace.clientLimits, eventLoop: loop)
      self.client = client
      client.connect { [weak self] result in self?.connected(result) }
    } catch {
      report(.lost("\(error)"))
    }
  }

  func ask() { send(registration) }

  func send(_ request: RoomRequest) { socket?.send(RoomMessages.text(request)) }

  func verify(within limit: TimeAmount) { socket?.verify(within: limit) }

  func drop() { client?.cancel() }

  func leave() {
    socket?.onText = { _ in }
    socket?.onClose = { _ in }
    socket?.close()
  }

  var localAddress: IPAddress? { socket?.localAddress?.ip }
  var remoteAddress: IPAddress? { socket?.remoteAddress?.ip }

  private func connected(_ result: Result<WebSocketConnection, WebSocketClientError>) {
    client = nil
    switch result {
    case .failure(let error): report(.lost("\(error)"))
    case .success(let socket):
      self.socket = socket
      socket.onText = { [weak self] text in self?.receive(text) }
      socket.onClose = { [weak self] closure in self?.report(.lost(closure.words)) }
      report(.connected)
    }
  }

  private func receive(_ text: String) {
    guard let reply = try? RoomMessages.reply(text) else { return }
    switch reply {
    case .registered(let registration):
      isRegistered = true
      report(.registered(registration))
    case .error(let error) where !isRegistered:
      report(
        .lost(error.code == .noSuchRoom ? "it does not know this child" : "it refuses, in its own words: “\(error)”"))
    case .presence, .error, .message, .proved, .vouched: report(.reply(reply))
    }
  }
}
