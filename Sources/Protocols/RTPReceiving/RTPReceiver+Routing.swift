import RTP

// Which stream a packet belongs to. RFC 9143 section 9.2.
extension RTPReceiver {
  struct Route {
    var stream: Int
    var role: ReceiveStream.Role
    var transportSequenceNumber: UInt16?
    var playoutDelay: PlayoutDelay?
  }

  /// Nil for a packet that belongs to no stream. The MID extension takes precedence, then a known SSRC, then the
  /// payload type if only one stream uses it.
  func route(_ packet: RTPPacket) -> Route? {
    let ssrc = packet.header.ssrc
    let known =
      streams.firstIndex { $0.has(source: ssrc) }
      ?? streams.firstIndex { $0.configuration.remoteSSRCs.contains(ssrc) }
    if let known {
      let extensions = packet.extensions(streams[known].configuration.extensionIDs)
      let named = extensions.mid.flatMap { mid in streams.firstIndex { $0.configuration.mid == mid } }
      return makeRoute(to: named ?? known, packet, extensions)
    }
    for index in streams.indices {
      let extensions = packet.extensions(streams[index].configuration.extensionIDs)
      guard let mid = extensions.mid else { continue }
      // An unknown MID belongs to a media section that we do not receive.
      guard let named = streams.firstIndex(where: { $0.configuration.mid == mid }) else { return nil }
      return makeRoute(to: named, packet, extensions)
    }
    let takers = streams.indices.filter { streams[$0].role(ofPayloadType: packet.header.payloadType) != nil }
    guard takers.count == 1, let only = takers.first else { return nil }
    return makeRoute(to: only, packet, packet.extensions(streams[only].configuration.extensionIDs))
  }

  private func makeRoute(to index: Int, _ packet: RTPPacket, _ extensions: RTPHeaderExtensions) -> Route? {
    guard let role = streams[index].role(ofPayloadType: packet.header.payloadType) else { return nil }
    return Route(
      stream: index, role: role, transportSequenceNumber: extensions.transportSequenceNumber,
      playoutDelay: extensions.playoutDelay)
  }
}
