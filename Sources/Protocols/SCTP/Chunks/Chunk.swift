import Wire

/// Chunk types. RFC 9260 section 3.2, RFC 3758 section 3.2, RFC 6525 section 3.1.
enum ChunkType {
  static let data: UInt8 = 0
  static let initiation: UInt8 = 1
  static let initiationAck: UInt8 = 2
  static let sack: UInt8 = 3
  static let heartbeat: UInt8 = 4
  static let heartbeatAck: UInt8 = 5
  static let abort: UInt8 = 6
  static let shutdown: UInt8 = 7
  static let shutdownAck: UInt8 = 8
  static let error: UInt8 = 9
  static let cookieEcho: UInt8 = 10
  static let cookieAck: UInt8 = 11
  static let shutdownComplete: UInt8 = 14
  static let reconfiguration: UInt8 = 130
  static let forwardTSN: UInt8 = 192
}

/// A chunk with its fields.
enum Chunk: Sendable {
  case data(DataChunk)
  case initiation(InitiationChunk)
  case initiationAck(InitiationChunk)
  case sack(SackChunk)
  case heartbeat(info: ArraySlice<UInt8>)
  case heartbeatAck(info: ArraySlice<UInt8>)
  /// `reflected`: the T bit, the packet carries the tag that its receiver sends with (RFC 9260 section 8.5.1).
  case abort([ErrorCause], reflected: Bool)
  case shutdown(cumulativeTSN: UInt32)
  case shutdownAck
  case error([ErrorCause])
  case cookieEcho(ArraySlice<UInt8>)
  case cookieAck
  case shutdownComplete(reflected: Bool)
  case reconfiguration([ReconfigurationParameter])
  case forwardTSN(ForwardTSNChunk)
  case unrecognized(RawChunk)

  init(_ raw: RawChunk) throws(WireError) {
    switch raw.type {
    case ChunkType.data: self = .data(try DataChunk(raw))
    case ChunkType.initiation: self = .initiation(try InitiationChunk(raw.value))
    case ChunkType.initiationAck: self = .initiationAck(try InitiationChunk(raw.value))
    case ChunkType.sack: self = .sack(try SackChunk(raw.value))
    case ChunkType.heartbeat: self = .heartbeat(info: raw.value)
    case ChunkType.heartbeatAck: self = .heartbeatAck(info: raw.value)
    case ChunkType.abort:
      // An ABORT ends the association even if its causes are malformed.
      self = .abort((try? ErrorCause.list(raw.value)) ?? [], reflected: raw.flags & 1 == 1)
    case ChunkType.shutdown:
      var reader = ByteReader(raw.value)
      self = .shutdown(cumulativeTSN: try reader.readUInt32())
    case ChunkType.shutdownAck: self = .shutdownAck
    case ChunkType.error: self = .error(try ErrorCause.list(raw.value))
    case ChunkType.cookieEcho: self = .cookieEcho(raw.value)
    case ChunkType.cookieAck: self = .cookieAck
    case ChunkType.shutdownComplete: self = .shutdownComplete(reflected: raw.flags & 1 == 1)
    case ChunkType.reconfiguration: self = .reconfiguration(try ReconfigurationParameter.list(raw.value))
    case ChunkType.forwardTSN: self = .forwardTSN(try ForwardTSNChunk(raw.value))
    default: self = .unrecognized(raw)
    }
  }
}
