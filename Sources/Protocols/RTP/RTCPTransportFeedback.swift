import Wire

/// Transport-wide feedback: the arrival time of each packet of the transport.
/// draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1.
public struct RTCPTransportFeedback: Hashable, Sendable {
  /// What happened to one packet.
  public enum PacketStatus: Hashable, Sendable {
    case notReceived
    /// `delta` is the time since the previous received packet (for the first: since `referenceTime`), in 250 µs units.
    case received(delta: Int16)
  }

  public var senderSSRC: UInt32
  public var mediaSSRC: UInt32
  /// The transport-wide sequence number of the first status; the others follow without gaps.
  public var baseSequenceNumber: UInt16
  /// 24 bits, units of 64 ms, on the receiver's clock.
  public var referenceTime: UInt32
  /// Counts feedback packets, to detect their loss.
  public var feedbackCount: UInt8
  /// 1...8192.
  public var statuses: [PacketStatus]

  /// 16 s at 500 packets a second; a feedback packet that claims more is rejected.
  public static let maximumStatuses = 8192
  /// Nanoseconds of one delta.
  public static let deltaNanoseconds: Int64 = 250_000
  /// Nanoseconds of one unit of the reference time.
  public static let referenceNanoseconds: Int64 = 64_000_000

  public init(
    senderSSRC: UInt32, mediaSSRC: UInt32, baseSequenceNumber: UInt16, referenceTime: UInt32, feedbackCount: UInt8,
    statuses: [PacketStatus]
  ) {
    self.senderSSRC = senderSSRC
    self.mediaSSRC = mediaSSRC
    self.baseSequenceNumber = baseSequenceNumber
    self.referenceTime = referenceTime
    self.feedbackCount = feedbackCount
    self.statuses = statuses
  }

  init(from reader: inout ByteReader) throws(WireError) {
    senderSSRC = try reader.readUInt32()
    mediaSSRC = try reader.readUInt32()
    baseSequenceNumber = try reader.readUInt16()
    let count = Int(try reader.readUInt16())
    guard (1...Self.maximumStatuses).contains(count) else {
      throw .malformed("transport feedback reports on 1 to 8192 packets")
    }
    referenceTime = try reader.readUInt24()
    feedbackCount = try reader.readUInt8()

    var symbols: [UInt8] = []
    symbols.reserveCapacity(count)
    while symbols.count < count {
      TransportFeedbackChunk.append(try reader.readUInt16(), to: &symbols, limit: count)
    }
    statuses = []
    statuses.reserveCapacity(count)
    for symbol in symbols {
      switch symbol {
      case TransportFeedbackChunk.notReceived:
        statuses.append(.notReceived)
      case TransportFeedbackChunk.smallDelta:
        statuses.append(.received(delta: Int16(try reader.readUInt8())))
      case TransportFeedbackChunk.largeDelta:
        statuses.append(.received(delta: Int16(bitPattern: try reader.readUInt16())))
      default:
        throw .malformed("packet status symbol 3 is reserved")
      }
    }
  }

  func write(to writer: inout ByteWriter) {
    let written = statuses.prefix(Self.maximumStatuses)
    let symbols = written.map(TransportFeedbackChunk.symbol)
    let chunks = TransportFeedbackChunk.pack(symbols)
    let deltaBytes = symbols.reduce(0) { $0 + Int($1) }
    let padding = (4 - (chunks.count * 2 + deltaBytes) % 4) % 4
    RTCPPacket.writeFramed(
      to: &writer, payloadType: RTCPPacket.PayloadType.transportFeedback,
      countOrFormat: Int(RTCPPacket.FeedbackFormat.transportWide), hasPadding: padding > 0
    ) { writer in
      writer.write(senderSSRC)
      writer.write(mediaSSRC)
      writer.write(baseSequenceNumber)
      writer.write(UInt16(written.count))
      writer.write24(referenceTime)
      writer.write(feedbackCount)
      for chunk in chunks { writer.write(chunk) }
      for status in written {
        guard case .received(let delta) = status else { continue }
        if let small = UInt8(exactly: delta) {
          writer.write(small)
        } else {
          writer.write(UInt16(bitPattern: delta))
        }
      }
      guard padding > 0 else { return }
      writer.write(zeros: padding - 1)
      writer.write(UInt8(padding))
    }
  }
}

