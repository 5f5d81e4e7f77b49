/// A media section while its lines are parsed. Formats are assembled at the end, because Firefox writes `fmtp` before
/// `rtpmap`.
struct SectionDraft {
  var media: MediaDescription
  /// The line where the section begins.
  let line: Int
  /// Whether the formats are RTP payload types. Needed for each line, so computed once.
  private let isRTP: Bool
  private var direction: MediaDirection?
  private var formatMaps: [String: PayloadFormat] = [:]
  private var parameters: [String: String] = [:]
  private var feedback: [String: [String]] = [:]

  init(media: MediaDescription, line: Int) {
    self.media = media
    self.line = line
    isRTP = media.isRTP
  }

  /// From the `m=` line. RFC 8866 section 5.14.
  init(_ line: SDPLine) throws(SDPError) {
    let words = line.value.parts()
    guard words.count >= 3 else {
      throw SDPError(line: line.number, reason: "m= has a kind, a port, a transport and formats")
    }
    // A port count may follow after a slash; it is meaningless under RTP multiplexing. ICE has the ports: here only zero
    // says something.
    let port = words[1].cut(at: 47).0
    guard !port.isEmpty, port.utf8.allSatisfy({ (48...57).contains($0) }) else {
      throw SDPError(line: line.number, reason: "\(words[1]) is not a port")
    }
    guard words.count - 3 <= SDPLimits.formats else {
      throw SDPError(line: line.number, reason: "more than \(SDPLimits.formats) formats")
    }
    media = MediaDescription(
      kind: MediaKind(String(words[0])), port: port.number(as: UInt16.self) ?? .max, transport: String(words[2]),
      formats: words[3...].map(String.init))
    media.source = SourceLine(line)
    self.line = line.number
    isRTP = media.isRTP
    // What RTP has no room for beside others is not used.
    guard !isRTP || media.port == 0 || media.formats.isEmpty || media.formats.contains(where: Self.isPayloadType) else {
      throw SDPError(
        line: line.number,
        reason:
          "\(media.formats.prefix(4).map { SourceLine.shown($0) }.list("and")): payload types are numbers from 0 to 127"
      )
    }
  }

  private static func isPayloadType(_ format: String) -> Bool {
    format[...].number(as: UInt8.self).map { $0 < 128 && format == String($0) } ?? false
  }

  mutating func read(_ line: SDPLine) throws(SDPError) {
    let (first, optional) = line.attribute
    // Comparing strings is faster than comparing substrings.
    let name = line.attributeName
    let value = (optional ?? "").trimmed
    if optional == nil, let direction = MediaDirection(rawValue: name) {
      self.direction = direction
      return
    }
    switch name {
    case "rtpmap" where isRTP, "fmtp" where isRTP, "rtcp-fb" where isRTP:
      try readFormat(name, value, line)
    case "mid", "ice-ufrag", "ice-pwd", "ice-options", "candidate", "end-of-candidates":
      try readTransport(name, value, line)
    case "fingerprint":
      guard var fingerprint = Fingerprint(value) else {
        throw SDPError(line: line.number, reason: "a fingerprint has an algorithm and hex bytes with colons between")
      }
      try check(media.fingerprints.count, SDPLimits.fingerprints, "fingerprints", line)
      fingerprint.source = SourceLine(line)
      media.fingerprints.append(fingerprint)
    case "setup":
      guard let setup = SetupRole(rawValue: value.lowercased()) else {
        throw SDPError(line: line.number, reason: "setup is active, passive, actpass or holdconn")
      }
      media.setup = setup
      media.setupSource = SourceLine(line)
    case "rtcp-mux": media.rtcpMux = true
    case "rtcp-mux-only": media.rtcpMuxOnly = true
    case "rtcp-rsize": media.rtcpReducedSize = true
    case "bundle-only": media.isBundleOnly = true
    case "extmap-allow-mixed": media.allowsMixedExtensions = true
    case "extmap": try readExtension(value, line)
    case "msid":
      let words = value.parts().map(String.init)
      guard let stream = words.first else { return }
      try check(media.streams.count, SDPLimits.sources, "streams", line)
      media.streams.append(MediaStreamID(stream: stream, track: words.dropFirst().first))
    case "ssrc": try readSource(value, line)
    case "ssrc-group": try readSourceGroup(value, line)
    case "sctp-port":
      guard let port = value.number(as: UInt16.self) else {
        throw SDPError(line: line.number, reason: "\(value) is not an SCTP port")
      }
      media.sctpPort = port
    case "max-message-size":
      media.maxMessageSize = value.number(as: UInt64.self) ?? media.maxMessageSize
    default:
      try check(media.attributes.count, SDPLimits.unknownAttributes, "unknown attributes", line)
      media.attributes.append(SDPAttribute(name: String(first), value: optional.map(String.init)))
    }
  }

