import Wire

/// INIT and INIT ACK, which differ in their parameters only. RFC 9260 sections 3.3.2 and 3.3.3.
struct InitiationChunk: Hashable, Sendable {
  var tag: UInt32
  var advertisedWindow: UInt32
  var outboundStreams: UInt16
  var inboundStreams: UInt16
  var initialTSN: UInt32
  /// INIT ACK only.
  var cookie: ArraySlice<UInt8>?
  var supportsForwardTSN = false
  var supportsReconfiguration = false
  /// Unknown parameters that the sender wants reported, each complete: type, length, value.
  var unrecognized: [[UInt8]] = []
  /// The chunk asks for host name resolution.
  var isRefused = false

  private static let maximumReports = 4
  private static let maximumReportSize = 64

  private enum ParameterType {
    static let ipv4Address: UInt16 = 5
    static let ipv6Address: UInt16 = 6
    static let stateCookie: UInt16 = 7
    static let unrecognized: UInt16 = 8
    static let cookiePreservative: UInt16 = 9
    static let hostName: UInt16 = 11
    static let supportedAddressTypes: UInt16 = 12
    static let supportedExtensions: UInt16 = 0x8008
    static let forwardTSNSupported: UInt16 = 0xc000
  }

  func write(to packet: inout PacketBuilder, type: UInt8) {
    packet.append(type: type) { writer in
      writer.write(tag)
      writer.write(advertisedWindow)
      writer.write(outboundStreams)
      writer.write(inboundStreams)
      writer.write(initialTSN)
      if supportsForwardTSN { writer.writeParameter(ParameterType.forwardTSNSupported, []) }
      let extensions =
        (supportsReconfiguration ? [ChunkType.reconfiguration] : [])
        + (supportsForwardTSN ? [ChunkType.forwardTSN] : [])
      if !extensions.isEmpty { writer.writeParameter(ParameterType.supportedExtensions, extensions) }
      if let cookie { writer.writeParameter(ParameterType.stateCookie, cookie) }
      for parameter in unrecognized { writer.writeParameter(ParameterType.unrecognized, parameter) }
    }
  }
}

extension InitiationChunk {
  init(_ value: ArraySlice<UInt8>) throws(WireError) {
    var reader = ByteReader(value)
    tag = try reader.readUInt32()
    advertisedWindow = try reader.readUInt32()
    outboundStreams = try reader.readUInt16()
    inboundStreams = try reader.readUInt16()
    initialTSN = try reader.readUInt32()
    // RFC 9260 section 3.3.2: none of these may be zero.
    guard tag != 0, outboundStreams != 0, inboundStreams != 0 else { throw .malformed("SCTP INIT with a zero") }
    var copy = self
    try Parameter.forEach(in: reader.readRest()) { (parameter) throws(WireError) in copy.take(parameter) }
    self = copy
  }

  /// Whether to continue with the next parameter.
  private mutating func take(_ parameter: Parameter) -> Bool {
    switch parameter.type {
    case ParameterType.stateCookie:
      cookie = parameter.value
    case ParameterType.supportedExtensions:
      if parameter.value.contains(ChunkType.reconfiguration) { supportsReconfiguration = true }
      if parameter.value.contains(ChunkType.forwardTSN) { supportsForwardTSN = true }
    case ParameterType.forwardTSNSupported:
      supportsForwardTSN = true
    case ParameterType.hostName:
      isRefused = true
      return false
    case ParameterType.ipv4Address, ParameterType.ipv6Address, ParameterType.unrecognized,
      ParameterType.cookiePreservative, ParameterType.supportedAddressTypes:
      // Addresses mean nothing inside DTLS: RFC 8261 section 5.
      break
    default:
      let rule = UnrecognizedRule(parameterType: parameter.type)
      if rule.reports, unrecognized.count < Self.maximumReports, parameter.value.count <= Self.maximumReportSize {
        var writer = ByteWriter()
        writer.write(parameter.type)
        writer.write(UInt16(truncatingIfNeeded: 4 + parameter.value.count))
        writer.write(contentsOf: parameter.value)
        unrecognized.append(writer.bytes)
      }
      return !rule.stops
    }
    return true
  }
}
