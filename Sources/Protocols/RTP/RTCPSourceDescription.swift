import Wire

/// SDES: the canonical names of sources. Other items are skipped. RFC 3550 section 6.5.
public struct RTCPSourceDescription: Hashable, Sendable {
  public struct Chunk: Hashable, Sendable {
    public var ssrc: UInt32
    /// At most 255 bytes of UTF-8; nil when the chunk has no CNAME.
    public var cname: String?

    public init(ssrc: UInt32, cname: String?) {
      self.ssrc = ssrc
      self.cname = cname
    }
  }

  /// At most 31 are written.
  public var chunks: [Chunk]

  public init(chunks: [Chunk]) {
    self.chunks = chunks
  }

  private static let cnameItem: UInt8 = 1

  init(from reader: inout ByteReader, count: Int) throws(WireError) {
    chunks = []
    for _ in 0..<count {
      let start = reader.offset
      var chunk = Chunk(ssrc: try reader.readUInt32(), cname: nil)
      while true {
        let item = try reader.readUInt8()
        guard item != 0 else { break }
        let text = try reader.readBytes(Int(try reader.readUInt8()))
        if item == Self.cnameItem, chunk.cname == nil { chunk.cname = String(decoding: text, as: UTF8.self) }
      }
      // The null item is followed by more nulls up to the next 32-bit boundary.
      try reader.skip((4 - (reader.offset - start) % 4) % 4)
      chunks.append(chunk)
    }
  }

  func write(to writer: inout ByteWriter) {
    let written = chunks.prefix(31)
    RTCPPacket.writeFramed(
      to: &writer, payloadType: RTCPPacket.PayloadType.sourceDescription, countOrFormat: written.count
    ) { writer in
      for chunk in written {
        let start = writer.count
        writer.write(chunk.ssrc)
        if let cname = chunk.cname {
          let text = cname.utf8.prefix(255)
          writer.write(Self.cnameItem)
          writer.write(UInt8(text.count))
          writer.write(contentsOf: text)
        }
        writer.write(zeros: 4 - (writer.count - start) % 4)
      }
    }
  }
}

/// BYE: sources that leave. RFC 3550 section 6.6.
public struct RTCPGoodbye: Hashable, Sendable {
  /// At most 31 are written.
  public var sources: [UInt32]
  /// At most 255 bytes of UTF-8; nil for none.
  public var reason: String?

  public init(sources: [UInt32], reason: String? = nil) {
    self.sources = sources
    self.reason = reason
  }

  init(from reader: inout ByteReader, count: Int) throws(WireError) {
    sources = []
    for _ in 0..<count { sources.append(try reader.readUInt32()) }
    guard !reader.isAtEnd else { return }
    reason = String(decoding: try reader.readBytes(Int(try reader.readUInt8())), as: UTF8.self)
  }

  func write(to writer: inout ByteWriter) {
    let written = sources.prefix(31)
    RTCPPacket.writeFramed(
      to: &writer, payloadType: RTCPPacket.PayloadType.goodbye, countOrFormat: written.count
    ) { writer in
      for source in written { writer.write(source) }
      guard let text = reason?.utf8.prefix(255) else { return }
      writer.write(UInt8(text.count))
      writer.write(contentsOf: text)
      writer.write(zeros: (4 - (text.count + 1) % 4) % 4)
    }
  }
}
