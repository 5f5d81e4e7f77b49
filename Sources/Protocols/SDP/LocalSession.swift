/// One local track, or a slot for one of the peer's, as an offer or answer describes it.
public struct LocalMedia: Hashable, Sendable {
  public var kind: MediaKind
  /// The direction that we want, from our side.
  public var direction: MediaDirection
  /// In order of preference, including `rtx` and `red` if we support them.
  public var codecs: [RTPCodec]
  /// URIs of the RTP header extensions that we can use, in order of preference.
  public var headerExtensions: [String]
  /// Our media SSRC.
  public var ssrc: UInt32
  /// Our RTX SSRC; nil without RTX. RFC 4588 section 4.
  public var rtxSSRC: UInt32?
  /// RFC 3550 section 6.5.1; the same for all synchronised tracks.
  public var cname: String
  /// `a=msid`. RFC 8830.
  public var streamID: String
  public var trackID: String

  public init(
    kind: MediaKind, direction: MediaDirection, codecs: [RTPCodec], headerExtensions: [String], ssrc: UInt32,
    rtxSSRC: UInt32? = nil, cname: String, streamID: String, trackID: String
  ) {
    self.kind = kind
    self.direction = direction
    self.codecs = codecs
    self.headerExtensions = headerExtensions
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
    self.cname = cname
    self.streamID = streamID
    self.trackID = trackID
  }
}

/// Our side of a session: everything that an offer or answer needs. For an ICE restart, negotiate again with new
/// credentials and `version` incremented, everything else unchanged.
public struct LocalSession: Hashable, Sendable {
  /// 4 to 256 letters, digits, `+` or `/`. RFC 8839 section 5.4.
  public var iceUfrag: String
  /// 22 to 256 of the same.
  public var icePwd: String
  /// Attribute text from `candidate:` on.
  public var candidates: [String]
  /// `candidates` is complete.
  public var endOfCandidates: Bool
  /// We accept trickled candidates. RFC 8840 section 4.1.
  public var trickle: Bool
  /// 32 bytes, over our certificate's DER form.
  public var fingerprintSHA256: [UInt8]
  /// The role that an answer picks when the offer leaves the choice: `active` (RFC 8842 section 5.3 recommends it) or
  /// `passive`.
  public var answerSetup: SetupRole
  public var media: [LocalMedia]
  /// RFC 8841 section 5; nil if we accept no data channels.
  public var sctpPort: UInt16?
  /// The largest data channel message that we accept, in bytes. RFC 8841 section 6.
  public var maxMessageSize: UInt64
  /// Random, below 2^63. RFC 9429 section 5.2.1.
  public var sessionID: UInt64
  /// Incremented with each description of the session.
  public var version: UInt64

  public init(
    iceUfrag: String, icePwd: String, candidates: [String] = [], endOfCandidates: Bool = false, trickle: Bool = true,
    fingerprintSHA256: [UInt8], answerSetup: SetupRole = .active, media: [LocalMedia], sctpPort: UInt16? = 5000,
    maxMessageSize: UInt64 = 262_144, sessionID: UInt64, version: UInt64 = 1
  ) {
    self.iceUfrag = iceUfrag
    self.icePwd = icePwd
    self.candidates = candidates
    self.endOfCandidates = endOfCandidates
    self.trickle = trickle
    self.fingerprintSHA256 = fingerprintSHA256
    self.answerSetup = answerSetup
    self.media = media
    self.sctpPort = sctpPort
    self.maxMessageSize = maxMessageSize
    self.sessionID = sessionID
    self.version = version
  }
}
