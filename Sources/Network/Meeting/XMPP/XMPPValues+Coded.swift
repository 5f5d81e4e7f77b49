internal import Signaling
internal import Wire

extension XMPPPlace: MeetingCoded {
  func write(to writer: inout ByteWriter) {
    writer.write(text: "\(account)")
    writer.write(text: password)
    writer.write(text: "\(child)")
    writer.write(optionalText: parents.map { "\($0)" })
    writer.write(optionalText: host)
    writer.write(optional: port) { $0.write($1) }
    writer.write(optionalText: authorities)
  }

  init(from reader: inout ByteReader) throws(WireError) {
    account = try Self.address(try reader.readText())
    password = try reader.readText()
    child = try Self.address(try reader.readText())
    parents = try reader.readFlag() ? try Self.address(try reader.readText()) : nil
    host = try reader.readOptionalText()
    port = try reader.readFlag() ? try reader.readUInt16() : nil
    authorities = try reader.readOptionalText()
  }

  private static func address(_ text: String) throws(WireError) -> AccountAddress {
    guard let address = AccountAddress(text) else { throw .malformed("no account") }
    return address
  }
}

extension XMPPStanza: MeetingCoded {
  func write(to writer: inout ByteWriter) {
    writer.write(text: xml)
  }
}

extension XMPPIncoming: MeetingIncoming {
  var isMessage: Bool { true }

  func write(to writer: inout ByteWriter) {
    writer.write(text: from)
    writer.write(text: id)
    switch kind {
    case .message(let text):
      writer.write(UInt8(1))
      writer.write(text: text)
    case .refusal(let text):
      writer.write(UInt8(2))
      writer.write(text: text)
    case .presence(let statement):
      writer.write(UInt8(3))
      writer.write(optionalText: statement)
    case .question: writer.write(UInt8(4))
    case .answer(let statement):
      writer.write(UInt8(5))
      writer.write(optionalText: statement)
    case .unknown: writer.write(UInt8(6))
    case .bounced: writer.write(UInt8(7))
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    from = try reader.readText()
    id = try reader.readText()
    switch try reader.readUInt8() {
    case 1: kind = .message(try reader.readText())
    case 2: kind = .refusal(try reader.readText())
    case 3: kind = .presence(try reader.readOptionalText())
    case 4: kind = .question
    case 5: kind = .answer(try reader.readOptionalText())
    case 6: kind = .unknown
    case 7: kind = .bounced
    default: throw .malformed("no such stanza")
    }
    guard isOfOurLength else { throw .malformed("a stanza is too long") }
  }
}
