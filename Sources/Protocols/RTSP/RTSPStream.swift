/// A track that a player has set up, and the way that its packets take.
public struct RTSPStream: Hashable, Sendable {
  public enum Transport: Hashable, Sendable {
    /// In the connection itself: RTP on this channel, RTCP on the next one. RFC 2326 section 10.12.
    case interleaved(channel: UInt8)
    /// To these ports of the address that the player has its connection from.
    case datagrams(rtp: UInt16, rtcp: UInt16)
  }

  public var track: RTSPTrack
  public var transport: Transport

  public init(track: RTSPTrack, transport: Transport) {
    self.track = track
    self.transport = transport
  }
}
