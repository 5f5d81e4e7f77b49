import RTP
import Wire

/// Repeats earlier audio packets in each new one. RFC 2198.
struct RedundantSending: Sendable {
  /// The last packets sent, oldest first.
  private var earlier: [(timestamp: UInt32, payload: [UInt8])] = []

  private static let mostCopies = 2

  /// What is sent for this packet, and its payload type.
  ///
  /// - Parameter copies: how many earlier packets to repeat.
  mutating func wrap(
    _ packet: QueuedPacket, as configuration: RTPStreamConfiguration, copies: Int
  ) -> (payload: [UInt8], payloadType: UInt8) {
    guard configuration.kind == .audio, let redPayloadType = configuration.redPayloadType else {
      return (packet.payload, configuration.payloadType)
    }
    defer {
      if earlier.count == Self.mostCopies { earlier.removeFirst() }
      earlier.append((packet.timestamp, packet.payload))
    }
    let blocks = earlier.suffix(max(0, copies)).compactMap { sent -> RedundantAudio.Block? in
      guard let offset = UInt16(exactly: packet.timestamp &- sent.timestamp), offset > 0 else { return nil }
      let block = RedundantAudio.Block(
        payloadType: configuration.payloadType, timestampOffset: offset, data: sent.payload[...])
      // What came before a pause is not in its place any more, and too long a packet has no place.
      return block.fits ? block : nil
    }
    guard !blocks.isEmpty else { return (packet.payload, configuration.payloadType) }
    let audio = RedundantAudio(
      redundant: blocks, primaryPayloadType: configuration.payloadType, primary: packet.payload[...])
    return (audio.write(), redPayloadType)
  }
}
