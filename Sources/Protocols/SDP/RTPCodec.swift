/// A codec that we can send or receive, before a session assigns its payload type.
public struct RTPCodec: Hashable, Sendable {
  /// As registered under RFC 4855; case-insensitive. For `rtx` (RFC 4588) and `red` (RFC 2198), negotiation settles
  /// which payload type they carry.
  public var name: String
  /// Hz.
  public var clockRate: UInt32
  /// Audio channels in the `rtpmap` line, which omits 1.
  public var channels: Int
  /// What we ask of the peer when we receive this codec (`a=fmtp`).
  public var parameters: FormatParameters
  /// The feedback that we support, for example `nack pli`. RFC 4585 section 4.2.
  public var feedback: [String]
  /// The payload type in our own offers; answers use the offerer's.
  public var preferredPayloadType: UInt8

  public init(
    name: String, clockRate: UInt32, channels: Int = 1, parameters: FormatParameters = "", feedback: [String] = [],
    preferredPayloadType: UInt8
  ) {
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
    self.parameters = parameters
    self.feedback = feedback
    self.preferredPayloadType = preferredPayloadType
  }

  /// RFC 7741, with the feedback that every browser sends, and `rrtr`, which libwebrtc knows but does not offer by itself.
  public static let vp8 = RTPCodec(
    name: "VP8", clockRate: 90_000, feedback: ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli", "rrtr"],
    preferredPayloadType: 96)
  /// RFC 6184: constrained baseline of level 3.1, in packetization mode 1.
  public static let h264 = RTPCodec(
    name: "H264", clockRate: 90_000,
    parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f", feedback: vp8.feedback,
    preferredPayloadType: 102)
  /// RFC 4588.
  public static let rtx = RTPCodec(name: "rtx", clockRate: 90_000, preferredPayloadType: 97)
  /// RFC 7587; the `rtpmap` line always says two channels. A room's sound is mono.
  public static let opus = RTPCodec(
    name: "opus", clockRate: 48_000, channels: 2, parameters: "minptime=10;useinbandfec=1;stereo=0",
    feedback: ["transport-cc", "nack", "rrtr"], preferredPayloadType: 111)
  /// RFC 2198 over Opus.
  public static let opusRED = RTPCodec(name: "red", clockRate: 48_000, channels: 2, preferredPayloadType: 63)

  var isRetransmission: Bool { name.lowercased() == "rtx" }
  var isRedundancy: Bool { name.lowercased() == "red" }
  /// Whether it carries media itself.
  var isPrimary: Bool { !isRetransmission && !isRedundancy }

  func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }

  /// Whether a peer's format is this codec. The channel count of Opus, which says nothing (RFC 7587 section 7 has it always
  /// 2), is not compared: webrtcbin writes `OPUS/48000`, others `opus/48000/1`.
  func matches(_ format: PayloadFormat) -> Bool {
    isNamed(format.name) && clockRate == format.clockRate
      && (isOpus || (format.channels ?? channels) == channels) && (!isH264 || H264Format(format.parameters) != nil)
  }

  /// The peer's format in which this codec is sent: the first, of H.264 the first of the nearest profile.
  func choice(among formats: [PayloadFormat]) -> PayloadFormat? {
    let fitting = formats.filter(matches)
    guard isH264 else { return fitting.first }
    let rank = { (format: PayloadFormat) in H264Format(format.parameters)?.profile.rawValue ?? .max }
    return fitting.min { rank($0) < rank($1) }
  }

  /// What an answer says of the format that was chosen.
  func answerParameters(for format: PayloadFormat) -> FormatParameters {
    isH264 ? H264Format(format.parameters)?.answer ?? parameters : parameters
  }

  var isH264: Bool { isNamed("H264") }
  private var isOpus: Bool { name.lowercased() == "opus" }

  /// This codec as a format of our own description.
  func format(number: UInt8, parameters: FormatParameters? = nil, feedback: [String]) -> PayloadFormat {
    PayloadFormat(
      number: number, name: name, clockRate: clockRate, channels: channels == 1 ? nil : channels,
      parameters: parameters ?? self.parameters, feedback: feedback)
  }
}

/// The RTP header extensions that this project knows a use for.
public enum RTPHeaderExtensionURI {
  /// RFC 9143 section 15.2.
  public static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
  /// draft-holmer-rmcat-transport-wide-cc-extensions-01.
  public static let transportWideCC = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  public static let absSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
  public static let absCaptureTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
  public static let playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
}
