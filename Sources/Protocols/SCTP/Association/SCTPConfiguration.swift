/// The defaults of an SCTP association below data channels, each with its reason.
public struct SCTPConfiguration: Hashable, Sendable {
  /// Our SCTP port, as `a=sctp-port` announces it. 5000 is what every WebRTC peer uses (RFC 8841 section 5).
  public var localPort: UInt16 = 5000
  /// The peer's SCTP port, from its `a=sctp-port`.
  public var remotePort: UInt16 = 5000
  /// Bytes of one SCTP packet. With 37 bytes of DTLS 1.2 around it, it stays below the 1200 bytes that WebRTC takes
  /// for a path that nobody has probed (RFC 8831 section 5).
  public var maximumPacketSize = 1152
  /// Bytes of the longest message that we accept, announced as `a=max-message-size`. 64 KiB is what a peer without the
  /// attribute assumes (RFC 8841 section 6.1), so nobody is surprised. A longer message ends the association.
  public var maximumMessageSize = 65536
  /// Bytes of the longest message that the peer accepts; 0 where it sets no limit.
  public var remoteMaximumMessageSize = 65536
  /// Bytes that we hold for the peer until messages are whole, in order and polled. 256 KiB keeps 10 Mbit/s busy at
  /// 200 ms round trip and lets a parent cost a small board a bounded share. Never below two longest messages.
  public var receiveWindow = 256 * 1024
  /// Streams each way, which bounds the ids of data channels; Chromium uses ids up to 1023.
  public var maximumStreams: UInt16 = 1024
  /// Channels of the peer's making at a time; it sees further ones close at once. An application has a handful.
  public var maximumRemoteChannels = 8
  /// Bytes of UTF-8 that a channel of the peer's making may have as its label, and the same for its subprotocol. DCEP
  /// allows 65535 each, and they are kept for as long as the channel is there, outside of `receiveWindow`.
  public var maximumChannelNameLength = 256
  /// The channels that the peer may open; it sees others close at once. Nil: any. Those that this end opens, and
  /// negotiated ones, need not be listed.
  public var expectedChannels: Set<DataChannelName>?
  /// Bytes that `send` takes before it refuses: unsent and unacknowledged together. A screenshot of several megabytes
  /// goes out piece by piece, led by `bufferedAmountLow`.
  public var sendBufferSize = 2 * 1024 * 1024
  /// Max.Burst: RFC 9260 section 16. Packets of data that one event lets out, so that a large message does not push a
  /// whole congestion window at once into a queue that picture and sound wait in.
  public var maximumBurst = 4
  /// Chunks sent and not yet acknowledged at most, which bounds the work that one SACK can cause.
  public var maximumOutstandingChunks = 4096
  /// RTO.Initial: RFC 9260 section 16.
  public var initialRetransmissionTimeout: Duration = .seconds(1)
  /// RTO.Min: twice the 200 ms by which peers delay a SACK, instead of the 1 s of RFC 9260, because a control message
  /// that waits a second is felt. Chromium has the same.
  public var minimumRetransmissionTimeout: Duration = .milliseconds(400)
  /// RTO.Max: 10 s instead of 60 s, so that an association comes back soon after the Wi-Fi does.
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
  /// The packet size as it is used: a multiple of 4 that holds the largest SACK and INIT ACK of ours.
  var packetSize: Int { max(512, min(maximumPacketSize, 65532)) & ~3 }
  /// The longest message that can be received at all has to fit the window, with the bookkeeping of its fragments.
  var window: Int { min(max(receiveWindow, 2 * max(1, maximumMessageSize), 4096), Int(Int32.max)) }
}
