internal import Meeting
internal import NIOCore
internal import Server
internal import Signaling
internal import Wire

/// A WebSocket to the room of the child itself.
final class DirectLink: RoomLink {
  private let socket: WebSocketConnection
  private let reached: ChildAddress

  init(_ socket: WebSocketConnection, to address: ChildAddress) {
    self.socket = socket
    reached = address
  }

  var address: ChildAddress? { reached }
  var meetingPlace: MeetingPlace? { nil }
  var localAddress: IPAddress? { socket.localAddress?.ip }
  var remoteAddress: IPAddress? { socket.remoteAddress?.ip }
  var reach: NetworkReach {
    reached.isLoopback ? .sameMachine : NetworkReach(local: localAddress, remote: remoteAddress)
  }

  func listen(reply: @escaping (RoomReply) -> Void, end: @escaping (RoomLinkEnd) -> Void) {
    socket.onText = { text in
      if let known = try? RoomMessages.reply(text) { reply(known) }
    }
    socket.onClose = { closure in
      if case .byUs = closure { end(.givenUp) } else { end(.byChild) }
    }
  }

  func send(_ request: RoomRequest) { socket.send(RoomMessages.text(request)) }

  func verify(within limit: TimeAmount) { socket.verify(within: limit) }

  func close(atOnce: Bool) {
    listen(reply: { _ in }, end: { _ in })
    if atOnce { socket.drop() } else { socket.close() }
  }
}
