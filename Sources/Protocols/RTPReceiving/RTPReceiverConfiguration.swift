/// Settings for receiving from one peer. The defaults are meant for a home network, where delay matters more than
/// smoothness.
public struct RTPReceiverConfiguration: Hashable, Sendable {
  /// Our own SSRC, the sender of reports and feedback.
  public var senderSSRC: UInt32
  /// Our CNAME in the reports, RFC 7022.
  public var cname: String

  /// Mean interval of receiver reports, randomized between 0.5 and 1.5 times (RFC 3550 section 6.2). The sender
  /// measures its round-trip time with them.
  public var reportInterval = Duration.seconds(1)
  /// Time from the first unreported packet to the feedback that reports it; half of it where few packets come. A shorter
  /// one detects a queue sooner, and costs a few kbit/s.
  public var transportFeedbackInterval = Duration.milliseconds(100)

  /// Maximum missing packets per stream. A larger gap is an outage, which a key frame ends sooner.
  public var maximumMissingPackets = 1000
  /// Maximum requests for one packet.
  public var maximumRequestsPerPacket = 10
  /// Minimum interval between requests for the same packet; they are also at least 1.25 round trips apart.
  public var minimumRequestInterval = Duration.milliseconds(15)
  /// A missing video packet is given up after this time, about as long as senders keep packets.
  public var videoRecoveryTime = Duration.seconds(1)
  /// The same for audio: no jitter buffer waits longer.
  public var audioRecoveryTime = Duration.milliseconds(500)
  /// Maximum wait for reordered packets before requesting them, on paths that reorder.
  public var maximumReorderingAllowance = Duration.milliseconds(20)

  /// A frame waits at most this long for one of an upper layer before it. W3C webrtc-stats calls it a freeze when a picture
  /// comes 150 ms later than usual, and the one shown last is up to two pictures older.
  public var longestUpperLayerWait = Duration.milliseconds(100)

  /// Initial interval between key-frame requests; it doubles with each unanswered one.
  public var keyFrameRequestInterval = Duration.milliseconds(200)
  public var maximumKeyFrameRequestInterval = Duration.seconds(2)

  /// Maximum video packets buffered for frames that are incomplete or not decodable yet, rounded up to a power of two.
  /// 2048 are 4 s at 5 Mbit/s.
  public var maximumBufferedPackets = 2048
  /// Maximum bytes of them: a datagram may have 64 KiB.
  public var maximumBufferedBytes = 4 << 20
  /// Maximum complete frames waiting for an earlier one. 4 s at 30 fps; by then a key frame has been requested several
  /// times.
  public var maximumWaitingFrames = 120

  /// The delay that sound has at least from the start; see `RTPReceiver.setSteadyDelay`.
  public var steadyDelay = Duration.zero

  /// Settings of the audio jitter buffer.
  public var audio = AudioJitterBufferConfiguration()

  public init(senderSSRC: UInt32, cname: String) {
    self.senderSSRC = senderSSRC
    self.cname = cname
  }
}
