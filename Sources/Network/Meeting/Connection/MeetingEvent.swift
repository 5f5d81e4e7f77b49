internal import Signaling
internal import Wire

/// What came over a connection that is open.
protocol MeetingIncoming: MeetingCoded, Sendable {
  /// Others follow in any case: it may be lost when there are too many.
  var isMessage: Bool { get }
}

/// What a connection tells the event loop.
enum MeetingEvent<Incoming: MeetingIncoming>: Sendable {
  /// The server has accepted us, and what we subscribed to.
  case open
  case received(Incoming)
  /// The connection is lost, with words for a person. Nothing follows.
  case closed(String)
  /// The goodbye has been said, or cannot be. Nothing follows.
  case left

  var isMessage: Bool { if case .received(let incoming) = self { incoming.isMessage } else { false } }

  /// Nothing follows.
  var isLast: Bool {
    switch self {
    case .closed, .left: true
    case .open, .received: false
    }
  }
}

extension MeetingEvent: MeetingCoded {
  func write(to writer: inout ByteWriter) {
    switch self {
    case .open:
      writer.write(UInt8(1))
    case .received(let incoming):
      writer.write(UInt8(2))
      incoming.write(to: &writer)
    case .closed(let reason):
      writer.write(UInt8(3))
      writer.write(text: reason)
    case .left:
      writer.write(UInt8(4))
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    switch try reader.readUInt8() {
    case 1: self = .open
    case 2: self = .received(try Incoming(from: &reader))
    case 3: self = .closed(try reader.readText().printable())
    case 4: self = .left
    default: throw .malformed("no such event")
    }
  }
}
