/// Why bytes could not be parsed.
public enum WireError: Error, Hashable, Sendable {
  /// The input ends before the field does.
  case truncated
  /// The input is complete but breaks the format; the text names the rule.
  case malformed(String)
}

/// Reads big-endian fields from front to back. Never traps: reading past the end throws `WireError.truncated`.
public struct ByteReader: Sendable {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  public init(_ bytes: [UInt8]) {
    self.init(bytes[...])
  }

  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// How many bytes are left.
  public var remaining: Int { bytes.endIndex - position }
  public var isAtEnd: Bool { remaining == 0 }
  /// How many bytes have been read.
  public var offset: Int { position - bytes.startIndex }

  public mutating func readUInt8() throws(WireError) -> UInt8 {
    guard remaining >= 1 else { throw .truncated }
    defer { position += 1 }
    return bytes[position]
  }

  public mutating func readUInt16() throws(WireError) -> UInt16 {
    guard remaining >= 2 else { throw .truncated }
    defer { position += 2 }
    return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
  }

  public mutating func readUInt24() throws(WireError) -> UInt32 {
    guard remaining >= 3 else { throw .truncated }
    defer { position += 3 }
    return UInt32(bytes[position]) << 16 | UInt32(bytes[position + 1]) << 8 | UInt32(bytes[position + 2])
  }

  public mutating func readUInt32() throws(WireError) -> UInt32 {
    UInt32(try readUInt16()) << 16 | UInt32(try readUInt16())
  }

  public mutating func readUInt64() throws(WireError) -> UInt64 {
    UInt64(try readUInt32()) << 32 | UInt64(try readUInt32())
  }

  /// The next `count` bytes, sharing storage with the input.
  public mutating func readBytes(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
    guard count >= 0, remaining >= count else { throw .truncated }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// Everything that is left.
  public mutating func readRest() -> ArraySlice<UInt8> {
    defer { position = bytes.endIndex }
    return bytes[position...]
  }

  public mutating func skip(_ count: Int) throws(WireError) {
    _ = try readBytes(count)
  }
}
