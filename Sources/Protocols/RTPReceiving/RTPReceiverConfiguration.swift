/// How one peer is listened to. The defaults are meant for a home network, where delay matters more than smoothness.
public struct RTPReceiverConfiguration: Hashable, Sendable {
  /// Our own source: who the reports and the feedback come from.
  public var senderSSRC: UInt32
  /// Our canonical name in the reports, RFC 7022.
  public var cname: String

  /// Mean interval of receiver reports; each one is drawn from 0.5 to 1.5 times it (RFC 3550 section 6.2). The sender's
  /// round-trip time is measured with them.
  public var reportInterval = Duration.seconds(1)
  /// From the first packet that was not told of to the feedback that tells of it. Shorter finds a queue sooner, and
  /// costs a few kbit/s.
  public var transportFeedbackInterval = Duration.milliseconds(100)

  /// Missing packets remembered, each stream. A gap of more is an outage, which a key frame ends sooner.
  public var maximumMissingPackets = 1000
  /// A packet that was asked for this often is not asked for again.
  public var maximumRequestsPerPacket = 10
  /// Requests for the same packet are at least this far apart, and at least 1.25 round trips.
  public var minimumRequestInterval = Duration.milliseconds(15)
  /// A missing video packet is forgotten after this time: senders keep about as much.
  public var videoRecoveryTime = Duration.seconds(1)
  /// The same for sound: no jitter buffer waits longer.
  public var audioRecoveryTime = Duration.milliseconds(500)
  /// What may be waited for packets out of order before they are asked for, where they come so.
  public var maximumReorderingAllowance = Duration.milliseconds(20)

  /// Key-frame requests begin this far apart and go to twice the time with each that is not answered.
  public var keyFrameRequestInterval = Duration.milliseconds(200)
  public var maximumKeyFrameRequestInterval = Duration.seconds(2)

  /// Video packets kept for frames that are not whole or cannot be decoded yet; rounded up to a power of two. 2048 are
  /// 4 s of 5 Mbit/s.
  public var maximumBufferedPackets = 2048
  /// Bytes of them, however few: a datagram may have 64 KiB.
  public var maximumBufferedBytes = 4 << 20
  /// Whole frames that wait for one before them. 4 s at 30 pictures a second; by then a key frame has been asked for
  /// several times.
  public var maximumWaitingFrames = 120

  /// Nothing is held longer for the sound's sake.
  public var maximumLipSyncHold = Duration.milliseconds(200)

  /// How sound is buffered.
  public var audio = AudioJitterBufferConfiguration()

  public init(senderSSRC: UInt32, cname: String) {
    self.senderSSRC = senderSSRC
    self.cname = cname
  }
}
