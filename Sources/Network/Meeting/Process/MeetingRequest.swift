internal import Wire

/// What a connection's process is told.
enum MeetingRequest<Order: MeetingCoded>: MeetingCoded {
  case order(Order)
  /// Does this, says goodbye, and ends.
  case leave(Order?)

  func write(to writer: inout ByteWriter) {
    switch self {
    case .order(let order):
      writer.write(UInt8(1))
      order.write(to: &writer)
    case .leave(let farewell):
      writer.write(UInt8(2))
      writer.write(optional: farewell) { $1.write(to: &$0) }
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    switch try reader.readUInt8() {
    case 1: self = .order(try Order(from: &reader))
    case 2: self = .leave(try reader.readFlag() ? try Order(from: &reader) : nil)
    default: throw .malformed("no such request")
    }
    try reader.end()
  }
}

/// What a connection's process is told first: where to connect, with credentials, which stand in no argument and no variable.
enum MeetingErrand: MeetingCoded {
  case mqtt(MQTTSettings)
  case xmpp(XMPPPlace, resource: String)

  func write(to writer: inout ByteWriter) {
    switch self {
    case .mqtt(let settings):
      writer.write(UInt8(1))
      settings.write(to: &writer)
    case .xmpp(let place, let resource):
      writer.write(UInt8(2))
      place.write(to: &writer)
      writer.write(text: resource)
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    switch try reader.readUInt8() {
    case 1: self = .mqtt(try MQTTSettings(from: &reader))
    case 2: self = .xmpp(try XMPPPlace(from: &reader), resource: try reader.readText())
    default: throw .malformed("no such errand")
    }
    try reader.end()
  }
}
