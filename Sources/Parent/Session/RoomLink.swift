internal import Meeting
internal import NIOCore
internal import Signaling
internal import Wire

/// An open line to a child's room: to the child itself (`DirectLink`), or at a meeting place (`MeetingLink`). Confined to the
/// event loop.
protocol RoomLink: AnyObject {
  /// The child's own; nil at a meeting place, which does not say where the child is.
  var address: ChildAddress? { get }
  var meetingPlace: MeetingPlace? { get }
  /// Of our end; nil if it is not known.
  var localAddress: IPAddress? { get }
  /// Of the child, or where the meeting place was reached; nil if it is not known.
  var remoteAddress: IPAddress? { get }
  var reach: NetworkReach { get }
  /// Takes the place of whoever listened before.
  ///
  /// - Parameters:
  ///   - reply: not after `end`.
  ///   - end: called once; neither is called after `close`.
  func listen(reply: @escaping (RoomReply) -> Void, end: @escaping (RoomLinkEnd) -> Void)
  func send(_ request: RoomRequest)
  /// Gives the line up if nothing comes from the other end of its connection within `limit`, be it the child or a place.
  func verify(within limit: TimeAmount)
  /// - Parameter atOnce: its path is gone.
  func close(atOnce: Bool)
}

/// Why a line has ended.
enum RoomLinkEnd: Hashable, Sendable {
  /// The child's end has closed it.
  case byChild
  /// For want of a sign of life, which says nothing of the child's program.
  case givenUp
  /// So says a meeting place, for a person, which says nothing of the child.
  case atPlace(String)

  var reason: String? { if case .atPlace(let reason) = self { reason } else { nil } }
}

extension RoomLink {
  func close() { close(atOnce: false) }
}

extension MeetingLink: RoomLink {
  var address: ChildAddress? { nil }
  var meetingPlace: MeetingPlace? { place }
  var reach: NetworkReach { .elsewhere }

  func listen(reply: @escaping (RoomReply) -> Void, end: @escaping (RoomLinkEnd) -> Void) {
    onReply = reply
    onClose = { end(.atPlace($0)) }
  }

  func close(atOnce: Bool) { close() }
}
