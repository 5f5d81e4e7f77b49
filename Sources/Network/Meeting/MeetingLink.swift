public import NIOCore
public import Signaling
public import Wire

/// A parent's end of a meeting place, for one session with one child. Once it is open it behaves as the room at the child's
/// own address does.
///
/// Confined to one event loop.
public protocol MeetingLink: AnyObject {
  /// Called on the event loop, never from within a call; not before `open` has completed.
  var onReply: (RoomReply) -> Void { get set }
  /// The connection is lost, with words for a person. Called once, and not after `close`.
  var onClose: (String) -> Void { get set }

  /// Connects, and looks whether the child is there: `completion` is called once, on the event loop and never from within
  /// this call, with nil or with why not.
  func open(then completion: @escaping (MeetingFailure?) -> Void)
  /// Only once it is open; ignored when the connection is lost. `register` is answered by `registered` with the child's
  /// presence as `host`.
  func send(_ request: RoomRequest)
  /// The network has changed, so the connection may be dead without a word: it is lost if nothing comes within `limit`.
  func verify(within limit: TimeAmount)
  /// Nothing is called any more.
  func close()
  /// Our own address of the connection; nil where that is not known.
  var localAddress: IPAddress? { get }
  /// Where the place was reached; nil where that is not known. Only places where it is known lend servers.
  var remoteAddress: IPAddress? { get }
}

/// Why a child is not met at a place.
public enum MeetingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The place works, and the child is not there.
  case absent
  /// The place cannot be reached or refuses us; for a person.
  case unreachable(String)

  public var description: String {
    switch self {
    case .absent: "the child is not there"
    case .unreachable(let reason): reason
    }
  }
}
