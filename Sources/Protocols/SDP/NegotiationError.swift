/// Why no session can be negotiated from a well-formed description.
public enum NegotiationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Every `m=` section is rejected, or there is none.
  case noMedia
  /// No kind of media and no data channel in common.
  case nothingInCommon
  /// No codec and no data channel in common: the codecs that the peer lists, and ours; the lines that name its codecs, or that
  /// list payload types without one.
  case noCommonCodec(offered: [String], ours: [String], lines: [SourceLine])
  /// The answer has several sections, but no BUNDLE group to put them on one transport. RFC 9143.
  case noBundle
  /// The first section that has them by rights.
  case noICECredentials(SourceLine)
  case noFingerprint(SourceLine)
  /// There are fingerprints, of which this is the first, but none is a SHA-256 of 32 bytes.
  case noSHA256Fingerprint(SourceLine)
  /// An RTP section without `a=rtcp-mux`; named by its mid or index.
  case noRTCPMux(String, SourceLine)
  /// `a=setup` has a value that this side may not send at this point.
  case badSetup(SetupRole, SourceLine)
  /// The answer's sections do not match the offer's; the text says how.
  case answerDoesNotFit(String)

  public var description: String {
    switch self {
    case .noMedia: "the description offers no media section"
    case .nothingInCommon: "no codec and no data channel in common"
    case .noCommonCodec(let offered, let ours, let lines):
      "no codec in common: the offer has \(offered.isEmpty ? "no codec" : offered.list("and")), this end has \(ours.list("and"))"
        + (lines.isEmpty
          ? ""
          : ": " + lines.prefix(Self.mostLines).map(\.description).joined(separator: ", ")
            + (lines.count > Self.mostLines ? " and others" : ""))
    case .noBundle:
      "several media sections without a BUNDLE group; this end has one transport only (bundle-policy=max-bundle)"
    case .noICECredentials(let line): "no ice-ufrag and ice-pwd" + line.behindColon
    case .noFingerprint(let line): "no fingerprint; media is encrypted or not sent at all" + line.behindColon
    case .noSHA256Fingerprint(let line): "no sha-256 fingerprint" + line.behindColon
    case .noRTCPMux(let section, let line): "media section \(section) has no rtcp-mux" + line.behindColon
    case .badSetup(let role, let line): "setup:\(role.rawValue) cannot be used here" + line.behindColon
    case .answerDoesNotFit(let how): "the answer does not fit the offer: \(how)"
    }
  }

  private static let mostLines = 4
}
