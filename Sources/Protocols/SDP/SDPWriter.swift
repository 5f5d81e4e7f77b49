extension SessionDescription: CustomStringConvertible {
  /// The description as text, lines ended by CRLF. Reading it back gives an equal description.
  public var description: String {
    var text = SDPText()
    text.line("v", "0")
    text.line("o", "\(origin.username) \(origin.sessionID) \(origin.version) \(origin.address)")
    text.line("s", name)
    for line in bandwidth.lines { text.line("b", line) }
    text.line("t", "0 0")
    for group in groups { text.attribute("group", ([group.semantics] + group.mids).joined(separator: " ")) }
    if isICELite { text.attribute("ice-lite") }
    if allowsMixedExtensions { text.attribute("extmap-allow-mixed") }
    if let msidSemantic { text.attribute("msid-semantic", msidSemantic) }
    for attribute in attributes { text.attribute(attribute) }
    for section in media { section.write(to: &text) }
    return text.text
  }
}

/// SDP lines under construction.
private struct SDPText {
  var text = ""

  mutating func line(_ type: String, _ value: String) {
    text += type
    text += "="
    text += value
    text += "\r\n"
  }

  mutating func attribute(_ name: String, _ value: String? = nil) {
    text += "a="
    text += name
    if let value {
      text += ":"
      text += value
    }
    text += "\r\n"
  }

  mutating func attribute(_ attribute: SDPAttribute) {
    self.attribute(attribute.name, attribute.value)
  }
}

extension MediaDescription {
  fileprivate func write(to text: inout SDPText) {
    text.line("m", (["\(kind.name) \(port) \(transport)"] + formats).joined(separator: " "))
    if let connection { text.line("c", connection) }
    for line in bandwidth.lines { text.line("b", line) }
    writeTransport(to: &text)
    if let mid { text.attribute("mid", mid) }
    for mapping in extensions { text.attribute("extmap", mapping.text) }
    if allowsMixedExtensions { text.attribute("extmap-allow-mixed") }
    // Data channels have no direction; there the attribute would only be noise.
    if kind != .application || direction != .sendReceive { text.attribute(direction.rawValue) }
    for stream in streams {
      text.attribute("msid", stream.track.map { "\(stream.stream) \($0)" } ?? stream.stream)
    }
    if rtcpMux { text.attribute("rtcp-mux") }
    if rtcpMuxOnly { text.attribute("rtcp-mux-only") }
    if rtcpReducedSize { text.attribute("rtcp-rsize") }
    for payload in payloads { payload.write(to: &text) }
    for group in sourceGroups {
      text.attribute("ssrc-group", ([group.semantics] + group.ssrcs.map(String.init)).joined(separator: " "))
    }
    for source in sources { source.write(to: &text) }
    if let sctpPort { text.attribute("sctp-port", String(sctpPort)) }
    if let maxMessageSize { text.attribute("max-message-size", String(maxMessageSize)) }
    for attribute in attributes { text.attribute(attribute) }
  }

  private func writeTransport(to text: inout SDPText) {
    for candidate in candidates { text.line("a", candidate) }
    if endOfCandidates { text.attribute("end-of-candidates") }
    if let iceUfrag { text.attribute("ice-ufrag", iceUfrag) }
    if let icePwd { text.attribute("ice-pwd", icePwd) }
    if !iceOptions.isEmpty { text.attribute("ice-options", iceOptions.joined(separator: " ")) }
    for fingerprint in fingerprints { text.attribute("fingerprint", fingerprint.text) }
    if let setup { text.attribute("setup", setup.rawValue) }
    if isBundleOnly { text.attribute("bundle-only") }
  }
}

extension PayloadFormat {
  fileprivate func write(to text: inout SDPText) {
    text.attribute("rtpmap", "\(number) \(name)/\(clockRate)" + (channels.map { "/\($0)" } ?? ""))
    for type in feedback { text.attribute("rtcp-fb", "\(number) \(type)") }
    if !parameters.isEmpty { text.attribute("fmtp", "\(number) \(parameters.text)") }
  }
}

extension ExtensionMapping {
  fileprivate var text: String {
    "\(id)" + (direction.map { "/" + $0.rawValue } ?? "") + " " + uri + (attributes.map { " " + $0 } ?? "")
  }
}

extension MediaSource {
  fileprivate func write(to text: inout SDPText) {
    if attributes.isEmpty { text.attribute("ssrc", String(ssrc)) }
    for attribute in attributes {
      text.attribute("ssrc", "\(ssrc) \(attribute.name)" + (attribute.value.map { ":" + $0 } ?? ""))
    }
  }
}
