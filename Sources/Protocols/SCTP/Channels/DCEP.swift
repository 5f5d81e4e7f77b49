import Wire

/// The Data Channel Establishment Protocol. RFC 8832 section 5.
enum DCEPMessage: Hashable, Sendable {
  case open(DataChannelParameters)
  case acknowledgement

  private static let openType: UInt8 = 3
  private static let acknowledgementType: UInt8 = 2
  private static let unorderedBit: UInt8 = 0x80

  init(_ bytes: [UInt8]) throws(WireError) {
    var reader = ByteReader(bytes)
    switch try reader.readUInt8() {
    case Self.openType:
      let channelType = try reader.readUInt8()
      let priority = try reader.readUInt16()
      let reliabilityParameter = try reader.readUInt32()
      let labelLength = Int(try reader.readUInt16())
      let protocolLength = Int(try reader.readUInt16())
      let label = try reader.readBytes(labelLength)
      let protocolName = try reader.readBytes(protocolLength)
      let reliability: DataChannelParameters.Reliability
      switch channelType & ~Self.unorderedBit {
      case 0: reliability = .reliable
      case 1: reliability = .maxRetransmits(reliabilityParameter)
      case 2: reliability = .maxPacketLifeTime(milliseconds: reliabilityParameter)
      default: throw .malformed("DCEP channel type")
      }
      self = .open(
        DataChannelParameters(
          label: String(decoding: label, as: UTF8.self), protocolName: String(decoding: protocolName, as: UTF8.self),
          isOrdered: channelType & Self.unorderedBit == 0, reliability: reliability, priority: priority))
    case Self.acknowledgementType: self = .acknowledgement
    default: throw .malformed("DCEP message type")
    }
  }

  /// Label and subprotocol have at most 65535 bytes each.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .acknowledgement: writer.write(Self.acknowledgementType)
    case .open(let parameters):
      let (kind, reliabilityParameter): (UInt8, UInt32) =
        switch parameters.reliability {
        case .reliable: (0, 0)
        case .maxRetransmits(let count): (1, count)
        case .maxPacketLifeTime(let milliseconds): (2, milliseconds)
        }
      writer.write(Self.openType)
      writer.write(kind | (parameters.isOrdered ? 0 : Self.unorderedBit))
      writer.write(parameters.priority)
      writer.write(reliabilityParameter)
      writer.write(UInt16(truncatingIfNeeded: parameters.label.utf8.count))
      writer.write(UInt16(truncatingIfNeeded: parameters.protocolName.utf8.count))
      writer.write(contentsOf: parameters.label.utf8)
      writer.write(contentsOf: parameters.protocolName.utf8)
    }
    return writer.bytes
  }
}

/// Payload protocol identifiers. RFC 8831 section 8.
enum PayloadProtocolID {
  static let dcep: UInt32 = 50
  static let text: UInt32 = 51
  static let binary: UInt32 = 53
  static let emptyText: UInt32 = 56
  static let emptyBinary: UInt32 = 57
}

extension DataChannelMessage {
  /// Nil for the deprecated partial messages (52, 54) and for anything that is not a data channel message.
  init?(_ message: ReceivedMessage) {
    switch message.payloadProtocolID {
    case PayloadProtocolID.text: self = .text(String(decoding: message.payload, as: UTF8.self))
    case PayloadProtocolID.binary: self = .binary(message.payload)
    case PayloadProtocolID.emptyText: self = .text("")
    case PayloadProtocolID.emptyBinary: self = .binary([])
    default: return nil
    }
  }

  /// SCTP cannot carry an empty message, so one is sent as a zero byte with its own identifier: RFC 8831 section 6.6.
  var encoded: (payloadProtocolID: UInt32, payload: [UInt8]) {
    switch self {
    case .text(let text):
      text.isEmpty ? (PayloadProtocolID.emptyText, [0]) : (PayloadProtocolID.text, Array(text.utf8))
    case .binary(let bytes):
      bytes.isEmpty ? (PayloadProtocolID.emptyBinary, [0]) : (PayloadProtocolID.binary, bytes)
    }
  }

  /// Payload bytes as the application counts them.
  var byteCount: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .binary(let bytes): bytes.count
    }
  }
}
