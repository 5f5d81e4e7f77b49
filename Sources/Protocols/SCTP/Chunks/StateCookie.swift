import Wire

/// The peer's parameters from its INIT or INIT ACK.
struct Peer: Hashable, Sendable {
  var tag: UInt32
  var initialTSN: UInt32
  var advertisedWindow: UInt32
  /// Streams that we may send on.
  var outgoingStreams: UInt16
  var supportsForwardTSN: Bool
  var supportsReconfiguration: Bool

  init(_ chunk: InitiationChunk, configuration: SCTPConfiguration) {
    tag = chunk.tag
    initialTSN = chunk.initialTSN
    advertisedWindow = chunk.advertisedWindow
    outgoingStreams = min(chunk.inboundStreams, configuration.maximumStreams)
    supportsForwardTSN = chunk.supportsForwardTSN
    supportsReconfiguration = chunk.supportsReconfiguration
  }

  init(_ reader: inout ByteReader) throws(WireError) {
    tag = try reader.readUInt32()
    initialTSN = try reader.readUInt32()
    advertisedWindow = try reader.readUInt32()
    outgoingStreams = try reader.readUInt16()
    let flags = try reader.readUInt16()
    supportsForwardTSN = flags & 1 != 0
    supportsReconfiguration = flags & 2 != 0
  }

  func write(to writer: inout ByteWriter) {
    writer.write(tag)
    writer.write(initialTSN)
    writer.write(advertisedWindow)
    writer.write(outgoingStreams)
    writer.write((supportsForwardTSN ? 1 : 0) | (supportsReconfiguration ? 2 : 0) as UInt16)
  }
}

/// The state cookie: everything learned from an INIT, kept by the peer instead of by us. RFC 9260 section 5.1.3.
///
/// Tie-tags are left out: a DTLS association carries exactly one SCTP association of ours, with one tag.
struct StateCookie: Hashable, Sendable {
  var createdAt: Instant
  var localTag: UInt32
  var peer: Peer

  private static let authenticatorSize = 32

  func sealed(key: [UInt8], hashes: any Hashes) -> [UInt8] {
    var writer = ByteWriter(reservingCapacity: 64)
    writer.write(UInt64(bitPattern: createdAt.nanoseconds))
    writer.write(localTag)
    peer.write(to: &writer)
    return writer.bytes + hashes.hmacSHA256(key: key, message: writer.bytes)
  }
}

extension StateCookie {
  /// Nil for anything that we did not seal.
  init?(sealed bytes: ArraySlice<UInt8>, key: [UInt8], hashes: any Hashes) {
    guard bytes.count > Self.authenticatorSize, bytes.count <= 128 else { return nil }
    let body = Array(bytes.dropLast(Self.authenticatorSize))
    guard constantTimeEqual(hashes.hmacSHA256(key: key, message: body), bytes.suffix(Self.authenticatorSize)) else {
      return nil
    }
    do throws(WireError) {
      var reader = ByteReader(body)
      createdAt = Instant(nanoseconds: Int64(bitPattern: try reader.readUInt64()))
      localTag = try reader.readUInt32()
      peer = try Peer(&reader)
    } catch {
      return nil
    }
  }
}
