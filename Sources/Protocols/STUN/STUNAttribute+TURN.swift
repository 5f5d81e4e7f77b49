internal import Wire

extension STUNAttribute {
  /// The attributes of TURN; any other as it is. RFC 8656 section 18.
  static func decodeTURN(
    _ type: STUNAttributeType, _ value: ArraySlice<UInt8>, transactionID: STUNTransactionID
  ) throws(WireError) -> STUNAttribute {
    var reader = ByteReader(value)
    switch type {
    case .xorPeerAddress: return .xorPeerAddress(try decodeAddress(value, mask: transactionID))
    case .xorRelayedAddress: return .xorRelayedAddress(try decodeAddress(value, mask: transactionID))
    case .alternateServer: return .alternateServer(try decodeAddress(value, mask: nil))
    case .data: return .data(Array(value))
    case .channelNumber, .lifetime, .requestedTransport, .requestedAddressFamily:
      guard value.count == 4 else { throw .malformed("a channel, lifetime, transport or family is 4 bytes") }
      let field = try reader.readUInt32()
      switch type {
      case .channelNumber: return .channelNumber(UInt16(truncatingIfNeeded: field >> 16))
      case .lifetime: return .lifetime(field)
      case .requestedTransport: return .requestedTransport(UInt8(truncatingIfNeeded: field >> 24))
      default:
        let family = field >> 24
        guard family == 1 || family == 2 else { throw .malformed("a family is 1 or 2") }
        return .requestedAddressFamily(isIPv6: family == 2)
      }
    default: return .raw(type, Array(value))
    }
  }
}