  private func check(_ count: Int, _ limit: Int, _ what: String, _ line: SDPLine) throws(SDPError) {
    guard count < limit else { throw SDPError(line: line.number, reason: "more than \(limit) \(what)") }
  }

  private mutating func readTransport(_ name: String, _ value: Substring, _ line: SDPLine) throws(SDPError) {
    switch name {
    case "mid":
      // As if the line were not there.
      if value.isEmpty { return }
      guard !value.utf8.contains(32) else { throw SDPError(line: line.number, reason: "a mid is one word") }
      media.mid = String(value)
    case "ice-ufrag":
      guard ICEText.isUfrag(value) else {
        throw SDPError(line: line.number, reason: "ice-ufrag has 4 to 256 visible characters")
      }
      media.iceUfrag = String(value)
    case "ice-pwd":
      guard ICEText.isPassword(value) else {
        throw SDPError(line: line.number, reason: "ice-pwd has 22 to 256 visible characters")
      }
      media.icePwd = String(value)
    case "ice-options":
      media.iceOptions = value.parts().map(String.init)
    case "candidate":
      if value.isEmpty { return }
      try check(media.candidates.count, SDPLimits.candidates, "candidates", line)
      media.candidates.append("candidate:" + value)
    default:
      media.endOfCandidates = true
    }
  }

  private mutating func readFormat(_ name: String, _ value: Substring, _ line: SDPLine) throws(SDPError) {
    let (format, text) = value.cut(at: 32)
    let rest = (text ?? "").trimmed
    let key = String(format)
    switch name {
    case "rtpmap":
      // RFC 8866 section 6.6: encoding name / clock rate [/ channels]. One that is not so, that the m= line does not list, or that
      // RTP has no room for, is not used.
      let parts = rest.parts(47)
      guard media.formats.contains(key), Self.isPayloadType(key), let number = UInt8(key),
        parts.count == 2 || parts.count == 3, let rate = parts[1].number(as: UInt32.self), rate > 0
      else {
        if media.strayMap.number == 0 { media.strayMap = SourceLine(line) }
        return
      }
      formatMaps[key] = PayloadFormat(
        number: number, name: String(parts[0]), clockRate: rate,
        channels: parts.count == 3 ? parts[2].number(as: UInt8.self).map(Int.init) : nil)
      formatMaps[key]?.source = SourceLine(line)
    case _ where rest.isEmpty: return
    case "fmtp":
      let joined = parameters[key].map { $0 + ";" + rest } ?? String(rest)
      guard joined.utf8.count + 16 <= SDPLimits.lineBytes else {
        throw SDPError(line: line.number, reason: "the parameters of format \(key) are too long")
      }
      parameters[key] = joined
    default:
      try check(feedback[key]?.count ?? 0, SDPLimits.formats, "feedback types for one format", line)
      feedback[key, default: []].append(rest.parts().joined(separator: " "))
    }
  }

  // RFC 8285 section 5: extmap:<id>["/"<direction>] <URI> [<attributes>].
  private mutating func readExtension(_ value: Substring, _ line: SDPLine) throws(SDPError) {
    let (head, rest) = value.cut(at: 32)
    let (id, direction) = head.cut(at: 47)
    let (uri, attributes) = (rest ?? "").trimmed.cut(at: 32)
    let way = direction.flatMap { MediaDirection(rawValue: $0.lowercased()) }
    // Nothing depends on an extension.
    guard let id = id.number(as: UInt16.self), id > 0, !uri.isEmpty, direction == nil || way != nil else { return }
    try check(media.extensions.count, SDPLimits.extensions, "header extensions", line)
    media.extensions.append(
      ExtensionMapping(id: id, direction: way, uri: String(uri), attributes: attributes.map { String($0.trimmed) }))
  }

