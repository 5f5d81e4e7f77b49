/// The defaults of an SCTP association below data channels, each with its reason.
public struct SCTPConfiguration: Hashable, Sendable {
  /// Our SCTP port, as `a=sctp-port` announces it. 5000 is what every WebRTC peer uses (RFC 8841 section 5).
  public var localPort: UInt16 = 5000
  /// The peer's SCTP port, from its `a=sctp-port`.
  public var remotePort: UInt16 = 5000
  /// The largest SCTP packet in bytes. With 37 bytes of DTLS 1.2 overhead it stays below the 1200 bytes that WebRTC
  /// assumes for an unprobed path (RFC 8831 section 5).
  public var maximumPacketSize = 1152
  /// The longest message that we accept, in bytes, announced as `a=max-message-size`. 64 KiB is the default without the
  /// attribute (RFC 8841 section 6.1). A longer message ends the association.
  public var maximumMessageSize = 65536
  /// The longest message that the peer accepts, in bytes; 0 if it sets no limit.
  public var remoteMaximumMessageSize = 65536
  /// The receive window: bytes held until messages are complete, in order and polled. 256 KiB sustains 10 Mbit/s at a
  /// 200 ms round trip and bounds what one parent costs a small board. Never below twice the longest message.
  public var receiveWindow = 256 * 1024
  /// Streams in each direction, which bounds the ids of data channels; Chromium uses ids up to 1023.
  public var maximumStreams: UInt16 = 1024
  /// Channels that the peer may have opened at a time; further ones are closed at once. An application has a handful.
  public var maximumRemoteChannels = 8
  /// The longest label of a channel opened by the peer, in bytes of UTF-8, and the same for its subprotocol. DCEP
  /// allows 65535 each, and they are kept for as long as the channel exists, outside `receiveWindow`.
  public var maximumChannelNameLength = 256
  /// The channels that the peer may open; others are closed at once. Nil allows any. Channels opened by this end and
  /// negotiated ones need not be listed.
  public var expectedChannels: Set<DataChannelName>?
  /// Bytes that `send` accepts before it refuses: unsent and unacknowledged together. A screenshot of several megabytes
  /// is sent piece by piece, as `bufferedAmount` falls.
  public var sendBufferSize = 2 * 1024 * 1024
  /// Max.Burst: RFC 9260 section 16. Data packets sent per event, so that a large message does not push a whole
  /// congestion window at once into the queue that media waits in.
  public var maximumBurst = 4
  /// Limit of chunks sent and not yet acknowledged, which bounds the work that one SACK can cause.
  public var maximumOutstandingChunks = 4096
  /// RTO.Initial: RFC 9260 section 16.
  public var initialRetransmissionTimeout: Duration = .seconds(1)
  /// RTO.Min: twice the 200 ms by which peers delay a SACK, instead of the 1 s of RFC 9260, because a one-second delay
  /// of a control message is noticeable. Chromium uses the same.
  public var minimumRetransmissionTimeout: Duration = .milliseconds(400)
  /// RTO.Max: 10 s instead of 60 s, so that an association recovers soon after the Wi-Fi does.
  public var maximumRetransmissionTimeout: Duration = .seconds(10)
  /// Association.Max.Retrans: RFC 9260 section 16. With the timeouts above a silent peer is given up after 70 to 80 s,
  /// long enough for an ICE restart to find another path.
  public var maximumRetransmissions = 10
  /// Max.Init.Retransmits: RFC 9260 section 16.
  public var maximumInitRetransmissions = 8
  /// HB.interval: RFC 9260 section 16. ICE consent watches the path; this watches the peer's SCTP.
  /// `.zero` turns heartbeats off.
  public var heartbeatInterval: Duration = .seconds(30)
  /// How long a SACK for a single packet may wait: RFC 9260 section 6.2 allows 500 ms; 200 ms is common.
  public var acknowledgementDelay: Duration = .milliseconds(200)
  /// Valid.Cookie.Life: RFC 9260 section 16.
  public var cookieLifetime: Duration = .seconds(60)

  public init() {}
}

extension SCTPConfiguration {
  /// The effective packet size: a multiple of 4 that holds our largest SACK and INIT ACK.
  var packetSize: Int { max(512, min(maximumPacketSize, 65532)) & ~3 }
  /// The effective window: the longest message that can be received has to fit, with the bookkeeping of its fragments.
  var window: Int { min(max(receiveWindow, 2 * max(1, maximumMessageSize), 4096), Int(Int32.max)) }
}
