extension SessionDescription {
  /// Reads a description. Lines may end in CRLF or LF; unknown attributes are kept, unknown line types are skipped. What is
  /// missing or malformed is refused only where ICE, DTLS, SCTP or payload types need it.
  ///
  /// - Throws: `SDPError` with the line and what is wrong with it.
  public init(parsing text: String) throws(SDPError) {
    let lines = try SDPLine.lines(of: text)
    do throws(SDPError) {
      var parser = SDPParser()
      for line in lines { try parser.read(line) }
      self = try parser.finish()
    } catch {
      throw error.quoting(lines)
    }
  }
}

/// Reads lines front to back; attributes go to the current section.
private struct SDPParser {
  private var description = SessionDescription(origin: .init(sessionID: 0, version: 0))
  /// Session-level attributes that sections inherit.
  private var inherited = SectionDraft(
    media: MediaDescription(kind: .other("session"), port: 0, transport: "", formats: []), line: 1)
  private var section: SectionDraft?
  private var lastLine = 0

  mutating func read(_ line: SDPLine) throws(SDPError) {
    // RFC 8866 section 5: the version comes first.
    if lastLine == 0, line.type != UInt8(ascii: "v") {
      throw SDPError(line: line.number, reason: "a description begins with v=0")
    }
    lastLine = line.number
    switch line.type {
    case UInt8(ascii: "v"):
      guard line.value == "0" else { throw SDPError(line: line.number, reason: "the version is not 0") }
    case UInt8(ascii: "o"):
      readOrigin(line)
    case UInt8(ascii: "s"):
      description.name = String(line.value)
    case UInt8(ascii: "c"):
      if section == nil {
        inherited.media.connection = String(line.value)
      } else {
        section?.media.connection = String(line.value)
      }
    case UInt8(ascii: "b"):
      if section == nil {
        description.bandwidth.read(line.value)
      } else {
        section?.media.bandwidth.read(line.value)
      }
    case UInt8(ascii: "m"):
      try closeSection()
      guard description.media.count < SDPLimits.mediaSections else {
        throw SDPError(line: line.number, reason: "more than \(SDPLimits.mediaSections) media sections")
      }
      section = try SectionDraft(line)
    case UInt8(ascii: "a"):
      if section == nil {
        try readSessionAttribute(line)
      } else {
        try section?.read(line)
      }
    default:
      break
    }
  }

  mutating func finish() throws(SDPError) -> SessionDescription {
    try closeSection()
    guard lastLine > 0 else { throw SDPError(line: 1, reason: "a description begins with v=0") }
    return description
  }

  // RFC 8866 section 5.2. Nothing depends on it, and there are peers with larger numbers or none.
  private mutating func readOrigin(_ line: SDPLine) {
    let words = line.value.parts()
    let number = { (index: Int) in index < words.count ? words[index].number(as: UInt64.self) ?? 0 : 0 }
    description.origin = .init(
      username: words.first.map(String.init) ?? "-", sessionID: number(1), version: number(2))
    if words.count == 6 { description.origin.address = words[3...].joined(separator: " ") }
  }

  private mutating func readSessionAttribute(_ line: SDPLine) throws(SDPError) {
    let (name, value) = line.attribute
    switch line.attributeName {
    case "group":
      let words = (value ?? "").parts().map(String.init)
      guard let semantics = words.first else { return }
      guard words.count <= SDPLimits.mediaSections + 1, description.groups.count < SDPLimits.mediaSections else {
        throw SDPError(line: line.number, reason: "more group members than sections")
      }
      description.groups.append(.init(semantics: semantics, mids: Array(words.dropFirst())))
    case "ice-lite":
      description.isICELite = true
    case "extmap-allow-mixed":
      description.allowsMixedExtensions = true
    case "msid-semantic":
      description.msidSemantic = String((value ?? "").trimmed)
    case "ice-ufrag", "ice-pwd", "ice-options", "fingerprint", "setup", "extmap", "end-of-candidates", "rtcp-mux",
      "rtcp-rsize", "sendrecv", "sendonly", "recvonly", "inactive":
      try inherited.read(line)
    default:
      guard description.attributes.count < SDPLimits.unknownAttributes else {
        throw SDPError(line: line.number, reason: "more than \(SDPLimits.unknownAttributes) unknown attributes")
      }
      description.attributes.append(SDPAttribute(name: String(name), value: value.map(String.init)))
    }
  }

  private mutating func closeSection() throws(SDPError) {
    guard let section else { return }
    description.media.append(section.finish(inheriting: inherited))
    if let mid = description.media.last?.mid, description.media.dropLast().contains(where: { $0.mid == mid }) {
      throw SDPError(line: section.line, reason: "two media sections have the mid \(mid)")
    }
    self.section = nil
  }
}
