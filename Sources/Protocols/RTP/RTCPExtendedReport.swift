import Wire

/// XR, as far as it lets a participant that sends no media know its round-trip time: it sends its time (RRTR), and the
/// sender reports how long ago it received that (DLRR). RFC 3611 sections 4.4 and 4.5.
///
/// Blocks of other kinds, or of a length that their kind does not have, are skipped when parsing.
public struct RTCPExtendedReport: Hashable, Sendable {
  /// One sub-block of a DLRR block.
  public struct Answer: Hashable, Sendable {
    /// The receiver that is answered.
    public var ssrc: UInt32
    /// The middle 32 bits of its last reference time; 0 for none.
    public var lastReceiverReport: UInt32
    /// Time since that arrived, in 65536ths of a second.
    public var delaySinceLastReceiverReport: UInt32

    public init(ssrc: UInt32, lastReceiverReport: UInt32, delaySinceLastReceiverReport: UInt32) {
      self.ssrc = ssrc
      self.lastReceiverReport = lastReceiverReport
      self.delaySinceLastReceiverReport = delaySinceLastReceiverReport
    }
  }

  /// The reporter.
  public var ssrc: UInt32
  /// NTP time (32.32) of this report on the reporter's clock, whatever that counts from; nil without an RRTR block.
  public var receiverReferenceTime: UInt64?
  /// At most 31 are written, and the first 31 of a packet read.
  public var answers: [Answer]

  public init(ssrc: UInt32, receiverReferenceTime: UInt64? = nil, answers: [Answer] = []) {
    self.ssrc = ssrc
    self.receiverReferenceTime = receiverReferenceTime
    self.answers = answers
  }

  /// The middle 32 bits of an NTP time, as it is echoed.
  public static func compact(ntpTime: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: ntpTime >> 16) }

  /// RFC 3611 sections 4.4 and 4.5.
  private enum BlockType {
    static let receiverReferenceTime: UInt8 = 4
    static let delaySinceLastReceiverReport: UInt8 = 5
  }

  /// No session has more receivers behind one SSRC.
  private static let maximumAnswers = 31

  /// Nil for a report that has neither block.
  init?(from reader: inout ByteReader) throws(WireError) {
    ssrc = try reader.readUInt32()
    answers = []
    while !reader.isAtEnd {
      let type = try reader.readUInt8()
      try reader.skip(1)
      // RFC 3611 section 3: in 32-bit words, without the head.
      let words = Int(try reader.readUInt16())
      var body = ByteReader(try reader.readBytes(words * 4))
      switch type {
      case BlockType.receiverReferenceTime where words == 2:
        receiverReferenceTime = try body.readUInt64()
      case BlockType.delaySinceLastReceiverReport where words % 3 == 0:
        while !body.isAtEnd, answers.count < Self.maximumAnswers {
          answers.append(
            Answer(
              ssrc: try body.readUInt32(), lastReceiverReport: try body.readUInt32(),
              delaySinceLastReceiverReport: try body.readUInt32()))
        }
      default:
        break
      }
    }
    guard receiverReferenceTime != nil || !answers.isEmpty else { return nil }
  }

  func write(to writer: inout ByteWriter) {
    RTCPPacket.writeFramed(to: &writer, payloadType: RTCPPacket.PayloadType.extendedReport, countOrFormat: 0) {
      writer in
      writer.write(ssrc)
      if let receiverReferenceTime {
        writer.write(BlockType.receiverReferenceTime)
        writer.write(UInt8(0))
        writer.write(UInt16(2))
        writer.write(receiverReferenceTime)
      }
      guard !answers.isEmpty else { return }
      let written = answers.prefix(Self.maximumAnswers)
      writer.write(BlockType.delaySinceLastReceiverReport)
      writer.write(UInt8(0))
      writer.write(UInt16(written.count * 3))
      for answer in written {
        writer.write(answer.ssrc)
        writer.write(answer.lastReceiverReport)
        writer.write(answer.delaySinceLastReceiverReport)
      }
    }
  }
}
