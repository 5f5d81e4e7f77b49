internal import Signaling
internal import Wire

extension MQTTSettings: MeetingCoded {
  func write(to writer: inout ByteWriter) {
    writer.write(text: server.host)
    writer.write(server.port)
    writer.write(flag: server.isEncrypted)
    writer.write(optionalText: authorities)
    writer.write(optionalText: username)
    writer.write(optionalText: password)
    writer.write(text: client)
    writer.write(UInt32(bitPattern: keepalive))
    writer.write(UInt8(clamping: subscriptions.count))
    for subscription in subscriptions.prefix(255) {
      writer.write(text: subscription.topic)
      writer.write(flag: subscription.wantsRetained)
    }
    writer.write(optionalText: will)
  }

  init(from reader: inout ByteReader) throws(WireError) {
    let (host, port, isEncrypted) = (try reader.readText(), try reader.readUInt16(), try reader.readFlag())
    guard let server = BrokerURL(host: host, port: port, isEncrypted: isEncrypted) else {
      throw .malformed("no such broker")
    }
    self.server = server
    authorities = try reader.readOptionalText()
    username = try reader.readOptionalText()
    password = try reader.readOptionalText()
    client = try reader.readText()
    keepalive = Int32(bitPattern: try reader.readUInt32())
    subscriptions = []
    for _ in 0..<(try reader.readUInt8()) {
      subscriptions.append(MQTTSubscription(topic: try reader.readText(), wantsRetained: try reader.readFlag()))
    }
    will = try reader.readOptionalText()
  }
}

extension MQTTPublication: MeetingCoded {
  func write(to writer: inout ByteWriter) {
    writer.write(text: topic)
    writer.write(counted: payload)
    writer.write(flag: isRetained)
    writer.write(optional: expirySeconds) { $0.write($1) }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    topic = try reader.readText()
    payload = try reader.readCounted()
    isRetained = try reader.readFlag()
    expirySeconds = try reader.readFlag() ? try reader.readUInt32() : nil
  }
}

extension MQTTIncoming: MeetingCoded {
  func write(to writer: inout ByteWriter) {
    switch self {
    case .message(let message):
      writer.write(UInt8(1))
      writer.write(text: message.topic)
      writer.write(counted: message.payload)
    case .published(let topic, let refusal):
      writer.write(UInt8(2))
      writer.write(text: topic)
      writer.write(optionalText: refusal)
    }
  }

  init(from reader: inout ByteReader) throws(WireError) {
    switch try reader.readUInt8() {
    case 1:
      let message = MQTTMessage(topic: try reader.readText(), payload: try reader.readCounted())
      guard message.isOfOurLength else { throw .malformed("a message is too long") }
      self = .message(message)
    case 2: self = .published(topic: try reader.readText(), refusal: try reader.readOptionalText()?.printable())
    default: throw .malformed("no such event")
    }
  }
}
