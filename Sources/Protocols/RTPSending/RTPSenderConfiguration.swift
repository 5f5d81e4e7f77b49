/// Settings for sending to one peer. The defaults are meant for a home network.
public struct RTPSenderConfiguration: Hashable, Sendable {
  /// Payloads of this size fit 1200-byte datagrams with all header extensions, RTX and the SRTP tag, which pass any
  /// path, including TURN and VPN.
  public static let recommendedPayloadSize = 1100

  /// kbit/s. Initial estimate: 720p video that most Wi-Fi carries.
  public var startBitrateKbps = 1500
  /// kbit/s. Sound alone; less is useless.
  public var minimumBitrateKbps = 40
  /// kbit/s. Upper limit of the estimate; none of our cameras sends more.
  public var maximumBitrateKbps = 8000
  /// kbit/s. More than this is never sent, so nothing is probed for beyond it.
  public var usefulBitrateKbps = 8000

  /// Packets kept for retransmission per stream, rounded up to a power of two. 1024 are 2 s at 5 Mbit/s.
  public var retransmissionCachePackets = 1024
  /// Packets older than this are not retransmitted: no jitter buffer waits that long.
  public var retransmissionCacheAge = Duration.milliseconds(1500)
  /// A packet is retransmitted at most this often.
  public var maximumRetransmissionsPerPacket = 8

  /// At most this many packets leave per `burstInterval` (about 40 Mbit/s) while the path is healthy.
  public var burstPackets = 16
  public var burstInterval = Duration.milliseconds(4)
  /// On a congested path, packets are paced at this multiple of the estimate, so that a key frame does not take a
  /// second.
  public var congestedPacingFactor = 2.5
  /// kbit/s. Nil: while the path is healthy, packets leave as fast as `burstPackets` allows. Else they are paced at that multiple
  /// of the estimate then, too, and at no less than this.
  public var leastPacingKbps: Int?
  /// Video queued for longer is dropped in favor of a new key frame. Behind a key frame it may wait as much longer as that
  /// takes, up to 1.5 s.
  public var maximumQueueTime = Duration.milliseconds(400)
  /// Maximum bytes of queued video, regardless of age.
  public var maximumQueuedBytes = 2_000_000

  /// Mean interval of sender reports, randomized between 0.5 and 1.5 times (RFC 3550 section 6.2).
  public var reportInterval = Duration.seconds(1)
  /// Minimum interval of key-frame requests on behalf of one peer: each key frame burdens all viewers of the same
  /// encoder. An earlier request is deferred, and canceled if another key frame is sent meanwhile.
  public var keyFrameRequestInterval = Duration.seconds(1)

  public init() {}

  /// The same, bounded by what the peer wants to receive.
  ///
  /// - Parameter limitKbps: kbit/s, with the headers of IP, UDP and RTP. Less than `minimumBitrateKbps` does not count.
  public func limited(toKbps limitKbps: Int) -> RTPSenderConfiguration {
    let limit = max(limitKbps, minimumBitrateKbps)
    var limited = self
    limited.maximumBitrateKbps = min(maximumBitrateKbps, limit)
    limited.usefulBitrateKbps = min(usefulBitrateKbps, limit)
    return limited
  }
}

/// In bits per second.
extension RTPSenderConfiguration {
  var minimum: Double { Double(max(1, minimumBitrateKbps)) * 1000 }
  var maximum: Double { max(minimum, Double(maximumBitrateKbps) * 1000) }
  var useful: Double { min(maximum, Double(usefulBitrateKbps) * 1000) }
}
