import Wire

/// A parameter of RE-CONFIG. RFC 6525 section 4.
enum ReconfigurationParameter: Hashable, Sendable {
  /// The sender resets its outgoing streams once everything up to `lastTSN` has arrived. An empty list means all.
  case outgoingReset(OutgoingReset)
  /// The sender asks the receiver to reset its outgoing streams.
  case incomingReset(sequence: UInt32)
  case ssnTSNReset(sequence: UInt32)
  case response(sequence: UInt32, result: Result)
  case addOutgoingStreams(sequence: UInt32, count: UInt16)
  case addIncomingStreams(sequence: UInt32)
  case unrecognized

  struct OutgoingReset: Hashable, Sendable {
    var sequence: UInt32
    var responseSequence: UInt32
    var lastTSN: UInt32
    var streamIDs: [UInt16]
  }

  /// RFC 6525 section 4.4.
  enum Result: UInt32, Sendable {
    case nothingToDo = 0
    case performed = 1
    case denied = 2
    case wrongSSN = 3
    case anotherRequestInProgress = 4
    case badSequenceNumber = 5
    case inProgress = 6
  }

  static func list(_ value: ArraySlice<UInt8>) throws(WireError) -> [ReconfigurationParameter] {
    var result: [ReconfigurationParameter] = []
    try Parameter.forEach(in: value) { (parameter) throws(WireError) in
      result.append(try ReconfigurationParameter(parameter))
      // RFC 6525 section 3.1 allows two in a chunk.
      return result.count < 2
    }
    return result
  }

  private init(_ parameter: Parameter) throws(WireError) {
    var reader = ByteReader(parameter.value)
    switch parameter.type {
    case 13:
      let sequence = try reader.readUInt32()
      let responseSequence = try reader.readUInt32()
      let lastTSN = try reader.readUInt32()
      var streamIDs: [UInt16] = []
      while !reader.isAtEnd { streamIDs.append(try reader.readUInt16()) }
      self = .outgoingReset(
        OutgoingReset(
          sequence: sequence, responseSequence: responseSequence, lastTSN: lastTSN, streamIDs: streamIDs))
    case 14: self = .incomingReset(sequence: try reader.readUInt32())
    case 15: self = .ssnTSNReset(sequence: try reader.readUInt32())
    case 16:
      let sequence = try reader.readUInt32()
      // An unknown result counts as a denial.
      self = .response(sequence: sequence, result: Result(rawValue: try reader.readUInt32()) ?? .denied)
    case 17:
      self = .addOutgoingStreams(sequence: try reader.readUInt32(), count: try reader.readUInt16())
    case 18: self = .addIncomingStreams(sequence: try reader.readUInt32())
    default: self = .unrecognized
    }
  }
}

extension ByteWriter {
  mutating func writeReset(_ request: ReconfigurationParameter.OutgoingReset) {
    var value = ByteWriter()
    value.write(request.sequence)
    value.write(request.responseSequence)
    value.write(request.lastTSN)
    for id in request.streamIDs { value.write(id) }
    writeParameter(13, value.bytes)
  }

  mutating func writeResponse(sequence: UInt32, result: ReconfigurationParameter.Result) {
    var value = ByteWriter()
    value.write(sequence)
    value.write(result.rawValue)
    writeParameter(16, value.bytes)
  }
}
