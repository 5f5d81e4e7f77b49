internal import Signaling
internal import Wire

/// What came over a connection that is open.
protocol MeetingIncoming: Codable, Sendable {
  /// Others follow in any case: it may be lost when there are too many.
  var isMessage: Bool { get }
  /// With words of others as they can be shown. Throws if it is longer than anything of ours.
  func checked() throws(WireError) -> Self
}

/// What a connection reports to the event loop.
enum MeetingEvent<Incoming: MeetingIncoming>: Codable, Sendable {
  /// The server has accepted us, and what we subscribed to.
  case open
  case received(Incoming)
  /// The connection is lost, with words for a person. Nothing follows.
  case closed(String)
  /// What the server sent cost more than it may, with words for a person. Nothing follows.
  case tooCostly(String)
  /// The goodbye has been said, or cannot be. Nothing follows.
  case left

  var isMessage: Bool { if case .received(let incoming) = self { incoming.isMessage } else { false } }

  /// Nothing follows.
  var isLast: Bool {
    switch self {
    case .closed, .tooCostly, .left: true
    case .open, .received: false
    }
  }
}

extension MeetingEvent {
  /// From the connection's process, which a server may have taken over.
  init(frame: ArraySlice<UInt8>) throws(WireError) {
    switch try MeetingFrame.value(Self.self, in: frame) {
    case .received(let incoming): self = .received(try incoming.checked())
    case .closed(let reason): self = .closed(reason.printable())
    case .tooCostly(let reason): self = .tooCostly(reason.printable())
    case let event: self = event
    }
  }
}
