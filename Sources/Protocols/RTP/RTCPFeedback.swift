import Wire

/// Generic NACK: packets of one source that did not arrive. RFC 4585 section 6.2.1.
public struct RTCPNack: Hashable, Sendable {
  public struct Item: Hashable, Sendable {
    /// PID: a lost packet's sequence number.
    public var sequenceNumber: UInt16
    /// BLP: bit i (least significant is 0) says that `sequenceNumber + i + 1` is lost too.
    public var followingLost: UInt16

    public init(sequenceNumber: UInt16, followingLost: UInt16 = 0) {
      self.sequenceNumber = sequenceNumber
      self.followingLost = followingLost
    }
  }

  public var senderSSRC: UInt32
  public var mediaSSRC: UInt32
  public var items: [Item]

  public init(senderSSRC: UInt32, mediaSSRC: UInt32, items: [Item]) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.items = items
  }

  /// Packs sequence numbers, given in sending order, into as few items as possible.
  public init(senderSSRC: UInt32, mediaSSRC: UInt32, lost sequenceNumbers: [UInt16]) {
    self.init(senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, items: [])
    for number in sequenceNumbers {
      if let last = items.last {
        let distance = number &- last.sequenceNumber
        if distance == 0 { continue }
        if distance <= 16 {
          items[items.count - 1].followingLost |= 1 << (distance - 1)
          continue
        }
      }
      items.append(Item(sequenceNumber: number))
    }
  }

  /// All the lost sequence numbers; at most 17 per item.
  public var sequenceNumbers: [UInt16] {
    var numbers: [UInt16] = []
    for item in items {
      numbers.append(item.sequenceNumber)
      for bit: UInt16 in 0..<16 where item.followingLost >> bit & 1 == 1 {
        numbers.append(item.sequenceNumber &+ bit &+ 1)
      }
    }
    return numbers
  }

  init(from reader: inout ByteReader) throws(WireError) {
    senderSSRC = try reader.readUInt32()
    mediaSSRC = try reader.readUInt32()
    items = []
    while !reader.isAtEnd {
      items.append(Item(sequenceNumber: try reader.readUInt16(), followingLost: try reader.readUInt16()))
    }
    guard !items.isEmpty else { throw .malformed("a NACK names at least one packet") }
  }

  func write(to writer: inout ByteWriter) {
    RTCPPacket.writeFramed(
      to: &writer, payloadType: RTCPPacket.PayloadType.transportFeedback,
      countOrFormat: Int(RTCPPacket.FeedbackFormat.nack)
    ) { writer in
      writer.write(senderSSRC)
      writer.write(mediaSSRC)
      for item in items {
        writer.write(item.sequenceNumber)
        writer.write(item.followingLost)
      }
    }
  }
}

/// PLI: an undefined amount of coded video was lost. RFC 4585 section 6.3.1.
public struct RTCPPictureLossIndication: Hashable, Sendable {
  public var senderSSRC: UInt32
  public var mediaSSRC: UInt32

  public init(senderSSRC: UInt32, mediaSSRC: UInt32) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
  }

  init(from reader: inout ByteReader) throws(WireError) {
    senderSSRC = try reader.readUInt32()
    mediaSSRC = try reader.readUInt32()
  }

  func write(to writer: inout ByteWriter) {
    RTCPPacket.writeFramed(
      to: &writer, payloadType: RTCPPacket.PayloadType.payloadFeedback,
      countOrFormat: Int(RTCPPacket.FeedbackFormat.pictureLossIndication)
    ) { writer in
      writer.write(senderSSRC)
      writer.write(mediaSSRC)
    }
  }
}

/// FIR: requests a key frame; a repeated request keeps its sequence number. RFC 5104 section 4.3.1.
public struct RTCPFullIntraRequest: Hashable, Sendable {
  public struct Entry: Hashable, Sendable {
    /// The source that is to send a key frame.
    public var ssrc: UInt32
    public var sequenceNumber: UInt8

    public init(ssrc: UInt32, sequenceNumber: UInt8) {
      self.ssrc = ssrc
      self.sequenceNumber = sequenceNumber
    }
  }

  public var senderSSRC: UInt32
  /// "Not used": senders write 0 or the source.
  public var mediaSSRC: UInt32
  public var entries: [Entry]

  public init(senderSSRC: UInt32, mediaSSRC: UInt32 = 0, entries: [Entry]) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.entries = entries
  }

  init(from reader: inout ByteReader) throws(WireError) {
    senderSSRC = try reader.readUInt32()
    mediaSSRC = try reader.readUInt32()
    entries = []
    while !reader.isAtEnd {
      entries.append(Entry(ssrc: try reader.readUInt32(), sequenceNumber: try reader.readUInt8()))
      try reader.skip(3)
    }
    guard !entries.isEmpty else { throw .malformed("a FIR names at least one source") }
  }

  func write(to writer: inout ByteWriter) {
    RTCPPacket.writeFramed(
      to: &writer, payloadType: RTCPPacket.PayloadType.payloadFeedback,
      countOrFormat: Int(RTCPPacket.FeedbackFormat.fullIntraRequest)
    ) { writer in
      writer.write(senderSSRC)
      writer.write(mediaSSRC)
      for entry in entries {
        writer.write(entry.ssrc)
        writer.write(entry.sequenceNumber)
        writer.write(zeros: 3)
      }
    }
  }
}

/// REMB: the receiver's estimate of the path's bandwidth. draft-alvestrand-rmcat-remb-03 section 2.
public struct RTCPReceiverEstimatedMaximumBitrate: Hashable, Sendable {
  public var senderSSRC: UInt32
  /// Saturates if mantissa and exponent exceed 64 bits.
  public var bitsPerSecond: UInt64
  /// The sources that share the estimate; at most 255.
  public var sources: [UInt32]

  public init(senderSSRC: UInt32, bitsPerSecond: UInt64, sources: [UInt32]) {
    self.senderSSRC = senderSSRC
    self.bitsPerSecond = bitsPerSecond
    self.sources = sources
  }

  private static let identifier: UInt32 = 0x5245_4d42

  /// Nil for application-layer feedback that is not REMB.
  init?(from reader: inout ByteReader) throws(WireError) {
    senderSSRC = try reader.readUInt32()
    try reader.skip(4)
    guard let identifier = try? reader.readUInt32(), identifier == Self.identifier else { return nil }
    let count = try reader.readUInt8()
    let value = try reader.readUInt24()
    let exponent = value >> 18
    let mantissa = UInt64(value & 0x3_ffff)
    bitsPerSecond = mantissa.leadingZeroBitCount >= Int(exponent) ? mantissa << UInt64(exponent) : .max
    sources = []
    for _ in 0..<count { sources.append(try reader.readUInt32()) }
  }

  func write(to writer: inout ByteWriter) {
    let written = sources.prefix(255)
    RTCPPacket.writeFramed(
      to: &writer, payloadType: RTCPPacket.PayloadType.payloadFeedback,
      countOrFormat: Int(RTCPPacket.FeedbackFormat.applicationLayer)
    ) { writer in
      writer.write(senderSSRC)
      writer.write(UInt32(0))
      writer.write(Self.identifier)
      writer.write(UInt8(written.count))
      // The mantissa has 18 bits; lower bits are truncated, so that the estimate is never overstated.
      let exponent = max(0, 64 - bitsPerSecond.leadingZeroBitCount - 18)
      writer.write24(UInt32(exponent) << 18 | UInt32(bitsPerSecond >> UInt64(exponent)))
      for source in written { writer.write(source) }
    }
  }
}
