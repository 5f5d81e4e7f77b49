extension SessionDescription {
  /// Reads a description. Lines may end in CRLF or LF; unknown attributes are kept, unknown line types are skipped.
  ///
  /// - Throws: `SDPError` with the line and what is wrong with it.
  public init(parsing text: String) throws(SDPError) {
    var parser = SDPParser()
    for line in try SDPLine.lines(of: text) { try parser.read(line) }
    self = try parser.finish()
  }
}

/// Reads lines front to back; attributes go to the current section.
private struct SDPParser {
  private var origin: SessionDescription.Origin?
  private var name: String?
  private var hasTime = false
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
      origin = try readOrigin(line)
    case UInt8(ascii: "s"):
      name = String(line.value)
    case UInt8(ascii: "t"):
      hasTime = true
    case UInt8(ascii: "c"):
      if section == nil {
        inherited.media.connection = String(line.value)
      } else {
        section?.media.connection = String(line.value)
      }
    case UInt8(ascii: "m"):
      try closeSection()
      try checkSessionPart(before: line.number)
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
    try checkSessionPart(before: lastLine + 1)
    if let origin { description.origin = origin }
    description.name = name ?? "-"
    return description
  }

  private func checkSessionPart(before line: Int) throws(SDPError) {
    if origin == nil { throw SDPError(line: line, reason: "no o= line before this") }
    if name == nil { throw SDPError(line: line, reason: "no s= line before this") }
    if !hasTime { throw SDPError(line: line, reason: "no t= line before this") }
  }

  // RFC 8866 section 5.2.
  private func readOrigin(_ line: SDPLine) throws(SDPError) -> SessionDescription.Origin {
    let words = line.value.parts()
    guard words.count == 6, let id = words[1].number(as: UInt64.self), let version = words[2].number(as: UInt64.self)
    else { throw SDPError(line: line.number, reason: "o= has a name, two numbers and an address") }
    return .init(
      username: String(words[0]), sessionID: id, version: version, address: words[3...].joined(separator: " "))
  }

  private mutating func readSessionAttribute(_ line: SDPLine) throws(SDPError) {
    let (first, value) = line.attribute
    let name = String(first)
    switch name {
    case "group":
      let words = (value ?? "").parts().map(String.init)
      guard let semantics = words.first else { throw SDPError(line: line.number, reason: "a group needs a name") }
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
    case "ice-ufrag", "ice-pwd", "ice-options", "fingerprint", "setup", "extmap", "end-of-candidates", "sendrecv",
      "sendonly", "recvonly", "inactive":
      try inherited.read(line)
    default:
      guard description.attributes.count < SDPLimits.unknownAttributes else {
        throw SDPError(line: line.number, reason: "more than \(SDPLimits.unknownAttributes) unknown attributes")
      }
      description.attributes.append(SDPAttribute(name: name, value: value.map(String.init)))
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
