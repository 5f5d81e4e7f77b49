public import RTP

/// The kind of media. Audio is never held back for video.
public enum RTPMediaKind: Hashable, Sendable {
  case audio
  case video
}

/// One stream that we send, as SDP negotiated it.
public struct RTPStreamConfiguration: Sendable {
  public var ssrc: UInt32
  public var kind: RTPMediaKind
  /// 0...127.
  public var payloadType: UInt8
  /// Hz: 90000 for video, 48000 for Opus.
  public var clockRate: UInt32
  /// The RTX stream (RFC 4588); nil if the peer did not accept one.
  public var rtx: (ssrc: UInt32, payloadType: UInt8)?
  /// The payload type of RED (RFC 2198) that the peer accepts; audio only.
  public var redPayloadType: UInt8?
  /// The same for all streams that share a capture clock, so that the peer synchronizes them. RFC 7022.
  public var cname: String
  /// The value of `a=mid`, sent where `extensionIDs.mid` is set.
  public var mid: String?
  public var extensionIDs: RTPExtensionIDs
  /// `a=rtcp-fb: nack`: packets are kept for retransmission.
  public var supportsNACK: Bool
  /// `a=rtcp-fb: nack pli`. FIR is honoured whatever was negotiated.
  public var supportsPLI: Bool
  /// `a=rtcp-fb: transport-cc`.
  public var supportsTransportCC: Bool
  /// `a=rtcp-fb: goog-remb`; used only where there is no transport-cc.
  public var supportsREMB: Bool
  /// `a=rtcp-fb: rrtr`: a receiver that tells its time is answered, so that it knows its round-trip time (RFC 3611
  /// section 4.5).
  public var answersReferenceTime: Bool
  /// `a=rtcp-rsize` (RFC 5506). Our sender reports still carry the CNAME, which receivers need for audio/video sync.
  public var reducedSizeRTCP: Bool
  /// Sent with each video packet if `extensionIDs.playoutDelay` is set; nil leaves the delay to the viewer.
  public var playoutDelay: PlayoutDelay?

  public init(
    ssrc: UInt32, kind: RTPMediaKind, payloadType: UInt8, clockRate: UInt32,
    rtx: (ssrc: UInt32, payloadType: UInt8)? = nil, redPayloadType: UInt8? = nil, cname: String, mid: String? = nil,
    extensionIDs: RTPExtensionIDs = RTPExtensionIDs(), supportsNACK: Bool = false, supportsPLI: Bool = false,
    supportsTransportCC: Bool = false, supportsREMB: Bool = false, answersReferenceTime: Bool = false,
    reducedSizeRTCP: Bool = false, playoutDelay: PlayoutDelay? = nil
  ) {
    self.ssrc = ssrc
    self.kind = kind
    self.payloadType = payloadType
    self.clockRate = clockRate
    self.rtx = rtx
    self.redPayloadType = redPayloadType
    self.cname = cname
    self.mid = mid
    self.extensionIDs = extensionIDs
    self.supportsNACK = supportsNACK
    self.supportsPLI = supportsPLI
    self.supportsTransportCC = supportsTransportCC
    self.supportsREMB = supportsREMB
    self.answersReferenceTime = answersReferenceTime
    self.reducedSizeRTCP = reducedSizeRTCP
    self.playoutDelay = playoutDelay
  }
}
