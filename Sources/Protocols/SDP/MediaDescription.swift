/// The media type: the first word of the `m=` line.
public enum MediaKind: Hashable, Sendable {
  case audio
  case video
  case application
  case other(String)

  public init(_ name: String) {
    switch name.lowercased() {
    case "audio": self = .audio
    case "video": self = .video
    case "application": self = .application
    default: self = .other(name)
    }
  }

  public var name: String {
    switch self {
    case .audio: "audio"
    case .video: "video"
    case .application: "application"
    case .other(let name): name
    }
  }
}

/// One `m=` section with its attributes, session-level ones inherited. RFC 8866 section 5.14, RFC 9429 section 5.2.1.
public struct MediaDescription: Hashable, Sendable {
  public var kind: MediaKind
  /// 0: rejected, unless `isBundleOnly`.
  public var port: UInt16
  /// For example `UDP/TLS/RTP/SAVPF`.
  public var transport: String
  /// Payload type numbers, or `webrtc-datachannel`, as written in the `m=` line.
  public var formats: [String]
  /// Its `m=` line.
  public var source = SourceLine()
  /// The value of the `c=` line.
  public var connection: String?
  /// The `b=` lines: for this section alone.
  public var bandwidth = Bandwidth()
  /// `a=mid`. RFC 5888 section 4.
  public var mid: String?
  /// As its writer sees it; `sendrecv` by default. RFC 8866 section 6.7.
  public var direction: MediaDirection
  /// RFC 8839 section 5.4.
  public var iceUfrag: String?
  public var icePwd: String?
  public var iceOptions: [String]
  /// Attribute text from `candidate:` on, without `a=`. RFC 8839 section 5.1.
  public var candidates: [String]
  /// No more candidates will follow. RFC 8840 section 8.2.
  public var endOfCandidates: Bool
  public var fingerprints: [Fingerprint]
  public var setup: SetupRole?
  /// Its line.
  public var setupSource = SourceLine()
  /// RFC 5761 section 5.1.1.
  public var rtcpMux: Bool
  /// RFC 8858 section 3.
  public var rtcpMuxOnly: Bool
  /// `a=rtcp-rsize`. RFC 5506 section 5.
  public var rtcpReducedSize: Bool
  /// Usable only as part of a bundle; port 0 is then not a rejection. RFC 9143 section 6.
  public var isBundleOnly: Bool
  public var allowsMixedExtensions: Bool
  /// The RTP payload formats, in the order of preference of the `m=` line.
  public var payloads: [PayloadFormat]
  /// The first `rtpmap` line whose format the `m=` line does not list, or that is no payload type: not used.
  public var strayMap = SourceLine()
  public var extensions: [ExtensionMapping]
  public var streams: [MediaStreamID]
  public var sources: [MediaSource]
  public var sourceGroups: [MediaSourceGroup]
  /// RFC 8841 section 5.
  public var sctpPort: UInt16?
  /// Bytes; 0 is any size. RFC 8841 section 6.
  public var maxMessageSize: UInt64?
  /// Other attributes, in order, including `rid` and `simulcast`: we neither send nor accept several layers.
  public var attributes: [SDPAttribute]

  public init(kind: MediaKind, port: UInt16, transport: String, formats: [String]) {
    self.kind = kind
    self.port = port
    self.transport = transport
    self.formats = formats
    direction = .sendReceive
    iceOptions = []
    candidates = []
    endOfCandidates = false
    fingerprints = []
    rtcpMux = false
    rtcpMuxOnly = false
    rtcpReducedSize = false
    isBundleOnly = false
    allowsMixedExtensions = false
    payloads = []
    extensions = []
    streams = []
    sources = []
    sourceGroups = []
    attributes = []
  }

  /// Port 0 without `bundle-only`. RFC 3264 section 6, RFC 9143 section 6.
  public var isRejected: Bool { port == 0 && !isBundleOnly }

  /// Whether the section can carry RTP under DTLS-SRTP. RFC 9429 section 5.1.2 takes the names of plain RTP for it, too: the
  /// fingerprint says that it is encrypted.
  public var isSecureRTP: Bool {
    let profiles = ["RTP/SAVPF", "RTP/SAVP", "RTP/AVPF", "RTP/AVP"]
    return profiles.contains { transport.uppercased().hasSuffix($0) }
  }

  /// RFC 8858 section 3: `rtcp-mux-only` says more than `rtcp-mux`.
  var multiplexesRTCP: Bool { rtcpMux || rtcpMuxOnly }

  /// Whether it carries RTP of some kind, so that its formats are payload types.
  var isRTP: Bool { transport.uppercased()[...].parts(47).contains("RTP") }

  /// Whether the section carries WebRTC data channels. RFC 8841 section 4.
  public var isDataChannel: Bool {
    kind == .application && transport.uppercased().hasSuffix("/DTLS/SCTP") && formats.contains("webrtc-datachannel")
  }
}
