/// Builds big-endian bytes from front to back.
public struct ByteWriter: Sendable {
  /// The bytes written so far.
  public private(set) var bytes: [UInt8] = []

  public init(reservingCapacity capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  public var count: Int { bytes.count }

  public mutating func write(_ value: UInt8) {
    bytes.append(value)
  }

  public mutating func write(_ value: UInt16) {
    bytes.append(UInt8(truncatingIfNeeded: value >> 8))
    bytes.append(UInt8(truncatingIfNeeded: value))
  }

  /// The low 24 bits of `value`.
  public mutating func write24(_ value: UInt32) {
    bytes.append(UInt8(truncatingIfNeeded: value >> 16))
    write(UInt16(truncatingIfNeeded: value))
  }

  public mutating func write(_ value: UInt32) {
    write(UInt16(truncatingIfNeeded: value >> 16))
    write(UInt16(truncatingIfNeeded: value))
  }

  public mutating func write(_ value: UInt64) {
    write(UInt32(truncatingIfNeeded: value >> 32))
    write(UInt32(truncatingIfNeeded: value))
  }

  public mutating func write(contentsOf other: some Sequence<UInt8>) {
    bytes.append(contentsOf: other)
  }

  public mutating func write(zeros count: Int) {
    bytes.append(contentsOf: repeatElement(0, count: count))
  }

  /// Pads with zeros to the next multiple of `alignment` bytes.
  public mutating func pad(to alignment: Int) {
    write(zeros: (alignment - bytes.count % alignment) % alignment)
  }

  /// Overwrites two bytes that were written earlier, for lengths known only at the end.
  public mutating func patch(_ value: UInt16, at offset: Int) {
    precondition(offset + 2 <= bytes.count, "a patch lies within what was written")
    bytes[offset] = UInt8(truncatingIfNeeded: value >> 8)
    bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
  }

  /// Overwrites four bytes that were written earlier.
  public mutating func patch(_ value: UInt32, at offset: Int) {
    patch(UInt16(truncatingIfNeeded: value >> 16), at: offset)
    patch(UInt16(truncatingIfNeeded: value), at: offset + 2)
  }
}
