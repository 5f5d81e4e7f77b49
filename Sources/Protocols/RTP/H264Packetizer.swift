internal import VideoFormats
import Wire

/// Splits encoded H.264 pictures into RTP payloads: once per picture, for all viewers. RFC 6184, packetization mode 1.
public struct H264Packetizer: Sendable {
  /// The latest of each, which stand before every picture with which decoding may begin: whoever joins there has no others.
  private var sequenceParameters: ArraySlice<UInt8>?
  private var pictureParameters: ArraySlice<UInt8>?
  /// Longer ones are not kept.
  private static let maximumParameters = H264SequenceParameters.maximumBytes

  public init() {}

  /// Splits one picture, in the format of ITU-T H.264 annex B, into payloads of at most `maximumPayloadSize` bytes (less than 16
  /// counts as 16). Small units share a packet (STAP-A). The parts of a large one (FU-A) have the same size, except that the last
  /// may be a little shorter, so that the kernel can segment them (UDP_SEGMENT, udp(7)). The last payload is sent with the marker
  /// bit. Empty for a picture without units.
  public mutating func packetize(_ picture: [UInt8], maximumPayloadSize: Int) -> [[UInt8]] {
    let size = min(max(maximumPayloadSize, 16), 65_535)
    var payloads: [[UInt8]] = []
    var small: [ArraySlice<UInt8>] = []
    for unit in units(of: picture) {
      if Self.aggregateSize(of: small + [unit]) > size {
        Self.append(small, to: &payloads)
        small = []
      }
      if unit.count > size { Self.split(unit, size, into: &payloads) } else { small.append(unit) }
    }
    Self.append(small, to: &payloads)
    return payloads
  }

  /// What is sent of a picture, with parameter sets before one that needs them.
  private mutating func units(of picture: [UInt8]) -> [ArraySlice<UInt8>] {
    var units: [ArraySlice<UInt8>] = []
    var hasParameters = false
    for unit in AnnexB.units(of: picture) {
      switch H264UnitType(of: unit) {
      // RTP has the marker bit instead, and no need of padding.
      case .accessUnitDelimiter, .filler: continue
      case .sequenceParameters:
        hasParameters = true
        if unit.count <= Self.maximumParameters { sequenceParameters = Self.copy(unit) }
      case .pictureParameters:
        if unit.count <= Self.maximumParameters { pictureParameters = Self.copy(unit) }
      case .instantRefresh where !hasParameters:
        hasParameters = true
        units += [sequenceParameters, pictureParameters].compactMap(\.self)
      case .instantRefresh, .slice, nil: break
      }
      units.append(unit)
    }
    return units
  }

  /// A slice would keep the whole picture.
  private static func copy(_ unit: ArraySlice<UInt8>) -> ArraySlice<UInt8> { Array(unit)[...] }

  /// Of the payload that several units share; of one alone, its own. Section 5.7.1.
  private static func aggregateSize(of units: [ArraySlice<UInt8>]) -> Int {
    units.count == 1 ? units[0].count : 1 + units.reduce(0) { $0 + 2 + $1.count }
  }

  private static func append(_ units: [ArraySlice<UInt8>], to payloads: inout [[UInt8]]) {
    guard units.count > 1 else { return payloads += units.map(Array.init) }
    var writer = ByteWriter(reservingCapacity: aggregateSize(of: units))
    // The most important unit's NRI.
    let importance = units.compactMap { $0.first.map { $0 & 0x60 } }.max() ?? 0
    writer.write(importance | H264Payload.aggregate)
    for unit in units {
      writer.write(UInt16(truncatingIfNeeded: unit.count))
      writer.write(contentsOf: unit)
    }
    payloads.append(writer.bytes)
  }

  /// Section 5.8.
  private static func split(_ unit: ArraySlice<UInt8>, _ size: Int, into payloads: inout [[UInt8]]) {
    guard let header = unit.first else { return }
    let body = unit.dropFirst()
    let room = size - 2
    let count = (body.count + room - 1) / room
    let part = (body.count + count - 1) / count
    var start = body.startIndex
    while start < body.endIndex {
      let end = min(start + part, body.endIndex)
      var writer = ByteWriter(reservingCapacity: 2 + end - start)
      writer.write(header & 0xe0 | H264Payload.fragment)
      writer.write(
        (start == body.startIndex ? H264Payload.isStart : 0) | (end == body.endIndex ? H264Payload.isEnd : 0)
          | header & 0x1f)
      writer.write(contentsOf: body[start..<end])
      payloads.append(writer.bytes)
      start = end
    }
  }
}

/// RFC 6184 sections 5.2 and 5.8.
enum H264Payload {
  /// STAP-A.
  static let aggregate: UInt8 = 24
  /// FU-A.
  static let fragment: UInt8 = 28
  static let isStart: UInt8 = 0x80
  static let isEnd: UInt8 = 0x40
}
