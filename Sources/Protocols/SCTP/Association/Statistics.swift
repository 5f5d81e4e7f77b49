/// The state of a channel. W3C webrtc `RTCDataChannelState`.
public enum DataChannelState: String, Hashable, Sendable {
  case connecting
  case open
  case closing
}

/// One channel. W3C webrtc-stats `RTCDataChannelStats`.
public struct DataChannelStatistics: Hashable, Sendable {
  public var label: String
  public var protocolName: String
  public var dataChannelIdentifier: UInt16
  public var state: DataChannelState
  public var messagesSent: UInt64
  /// Payload bytes, without any header.
  public var bytesSent: UInt64
  public var messagesReceived: UInt64
  public var bytesReceived: UInt64
}

/// The association. W3C webrtc-stats `RTCSctpTransportStats`, plus values that help to diagnose faults.
public struct SCTPTransportStatistics: Hashable, Sendable {
  /// Seconds; nil before the first measurement.
  public var smoothedRoundTripTime: Double?
  /// Bytes.
  public var congestionWindow: Int
  /// The window that the peer announced last, in bytes.
  public var receiverWindow: Int
  /// The largest SCTP packet in bytes.
  public var mtu: Int
  /// Chunks sent and not acknowledged.
  public var unackData: Int
  public var packetsSent: UInt64 = 0
  public var packetsReceived: UInt64 = 0
  /// Packets that were malformed, of another association, or with a wrong checksum.
  public var packetsDiscarded: UInt64 = 0
  public var chunksRetransmitted: UInt64
  /// Messages abandoned under partial reliability.
  public var messagesAbandoned: UInt64
}

/// A snapshot of all channels and the association.
public struct DataChannelTransportStatistics: Hashable, Sendable {
  public var channels: [DataChannelStatistics]
  public var transport: SCTPTransportStatistics
}