  // RFC 5576 section 4.1: ssrc:<id> <attribute>[:<value>].
  private mutating func readSource(_ value: Substring, _ line: SDPLine) throws(SDPError) {
    let (id, rest) = value.cut(at: 32)
    guard let ssrc = id.number(as: UInt32.self) else { return }
    let index: Int
    if let known = media.sources.firstIndex(where: { $0.ssrc == ssrc }) {
      index = known
    } else {
      try check(media.sources.count, SDPLimits.sources, "sources", line)
      index = media.sources.count
      media.sources.append(MediaSource(ssrc: ssrc, attributes: []))
    }
    guard let rest = rest?.trimmed, !rest.isEmpty else { return }
    try check(media.sources[index].attributes.count, SDPLimits.unknownAttributes, "attributes of one source", line)
    let (name, text) = rest.cut(at: 58)
    media.sources[index].attributes.append(SDPAttribute(name: String(name), value: text.map(String.init)))
  }

  private mutating func readSourceGroup(_ value: Substring, _ line: SDPLine) throws(SDPError) {
    let words = value.parts()
    let ssrcs = words.dropFirst().compactMap { $0.number(as: UInt32.self) }
    guard let semantics = words.first, ssrcs.count == words.count - 1 else { return }
    try check(media.sourceGroups.count, SDPLimits.sources, "source groups", line)
    media.sourceGroups.append(MediaSourceGroup(semantics: String(semantics), ssrcs: ssrcs))
  }

  /// The parsed section; what it lacks is inherited from the session level.
  func finish(inheriting session: SectionDraft) -> MediaDescription {
    var media = media
    media.direction = direction ?? session.direction ?? .sendReceive
    media.connection = media.connection ?? session.media.connection
    media.iceUfrag = media.iceUfrag ?? session.media.iceUfrag
    media.icePwd = media.icePwd ?? session.media.icePwd
    if media.iceOptions.isEmpty { media.iceOptions = session.media.iceOptions }
    if media.fingerprints.isEmpty { media.fingerprints = session.media.fingerprints }
    if media.setup == nil { (media.setup, media.setupSource) = (session.media.setup, session.media.setupSource) }
    media.endOfCandidates = media.endOfCandidates || session.media.endOfCandidates
    if isRTP {
      media.rtcpMux = media.rtcpMux || session.media.rtcpMux
      media.rtcpReducedSize = media.rtcpReducedSize || session.media.rtcpReducedSize
      if media.extensions.isEmpty { media.extensions = session.media.extensions }
      media.payloads = payloads
    }
    return media
  }

  private var payloads: [PayloadFormat] {
    var seen = Set<UInt8>()
    return media.formats.compactMap { format in
      guard var payload = formatMaps[format] ?? (media.isRejected ? nil : StaticPayload.format(format)),
        seen.insert(payload.number).inserted
      else { return nil }
      payload.parameters = FormatParameters(parameters[format] ?? "")
      // RFC 4585 section 4.2: `*` applies to every format.
      payload.feedback = Array(((feedback[format] ?? []) + (feedback["*"] ?? [])).prefix(SDPLimits.formats))
      return payload
    }
  }
}

/// Static payload types, which need no `rtpmap`, as offered by browsers. RFC 3551 section 6.
private enum StaticPayload {
  static func format(_ number: String) -> PayloadFormat? {
    switch number {
    case "0": PayloadFormat(number: 0, name: "PCMU", clockRate: 8000)
    case "8": PayloadFormat(number: 8, name: "PCMA", clockRate: 8000)
    case "9": PayloadFormat(number: 9, name: "G722", clockRate: 8000)
    case "13": PayloadFormat(number: 13, name: "CN", clockRate: 8000)
    default: nil
    }
  }
}

/// RFC 8839 section 5.4 sets the lengths. Peers use more than its letters, so any visible character passes but the
/// colon, which separates the two fragments of a STUN user name.
public enum ICEText {
  public static func isUfrag(_ text: some StringProtocol) -> Bool { isVisible(text, from: 4) }
  public static func isPassword(_ text: some StringProtocol) -> Bool { isVisible(text, from: 22) }

  private static func isVisible(_ text: some StringProtocol, from least: Int) -> Bool {
    (least...256).contains(text.utf8.count) && text.utf8.allSatisfy { (33...126).contains($0) && $0 != 58 }
  }
}
