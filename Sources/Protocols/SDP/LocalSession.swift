/// One track of ours, or one place for a track of the peer: what an offer or answer can say about it.
public struct LocalMedia: Hashable, Sendable {
  public var kind: MediaKind
  /// What we want, as we see it.
  public var direction: MediaDirection
  /// In order of preference, `rtx` and `red` among them when we can do them.
  public var codecs: [RTPCodec]
  /// URIs of the RTP header extensions that we can use, in order of preference.
  public var headerExtensions: [String]
  /// What we send with.
  public var ssrc: UInt32
  /// What we retransmit with; nil without RTX. RFC 4588 section 4.
  public var rtxSSRC: UInt32?
  /// RFC 3550 section 6.5.1; the same for all tracks that are played in step.
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

/// Our side of a session: all that an offer or an answer needs to know of us. For an ICE restart, negotiate again with
/// other credentials and `version` one higher, everything else unchanged.
public struct LocalSession: Hashable, Sendable {
  /// 4 to 256 letters, digits, `+` or `/`. RFC 8839 section 5.4.
  public var iceUfrag: String
  /// 22 to 256 of the same.
  public var icePwd: String
  /// Attribute text from `candidate:` on.
  public var candidates: [String]
  /// `candidates` is all there will be.
  public var endOfCandidates: Bool
  /// We can take candidates later. RFC 8840 section 4.1.
  public var trickle: Bool
  /// 32 bytes, over our certificate's DER form.
  public var fingerprintSHA256: [UInt8]
  /// What an answer picks when the offer leaves the choice: `active` (RFC 8842 section 5.3 recommends it) or `passive`.
  public var answerSetup: SetupRole
  public var media: [LocalMedia]
  /// RFC 8841 section 5; nil when we take no data channels.
  public var sctpPort: UInt16?
  /// The largest data channel message that we take, in bytes. RFC 8841 section 6.
  public var maxMessageSize: UInt64
  /// Random, below 2^63. RFC 9429 section 5.2.1.
  public var sessionID: UInt64
  /// One more with each description of the session.
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