/// Packet status chunks, draft-holmer-rmcat-transport-wide-cc-extensions-01 sections 3.1.1 to 3.1.4. A symbol's value
/// is also the number of bytes of its delta.
enum TransportFeedbackChunk {
  static let notReceived: UInt8 = 0
  static let smallDelta: UInt8 = 1
  static let largeDelta: UInt8 = 2

  private static let longestRun = 0x1fff
  private static let oneBitSymbols = 14
  private static let twoBitSymbols = 7

  static func symbol(_ status: RTCPTransportFeedback.PacketStatus) -> UInt8 {
    switch status {
    case .notReceived: notReceived
    case .received(let delta): (0...255).contains(delta) ? smallDelta : largeDelta
    }
  }

  /// Unpacks a chunk; symbols beyond `limit` are padding.
  static func append(_ chunk: UInt16, to symbols: inout [UInt8], limit: Int) {
    let room = limit - symbols.count
    if chunk & 0x8000 == 0 {
      let symbol = UInt8(truncatingIfNeeded: chunk >> 13 & 3)
      symbols.append(contentsOf: repeatElement(symbol, count: min(room, Int(chunk & 0x1fff))))
    } else if chunk & 0x4000 == 0 {
      for index in 0..<min(room, oneBitSymbols) {
        symbols.append(UInt8(truncatingIfNeeded: chunk >> UInt16(13 - index) & 1))
      }
    } else {
      for index in 0..<min(room, twoBitSymbols) {
        symbols.append(UInt8(truncatingIfNeeded: chunk >> UInt16(12 - 2 * index) & 3))
      }
    }
  }

  /// Packs symbols, choosing at each position the chunk that covers most of them.
  static func pack(_ symbols: [UInt8]) -> [UInt16] {
    var chunks: [UInt16] = []
    var position = 0
    while position < symbols.count {
      let run = runLength(symbols, from: position)
      let oneBit = oneBitCount(symbols, from: position)
      let rest = symbols.count - position
      if run >= min(rest, max(oneBit, twoBitSymbols)) {
        chunks.append(UInt16(symbols[position]) << 13 | UInt16(run))
        position += run
      } else if oneBit >= min(rest, twoBitSymbols + 1) {
        chunks.append(vector(symbols[position..<position + oneBit], bits: 1, head: 0x8000))
        position += oneBit
      } else {
        let count = min(rest, twoBitSymbols)
        chunks.append(vector(symbols[position..<position + count], bits: 2, head: 0xc000))
        position += count
      }
    }
    return chunks
  }

  private static func runLength(_ symbols: [UInt8], from start: Int) -> Int {
    let end = min(symbols.count, start + longestRun)
    var position = start + 1
    while position < end, symbols[position] == symbols[start] { position += 1 }
    return position - start
  }

  /// How many symbols from `start` a one-bit vector carries: the next 14, or what is left of them; none if there is a
  /// large delta among them, which it cannot encode.
  private static func oneBitCount(_ symbols: [UInt8], from start: Int) -> Int {
    let end = min(symbols.count, start + oneBitSymbols)
    for position in start..<end where symbols[position] > 1 { return 0 }
    return end - start
  }

  private static func vector(_ symbols: ArraySlice<UInt8>, bits: Int, head: UInt16) -> UInt16 {
    var chunk = head
    var shift = 14 - bits
    for symbol in symbols {
      chunk |= UInt16(symbol) << UInt16(shift)
      shift -= bits
    }
    return chunk
  }
}
