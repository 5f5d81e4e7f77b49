import Wire

/// A reception report on one source. RFC 3550 section 6.4.1.
public struct RTCPReportBlock: Hashable, Sendable {
  /// The reported source.
  public var ssrc: UInt32
  /// Lost since the last report, in 256ths.
  public var fractionLost: UInt8
  /// Total lost; negative with duplicates. −8388608...8388607.
  public var cumulativeLost: Int32
  /// Wraps in the upper 16 bits, sequence number in the lower.
  public var extendedHighestSequenceNumber: UInt32
  /// Interarrival jitter in units of the media clock.
  public var jitter: UInt32
  /// The middle 32 bits of the last sender report's NTP time; 0 for none.
  public var lastSenderReport: UInt32
  /// Time since that report arrived, in 65536ths of a second.
  public var delaySinceLastSenderReport: UInt32

  public init(
    ssrc: UInt32, fractionLost: UInt8 = 0, cumulativeLost: Int32 = 0, extendedHighestSequenceNumber: UInt32 = 0,
    jitter: UInt32 = 0, lastSenderReport: UInt32 = 0, delaySinceLastSenderReport: UInt32 = 0
  ) {
    self.ssrc = ssrc
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.extendedHighestSequenceNumber = extendedHighestSequenceNumber
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }

  init(from reader: inout ByteReader) throws(WireError) {
    ssrc = try reader.readUInt32()
    fractionLost = try reader.readUInt8()
    // 24 bits, signed.
    cumulativeLost = Int32(bitPattern: try reader.readUInt24() << 8) >> 8
    extendedHighestSequenceNumber = try reader.readUInt32()
    jitter = try reader.readUInt32()
    lastSenderReport = try reader.readUInt32()
    delaySinceLastSenderReport = try reader.readUInt32()
  }

  func write(to writer: inout ByteWriter) {
    writer.write(ssrc)
    writer.write(fractionLost)
    writer.write24(UInt32(bitPattern: min(max(cumulativeLost, -0x80_0000), 0x7f_ffff)))
    writer.write(extendedHighestSequenceNumber)
    writer.write(jitter)
    writer.write(lastSenderReport)
    writer.write(delaySinceLastSenderReport)
  }

  /// RC is a 5-bit field.
  static let maximumInReport = 31
}

/// SR: what a source has sent, and its reception reports on others. RFC 3550 section 6.4.1.
public struct RTCPSenderReport: Hashable, Sendable {
  public var ssrc: UInt32
  /// NTP time (32.32) of this report.
  public var ntpTime: UInt64
  /// The same moment in units of the media clock, with the stream's random offset.
  public var rtpTimestamp: UInt32
  public var packetCount: UInt32
  /// Payload bytes, without headers and padding.
  public var octetCount: UInt32
  /// At most 31 are written.
  public var reportBlocks: [RTCPReportBlock]

  public init(
    ssrc: UInt32, ntpTime: UInt64, rtpTimestamp: UInt32, packetCount: UInt32, octetCount: UInt32,
    reportBlocks: [RTCPReportBlock] = []
  ) {
    self.ssrc = ssrc
    self.ntpTime = ntpTime
    self.rtpTimestamp = rtpTimestamp
    self.packetCount = packetCount
    self.octetCount = octetCount
    self.reportBlocks = reportBlocks
  }

  /// The middle 32 bits of `ntpTime`, as receivers echo them in `lastSenderReport`.
  public var compactNTPTime: UInt32 { UInt32(truncatingIfNeeded: ntpTime >> 16) }

  init(from reader: inout ByteReader, count: Int) throws(WireError) {
    ssrc = try reader.readUInt32()
    ntpTime = try reader.readUInt64()
    rtpTimestamp = try reader.readUInt32()
    packetCount = try reader.readUInt32()
    octetCount = try reader.readUInt32()
    reportBlocks = []
    // Profile-specific extensions after the blocks are ignored.
    for _ in 0..<count { reportBlocks.append(try RTCPReportBlock(from: &reader)) }
  }

  func write(to writer: inout ByteWriter) {
    let blocks = reportBlocks.prefix(RTCPReportBlock.maximumInReport)
    RTCPPacket.writeFramed(
      to: &writer, payloadType: RTCPPacket.PayloadType.senderReport, countOrFormat: blocks.count
    ) { writer in
      writer.write(ssrc)
      writer.write(ntpTime)
      writer.write(rtpTimestamp)
      writer.write(packetCount)
      writer.write(octetCount)
      for block in blocks { block.write(to: &writer) }
    }
  }
}

/// RR: reception reports of a participant that does not send. RFC 3550 section 6.4.2.
public struct RTCPReceiverReport: Hashable, Sendable {
  /// The reporter.
  public var ssrc: UInt32
  /// At most 31 are written.
  public var reportBlocks: [RTCPReportBlock]

  public init(ssrc: UInt32, reportBlocks: [RTCPReportBlock] = []) {
    self.ssrc = ssrc
    self.reportBlocks = reportBlocks
  }

  init(from reader: inout ByteReader, count: Int) throws(WireError) {
    ssrc = try reader.readUInt32()
    reportBlocks = []
    for _ in 0..<count { reportBlocks.append(try RTCPReportBlock(from: &reader)) }
  }

  func write(to writer: inout ByteWriter) {
    let blocks = reportBlocks.prefix(RTCPReportBlock.maximumInReport)
    RTCPPacket.writeFramed(
      to: &writer, payloadType: RTCPPacket.PayloadType.receiverReport, countOrFormat: blocks.count
    ) { writer in
      writer.write(ssrc)
      for block in blocks { block.write(to: &writer) }
    }
  }
}
