public import SDP

/// The body of a trickle message, `application/trickle-ice-sdpfrag`. RFC 8840 section 9.
public struct TrickleFragment: Hashable, Sendable {
  /// The candidates of one media section.
  public struct Section: Hashable, Sendable {
    /// Empty for candidates before any `m=` line, as some players send them.
    public var mid: String
    /// The value of the pseudo `m=` line.
    public var mediaLine: String
    /// Attribute text from `candidate:` on.
    public var candidates: [String]
    public var endOfCandidates: Bool

    public init(
      mid: String, mediaLine: String = "audio 9 UDP/TLS/RTP/SAVPF 0", candidates: [String] = [],
      endOfCandidates: Bool = false
    ) {
      self.mid = mid
      self.mediaLine = mediaLine
      self.candidates = candidates
      self.endOfCandidates = endOfCandidates
    }
  }

  /// Credentials of the candidates' ICE session; new ones begin a new session. At session level in RFC 8840, within the
  /// sections in the examples of draft-ietf-wish-whep; both are accepted.
  public var ufrag: String?
  public var pwd: String?
  public var iceOptions: [String]
  public var isICELite: Bool
  /// The mids of the BUNDLE group.
  public var bundle: [String]
  public var sections: [Section]
  /// For all sections.
  public var endOfCandidates: Bool

  public init(
    ufrag: String? = nil, pwd: String? = nil, iceOptions: [String] = [], isICELite: Bool = false,
    bundle: [String] = [], sections: [Section] = [], endOfCandidates: Bool = false
  ) {
    self.ufrag = ufrag
    self.pwd = pwd
    self.iceOptions = iceOptions
    self.isICELite = isICELite
    self.bundle = bundle
    self.sections = sections
    self.endOfCandidates = endOfCandidates
  }

  /// Every candidate, in order.
  public var candidates: [String] { sections.flatMap(\.candidates) }

  /// Whether the candidates are complete: stated for the session or for any section, because all share one transport.
  public var isComplete: Bool { endOfCandidates || sections.contains(where: \.endOfCandidates) }
}

extension TrickleFragment {
  /// Parses a fragment; unknown lines are skipped.
  ///
  /// - Throws: `SDPError`, also for a fragment without anything about ICE.
  public init(parsing text: String) throws(SDPError) {
    self.init()
    var candidates = 0
    var inSection = false
    for line in try SDPLine.lines(of: text) {
      if line.type == UInt8(ascii: "m") {
        guard sections.count < SDPLimits.mediaSections else {
          throw SDPError(line: line.number, reason: "more than \(SDPLimits.mediaSections) media sections")
        }
        sections.append(Section(mid: "", mediaLine: String(line.value)))
        inSection = true
      }
      guard line.type == UInt8(ascii: "a") else { continue }
      let (name, value) = line.attribute
      switch name {
      case "candidate":
        candidates += 1
        guard let value, !value.isEmpty, candidates <= SDPLimits.candidates else {
          throw SDPError(line: line.number, reason: "an empty candidate or more than \(SDPLimits.candidates)")
        }
        if sections.isEmpty { sections.append(Section(mid: "")) }
        sections[sections.count - 1].candidates.append("candidate:" + value)
      case "end-of-candidates":
        if inSection { sections[sections.count - 1].endOfCandidates = true } else { endOfCandidates = true }
      case "mid":
        guard let value, !value.isEmpty, inSection else {
          throw SDPError(line: line.number, reason: "a mid has a value and belongs to an m= line")
        }
        sections[sections.count - 1].mid = String(value)
      default:
        try readSessionPart(line, name, value.map(String.init) ?? "")
      }
    }
    guard ufrag != nil || pwd != nil || candidates > 0 || isComplete else {
      throw SDPError(line: 1, reason: "the fragment has no ICE credentials, candidates or end-of-candidates")
    }
  }

  private mutating func readSessionPart(_ line: SDPLine, _ name: Substring, _ value: String) throws(SDPError) {
    switch name {
    case "ice-ufrag":
      guard ICEText.isUfrag(value), ufrag == nil || ufrag == value else {
        throw SDPError(line: line.number, reason: "ice-ufrag has 4 to 256 visible characters, the same everywhere")
      }
      ufrag = value
    case "ice-pwd":
      guard ICEText.isPassword(value), pwd == nil || pwd == value else {
        throw SDPError(line: line.number, reason: "ice-pwd has 22 to 256 visible characters, the same everywhere")
      }
      pwd = value
    case "ice-options":
      iceOptions = value.split(separator: " ").map(String.init)
    case "ice-lite":
      isICELite = true
    case "group":
      let words = value.split(separator: " ").map(String.init)
      if words.first == "BUNDLE" { bundle = Array(words.dropFirst().prefix(SDPLimits.mediaSections)) }
    default:
      break
    }
  }
}

extension TrickleFragment: CustomStringConvertible {
  /// The fragment as text, lines ended by CRLF.
  public var description: String {
    var lines: [String] = []
    if isICELite { lines.append("a=ice-lite") }
    if !iceOptions.isEmpty { lines.append("a=ice-options:" + iceOptions.joined(separator: " ")) }
    if !bundle.isEmpty { lines.append("a=group:BUNDLE " + bundle.joined(separator: " ")) }
    if let ufrag { lines.append("a=ice-ufrag:" + ufrag) }
    if let pwd { lines.append("a=ice-pwd:" + pwd) }
    if endOfCandidates { lines.append("a=end-of-candidates") }
    for section in sections {
      lines.append("m=" + section.mediaLine)
      if !section.mid.isEmpty { lines.append("a=mid:" + section.mid) }
      lines += section.candidates.map { "a=" + $0 }
      if section.endOfCandidates { lines.append("a=end-of-candidates") }
    }
    return lines.map { $0 + "\r\n" }.joined()
  }
}
