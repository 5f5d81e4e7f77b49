/// How one peer is sent to. The defaults are meant for a home network.
public struct RTPSenderConfiguration: Hashable, Sendable {
  /// Payloads of this size stay below 1200-byte datagrams with all header extensions, RTX and the SRTP tag: what passes
  /// every path, TURN and VPN included.
  public static let recommendedPayloadSize = 1100

  /// kbit/s. The estimate begins here: a 720p picture that most Wi-Fi carries.
  public var startBitrateKbps = 1500
  /// kbit/s. Sound and a slide show; less is no use.
  public var minimumBitrateKbps = 100
  /// kbit/s. The estimate stops here; no camera of ours sends more.
  public var maximumBitrateKbps = 8000

  /// Packets kept for retransmission, each stream; rounded up to a power of two. 1024 are 2 s of 5 Mbit/s.
  public var retransmissionCachePackets = 1024
  /// A packet older than this is not sent again: no jitter buffer waits as long.
  public var retransmissionCacheAge = Duration.milliseconds(1500)
  /// A packet that got lost this often is given up.
  public var maximumRetransmissionsPerPacket = 8

  /// So many packets leave at once, then as many each `burstInterval` (about 40 Mbit/s), while the path is healthy.
  public var burstPackets = 16
  public var burstInterval = Duration.milliseconds(4)
  /// On a congested path packets leave at this multiple of the estimate, so that a key frame does not take a second.
  public var congestedPacingFactor = 2.5
  /// Video that waited longer is given up for a new key frame.
  public var maximumQueueTime = Duration.milliseconds(400)
  /// Bytes of video that may wait, however young.
  public var maximumQueuedBytes = 2_000_000

  /// Mean interval of sender reports; each one is drawn from 0.5 to 1.5 times it (RFC 3550 section 6.2).
  public var reportInterval = Duration.seconds(1)
  /// One peer gets key frames this far apart, however often it asks: each one is for all viewers of the same encoder to
  /// carry. A request that comes sooner waits, unless another key frame leaves meanwhile.
  public var keyFrameRequestInterval = Duration.seconds(1)

  public init() {}
}
