import Wire

/// A type, length and value inside a chunk. RFC 9260 section 3.2.1. Error causes have the same shape (3.3.10).
struct Parameter: Hashable, Sendable {
  var type: UInt16
  var value: ArraySlice<UInt8>

  /// Reads parameters until `body` returns false or the bytes end.
  static func forEach(
    in bytes: ArraySlice<UInt8>, _ body: (Parameter) throws(WireError) -> Bool
  ) throws(WireError) {
    var reader = ByteReader(bytes)
    while !reader.isAtEnd {
      let type = try reader.readUInt16()
      let length = Int(try reader.readUInt16())
      guard length >= 4 else { throw .malformed("SCTP parameter length") }
      let value = try reader.readBytes(length - 4)
      try reader.skip(min((4 - length % 4) % 4, reader.remaining))
      guard try body(Parameter(type: type, value: value)) else { return }
    }
  }
}

extension ByteWriter {
  /// A parameter with its padding.
  mutating func writeParameter(_ type: UInt16, _ value: some Collection<UInt8>) {
    write(type)
    write(UInt16(truncatingIfNeeded: 4 + value.count))
    write(contentsOf: value)
    pad(to: 4)
  }
}

/// How to handle an unknown chunk or parameter type, by its two highest bits. RFC 9260 sections 3.2 and 3.2.1.
enum UnrecognizedRule {
  case stop
  case stopAndReport
  case skip
  case skipAndReport

  init(chunkType: UInt8) {
    switch chunkType >> 6 {
    case 0: self = .stop
    case 1: self = .stopAndReport
    case 2: self = .skip
    default: self = .skipAndReport
    }
  }

  init(parameterType: UInt16) {
    self.init(chunkType: UInt8(truncatingIfNeeded: parameterType >> 8))
  }

  var reports: Bool { self == .stopAndReport || self == .skipAndReport }
  var stops: Bool { self == .stop || self == .stopAndReport }
}
