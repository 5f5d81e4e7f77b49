internal import Meeting
internal import Messages
internal import NIOCore
internal import Server
internal import Signaling
internal import Wire

/// The open line to a child's room: a WebSocket to the child itself, or a meeting place. Confined to the event loop.
final class RoomLine {
  private enum Way {
    case direct(WebSocketConnection, ChildAddress)
    case meeting(MeetingLink, MeetingPlace)
  }

  private let way: Way
  /// Not after `onClose`.
  var onReply: (RoomReply) -> Void = { _ in }
  /// Once.
  ///
  /// - Parameters:
  ///   - wasGivenUp: we closed it, for want of a sign of life; or a meeting place did, which says nothing of the child.
  ///   - reason: the meeting place's words, for a person.
  var onClose: (_ wasGivenUp: Bool, _ reason: String?) -> Void = { _, _ in }

  init(_ socket: WebSocketConnection, to address: ChildAddress) {
    way = .direct(socket, address)
    socket.onText = { [weak self] text in
      guard let reply = try? RoomMessages.reply(text) else { return }
      self?.onReply(reply)
    }
    socket.onClose = { [weak self] closure in
      if case .byUs = closure { self?.onClose(true, nil) } else { self?.onClose(false, nil) }
    }
  }

  init(_ link: MeetingLink, at place: MeetingPlace) {
    way = .meeting(link, place)
    link.onReply = { [weak self] reply in self?.onReply(reply) }
    link.onClose = { [weak self] reason in self?.onClose(true, reason) }
  }

  /// The child's own address; nil at a meeting place.
  var address: ChildAddress? {
    if case .direct(_, let address) = way { address } else { nil }
  }

  var place: MeetingPlace? {
    if case .meeting(_, let place) = way { place } else { nil }
  }

  /// Where the other end is; nil at a meeting place, which says nothing of where the child is.
  var remote: IPAddress? {
    if case .direct(let socket, _) = way { socket.remoteAddress?.ip } else { nil }
  }

  /// Where the meeting place was reached; nil if that is not known.
  var placeAddress: IPAddress? {
    if case .meeting(let link, _) = way { link.remoteAddress } else { nil }
  }

  /// Our own address; nil if it is not known.
  var local: IPAddress? {
    switch way {
    case .direct(let socket, _): socket.localAddress?.ip
    case .meeting(let link, _): link.localAddress
    }
  }

  var reach: NetworkReach {
    guard case .direct(let socket, let address) = way else { return .elsewhere }
    return address.isLoopback
      ? .sameMachine : NetworkReach(local: socket.localAddress?.ip, remote: socket.remoteAddress?.ip)
  }

  func send(_ request: RoomRequest) {
    switch way {
    case .direct(let socket, _): socket.send(RoomMessages.text(request))
    case .meeting(let link, _): link.send(request)
    }
  }

  /// Gives the line up if nothing comes from the child within `limit`. What a meeting place would say is no sign of the child.
  func verify(within limit: TimeAmount) {
    if case .direct(let socket, _) = way { socket.verify(within: limit) }
  }

  /// Gives the line up if nothing comes from the other end of its connection within `limit`, be it the child or a place.
  func verifyConnection(within limit: TimeAmount) {
    switch way {
    case .direct(let socket, _): socket.verify(within: limit)
    case .meeting(let link, _): link.verify(within: limit)
    }
  }

  /// Nothing is called any more.
  ///
  /// - Parameter atOnce: its path is gone.
  func close(atOnce: Bool = false) {
    onReply = { _ in }
    onClose = { _, _ in }
    switch way {
    case .direct(let socket, _): if atOnce { socket.drop() } else { socket.close() }
    case .meeting(let link, _): link.close()
    }
  }
}
