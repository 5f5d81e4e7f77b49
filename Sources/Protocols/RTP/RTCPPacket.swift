public import Wire

/// One packet of a compound RTCP datagram. RFC 3550 section 6, RFC 4585 section 6.
///
/// Unused kinds (APP, other feedback formats) are skipped when parsing.
public enum RTCPPacket: Hashable, Sendable {
  case senderReport(RTCPSenderReport)
  case receiverReport(RTCPReceiverReport)
  case sourceDescription(RTCPSourceDescription)
  case goodbye(RTCPGoodbye)
  case nack(RTCPNack)
  case transportFeedback(RTCPTransportFeedback)
  case pictureLossIndication(RTCPPictureLossIndication)
  case fullIntraRequest(RTCPFullIntraRequest)
  case receiverEstimatedMaximumBitrate(RTCPReceiverEstimatedMaximumBitrate)
  case extendedReport(RTCPExtendedReport)

  /// A datagram with more packets than this is not a report but a denial-of-service attempt.
  static let maximumPacketsInCompound = 64

  /// Payload types. RFC 3550 section 12.1, RFC 4585 section 6.1, RFC 3611 section 2.
  enum PayloadType {
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    static let transportFeedback: UInt8 = 205
    static let payloadFeedback: UInt8 = 206
    static let extendedReport: UInt8 = 207
  }

  /// Formats of the feedback messages. RFC 4585 section 6.2 and 6.3, RFC 5104 section 4.3.1.
  enum FeedbackFormat {
    static let nack: UInt8 = 1
    static let transportWide: UInt8 = 15
    static let pictureLossIndication: UInt8 = 1
    static let fullIntraRequest: UInt8 = 4
    static let applicationLayer: UInt8 = 15
  }

  /// Parses a decrypted datagram: a compound one or one of reduced size (RFC 5506).
  ///
  /// A packet that cannot be read is skipped. Throws its error where no other can be read either.
  public static func parse(compound bytes: [UInt8]) throws(WireError) -> [RTCPPacket] {
    var reader = ByteReader(bytes)
    guard !reader.isAtEnd else { throw .truncated }
    var packets: [RTCPPacket] = []
    var firstError: WireError?
    var count = 0
    while !reader.isAtEnd {
      count += 1
      guard count <= maximumPacketsInCompound else { throw .malformed("at most 64 RTCP packets come together") }
      let framed: (first: UInt8, payloadType: UInt8, body: ArraySlice<UInt8>)
      do { framed = try readFrame(from: &reader) } catch {
        // Where the next one begins is not known.
        firstError = firstError ?? error
        break
      }
      do {
        if let packet = try parse(framed) { packets.append(packet) }
      } catch { firstError = firstError ?? error }
    }
    if packets.isEmpty, let firstError { throw firstError }
    return packets
  }

  private static func readFrame(
    from reader: inout ByteReader
  ) throws(WireError) -> (first: UInt8, payloadType: UInt8, body: ArraySlice<UInt8>) {
    let first = try reader.readUInt8()
    guard first >> 6 == 2 else { throw .malformed("RTCP version is 2") }
    let payloadType = try reader.readUInt8()
    return (first, payloadType, try reader.readBytes(Int(try reader.readUInt16()) * 4))
  }

  private static func parse(
    _ framed: (first: UInt8, payloadType: UInt8, body: ArraySlice<UInt8>)
  ) throws(WireError) -> RTCPPacket? {
    var (first, payloadType, body) = framed
    if first & 0x20 != 0 {
      // RFC 3550 section 6.4.1: the last byte counts the padding, itself included.
      guard let padding = body.last, padding > 0, Int(padding) <= body.count else {
        throw .malformed("RTCP padding fits the packet and is not empty")
      }
      body = body.dropLast(Int(padding))
    }
    return try parse(body: ByteReader(body), payloadType: payloadType, countOrFormat: first & 0x1f)
  }

  private static func parse(body: ByteReader, payloadType: UInt8, countOrFormat: UInt8) throws(WireError) -> RTCPPacket?
  {
    var body = body
    switch (payloadType, countOrFormat) {
    case (PayloadType.senderReport, let count):
      return .senderReport(try RTCPSenderReport(from: &body, count: Int(count)))
    case (PayloadType.receiverReport, let count):
      return .receiverReport(try RTCPReceiverReport(from: &body, count: Int(count)))
    case (PayloadType.sourceDescription, let count):
      return .sourceDescription(try RTCPSourceDescription(from: &body, count: Int(count)))
    case (PayloadType.goodbye, let count):
      return .goodbye(try RTCPGoodbye(from: &body, count: Int(count)))
    case (PayloadType.transportFeedback, FeedbackFormat.nack):
      return .nack(try RTCPNack(from: &body))
    case (PayloadType.transportFeedback, FeedbackFormat.transportWide):
      return .transportFeedback(try RTCPTransportFeedback(from: &body))
    case (PayloadType.payloadFeedback, FeedbackFormat.pictureLossIndication):
      return .pictureLossIndication(try RTCPPictureLossIndication(from: &body))
    case (PayloadType.payloadFeedback, FeedbackFormat.fullIntraRequest):
      return .fullIntraRequest(try RTCPFullIntraRequest(from: &body))
    case (PayloadType.payloadFeedback, FeedbackFormat.applicationLayer):
      return try RTCPReceiverEstimatedMaximumBitrate(from: &body).map { .receiverEstimatedMaximumBitrate($0) }
    case (PayloadType.extendedReport, _):
      return try RTCPExtendedReport(from: &body).map { .extendedReport($0) }
    default:
      return nil
    }
  }

  /// One datagram of these packets in this order. The first should be a report unless reduced size was negotiated.
  public static func write(compound packets: [RTCPPacket]) -> [UInt8] {
    // A report with its CNAME fits without growing, before and after it is protected.
    var writer = ByteWriter(reservingCapacity: 160 + RTPPacket.protectionRoom)
    for packet in packets { packet.write(to: &writer) }
    return writer.bytes
  }

  func write(to writer: inout ByteWriter) {
    switch self {
    case .senderReport(let report): report.write(to: &writer)
    case .receiverReport(let report): report.write(to: &writer)
    case .sourceDescription(let description): description.write(to: &writer)
    case .goodbye(let goodbye): goodbye.write(to: &writer)
    case .nack(let nack): nack.write(to: &writer)
    case .transportFeedback(let feedback): feedback.write(to: &writer)
    case .pictureLossIndication(let indication): indication.write(to: &writer)
    case .fullIntraRequest(let request): request.write(to: &writer)
    case .receiverEstimatedMaximumBitrate(let estimate): estimate.write(to: &writer)
    case .extendedReport(let report): report.write(to: &writer)
    }
  }

  /// Writes the common header, then what `body` writes, and fills the length in. `body` ends on a 32-bit boundary.
  static func writeFramed(
    to writer: inout ByteWriter, payloadType: UInt8, countOrFormat: Int, hasPadding: Bool = false,
    body: (inout ByteWriter) -> Void
  ) {
    let start = writer.count
    writer.write(0x80 | (hasPadding ? 0x20 : 0) | UInt8(truncatingIfNeeded: countOrFormat & 0x1f))
    writer.write(payloadType)
    writer.write(UInt16(0))
    body(&writer)
    // RFC 3550 section 6.4.1: the length in 32-bit words, minus one.
    writer.patch(UInt16(truncatingIfNeeded: (writer.count - start) / 4 - 1), at: start + 2)
  }
}
