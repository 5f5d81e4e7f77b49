public import Wire

/// Joins RTP payloads to NAL units. RFC 6184, packetization modes 0 and 1.
public struct H264Depacketizer: Sendable {
  /// The unit of which the first parts are here.
  private var begun: [UInt8]?
  private let maximumUnitSize: Int

  /// `maximumUnitSize` limits the memory that a peer can make this take, in bytes.
  public init(maximumUnitSize: Int = 4 << 20) {
    self.maximumUnitSize = maximumUnitSize
  }

  /// Takes the next payload in sending order. Returns the units that it completes, without start codes.
  ///
  /// Throws `truncated` or `malformed` for what is not H.264, is of the interleaved mode or is too large; a unit that had begun is
  /// dropped with it.
  public mutating func add(_ payload: ArraySlice<UInt8>) throws(WireError) -> [[UInt8]] {
    guard let first = payload.first else { return [] }
    guard first & 0x80 == 0 else {
      reset()
      throw .malformed("the forbidden bit is set")
    }
    switch first & 0x1f {
    case 1...23:
      reset()
      return [Array(payload)]
    case H264Payload.aggregate:
      reset()
      return try separate(payload.dropFirst())
    case H264Payload.fragment: return try join(payload)
    case let type:
      reset()
      throw .malformed("payload type \(type) of RFC 6184 is of another mode")
    }
  }

  /// A packet was lost: the unit that has begun will not be whole.
  public mutating func reset() { begun = nil }

  private func separate(_ rest: ArraySlice<UInt8>) throws(WireError) -> [[UInt8]] {
    var reader = ByteReader(rest)
    var units: [[UInt8]] = []
    while !reader.isAtEnd {
      let unit = try reader.readBytes(Int(try reader.readUInt16()))
      guard let header = unit.first, (1...23).contains(header & 0x1f) else { throw .malformed("not a NAL unit") }
      units.append(Array(unit))
    }
    return units
  }

  private mutating func join(_ payload: ArraySlice<UInt8>) throws(WireError) -> [[UInt8]] {
    var unit = begun ?? []
    begun = nil
    guard payload.count > 2 else { throw .truncated }
    let flags = payload[payload.startIndex + 1]
    let header = payload[payload.startIndex] & 0xe0 | flags & 0x1f
    let (isStart, isEnd) = (flags & H264Payload.isStart != 0, flags & H264Payload.isEnd != 0)
    guard !(isStart && isEnd), (1...23).contains(flags & 0x1f) else { throw .malformed("not a part of a NAL unit") }
    if isStart { unit = [header] }
    guard unit.first == header else { throw .malformed("the unit's first part is missing") }
    guard unit.count + payload.count - 2 <= maximumUnitSize else { throw .malformed("the unit is too large") }
    unit += payload.dropFirst(2)
    guard !isEnd else { return [unit] }
    begun = unit
    return []
  }
}
