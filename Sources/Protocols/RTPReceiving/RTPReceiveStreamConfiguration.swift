public import RTP

/// One media section that we receive, as SDP negotiated it.
public struct RTPReceiveStreamConfiguration: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// Opus.
    case audio
    /// VP8.
    case video
  }

  public var kind: Kind
  /// 0...127.
  public var payloadType: UInt8
  /// Hz: 90000 for video, 48000 for Opus.
  public var clockRate: Int
  /// Payload type of RTX (RFC 4588); nil when retransmissions, if any, come on the stream itself.
  public var rtxPayloadType: UInt8?
  /// Payload type of RED, redundant audio (RFC 2198).
  public var redPayloadType: UInt8?
  /// The value of `a=mid`.
  public var mid: String?
  public var extensionIDs: RTPExtensionIDs
  /// SSRCs announced by `a=ssrc`, in any order, including RTX. Others are learned from the MID extension, or else from
  /// the payload type (RFC 9143 section 9.2).
  public var remoteSSRCs: [UInt32]
  /// `a=rtcp-fb: nack`.
  public var supportsNACK: Bool
  /// `a=rtcp-fb: nack pli`.
  public var supportsPLI: Bool
  /// `a=rtcp-fb: ccm fir`; used only where there is no PLI.
  public var supportsFIR: Bool
  /// `a=rtcp-fb: transport-cc`.
  public var supportsTransportCC: Bool
  /// `a=rtcp-fb: rrtr`: the sender answers our time with the one since it heard it (RFC 3611 sections 4.4 and 4.5).
  public var supportsReferenceTime: Bool
  /// `a=rtcp-rsize` (RFC 5506): feedback is sent without a preceding report.
  public var reducedSizeRTCP: Bool

  public init(
    kind: Kind, payloadType: UInt8, clockRate: Int, rtxPayloadType: UInt8? = nil, redPayloadType: UInt8? = nil,
    mid: String? = nil, extensionIDs: RTPExtensionIDs = RTPExtensionIDs(), remoteSSRCs: [UInt32] = [],
    supportsNACK: Bool = false, supportsPLI: Bool = false, supportsFIR: Bool = false,
    supportsTransportCC: Bool = false, supportsReferenceTime: Bool = false, reducedSizeRTCP: Bool = false
  ) {
    self.kind = kind
    self.payloadType = payloadType
    self.clockRate = clockRate
    self.rtxPayloadType = rtxPayloadType
    self.redPayloadType = redPayloadType
    self.mid = mid
    self.extensionIDs = extensionIDs
    self.remoteSSRCs = remoteSSRCs
    self.supportsNACK = supportsNACK
    self.supportsPLI = supportsPLI
    self.supportsFIR = supportsFIR
    self.supportsTransportCC = supportsTransportCC
    self.supportsReferenceTime = supportsReferenceTime
    self.reducedSizeRTCP = reducedSizeRTCP
  }
}
