public import ICE
public import RTPReceiving
public import RTPSending
public import Wire

/// Datagram counters below all protocols.
struct TransportTraffic {
  var packetsSent: UInt64 = 0
  var bytesSent: UInt64 = 0
  var packetsReceived: UInt64 = 0
  var bytesReceived: UInt64 = 0
  /// Of no protocol that RFC 7983 lists for WebRTC.
  var ignoredDatagrams: UInt64 = 0
  /// Failed authentication, or replayed.
  var refusedSecurePackets: UInt64 = 0
  var malformedRTCP: UInt64 = 0

  mutating func sent(_ count: Int) {
    packetsSent += 1
    bytesSent += UInt64(count)
  }

  mutating func received(_ count: Int) {
    packetsReceived += 1
    bytesReceived += UInt64(count)
  }
}

/// One peer's counters, named as in W3C webrtc-stats.
public struct PeerConnectionStatistics: Sendable {
  /// RTCTransportStats.
  public var packetsSent: UInt64
  public var bytesSent: UInt64
  public var packetsReceived: UInt64
  public var bytesReceived: UInt64
  public var dtlsState: DTLSTransportState
  public var iceState: ICEConnectionState
  public var selectedCandidatePair: ICECandidatePair?
  /// Not in webrtc-stats: datagrams of unknown protocols, malformed, or failing authentication.
  public var refusedPackets: UInt64
  /// RTCIceCandidatePairStats `currentRoundTripTime` of the selected pair, seconds.
  public var currentRoundTripTime: Double?
  /// RTCOutboundRtpStreamStats with RTCRemoteInboundRtpStreamStats.
  public var outboundRTP: [RTPStreamStatistics]
  /// RTCInboundRtpStreamStats.
  public var inboundRTP: [RTPInboundStatistics]
  /// The estimated bandwidth of the path, kbit/s (`availableOutgoingBitrate` / 1000).
  public var availableOutgoingKbps: Int
  /// Not in webrtc-stats: what we know of the path to the peer as the sender of media.
  public var path: RTPPathStatistics
}

extension PeerConnection {
  /// A snapshot; it costs a few copies, so call it once a second rather than once per packet.
  public func statistics(now: Instant) -> PeerConnectionStatistics {
    PeerConnectionStatistics(
      packetsSent: traffic.packetsSent, bytesSent: traffic.bytesSent, packetsReceived: traffic.packetsReceived,
      bytesReceived: traffic.bytesReceived, dtlsState: dtlsState, iceState: ice?.state ?? .closed,
      selectedCandidatePair: selectedPair,
      refusedPackets: traffic.ignoredDatagrams + traffic.refusedSecurePackets + traffic.malformedRTCP,
      currentRoundTripTime: roundTripTime?.inSeconds,
      outboundRTP: sender.statistics(),
      inboundRTP: state.isOver ? finalInboundStatistics : receiver.statistics(now: now),
      availableOutgoingKbps: sender.targetKbps, path: sender.pathStatistics(now: now))
  }
}
