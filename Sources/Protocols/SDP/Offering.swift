extension OfferAnswer {
  /// Our own offer: one section for each of `LocalSession.media`, in order, then the data channel section. All on one
  /// transport from the start.
  ///
  /// - Parameter wantsDataChannel: Has an effect only while `LocalSession.sctpPort` is set.
  public static func offer(_ local: LocalSession, wantsDataChannel: Bool) -> SessionDescription {
    let ids = extensionIDs(local.media)
    var sections: [MediaDescription] = []
    for media in local.media {
      var template = MediaDescription(kind: media.kind, port: 9, transport: "UDP/TLS/RTP/SAVPF", formats: [])
      template.mid = String(sections.count)
      // RFC 8842 section 5.2: an offer leaves the DTLS role open.
      var section = local.section(template, setup: .actpass, isTagged: sections.isEmpty)
      section.payloads = formats(media)
      section.formats = section.payloads.map { String($0.number) }
      section.direction = media.direction
      section.extensions = media.headerExtensions.compactMap { uri in
        ids[uri].map { ExtensionMapping(id: $0, uri: uri) }
      }
      section.rtcpMux = true
      section.rtcpMuxOnly = true
      section.rtcpReducedSize = true
      if media.direction.sends {
        media.describeSources(in: &section, withRTX: media.codecs.contains(where: \.isRetransmission))
      }
      sections.append(section)
    }
    if wantsDataChannel, let port = local.sctpPort {
      var template = MediaDescription(
        kind: .application, port: 9, transport: "UDP/DTLS/SCTP", formats: ["webrtc-datachannel"])
      template.mid = String(sections.count)
      var section = local.section(template, setup: .actpass, isTagged: sections.isEmpty)
      section.sctpPort = port
      section.maxMessageSize = local.maxMessageSize
      sections.append(section)
    }
    return local.description(media: sections, bundle: sections.compactMap(\.mid))
  }

  /// Applies the peer's answer to our offer.
  ///
  /// - Parameters:
  ///   - offer: The result of `offer(_:wantsDataChannel:)`.
  ///   - local: The session that the offer was made from.
  /// - Throws: `NegotiationError`.
  public static func accept(
    _ answer: SessionDescription, for offer: SessionDescription, with local: LocalSession
  ) throws(NegotiationError) -> NegotiatedSession {
    try checkShape(answer, offer)
    var answer = answer
    // Sections are known by their order; some answerers name the mids in the group alone.
    for index in answer.media.indices where answer.media[index].mid == nil {
      answer.media[index].mid = offer.media[index].mid
    }
    let accepted = answer.media.indices.filter { answer.media[$0].port != 0 }
    guard !accepted.isEmpty else { throw .nothingInCommon }
    let transport = try transportSections(answer, accepted).map { answer.media[$0] }
    var session = NegotiatedSession(
      media: [], dataChannel: nil, rejected: [],
      remoteICE: try BundledTransport.remoteICE(transport, of: answer),
      remoteFingerprints: try BundledTransport.fingerprints(transport),
      weAreDTLSClient: try weAreClient(transport.first { $0.setup != nil }), midExtensionID: nil,
      remoteBandwidth: answer.bandwidth)
    for index in accepted {
      let section = answer.media[index]
      if section.isDataChannel {
        session.dataChannel = section.dataChannel(index: index)
        continue
      }
      guard local.media.indices.contains(index), let match = CodecMatch(local.media[index], section) else {
        throw .answerDoesNotFit("section \(index) has no codec of the offer")
      }
      guard section.multiplexesRTCP else { throw .noRTCPMux(section.mid ?? String(index), section.source) }
      let offered = offer.media[index]
      // RFC 8285 section 7: an answer keeps the offered id or leaves the extension out.
      let extensions = section.commonExtensions(local.media[index].headerExtensions).filter { mapping in
        offered.extensions.contains { $0.uri == mapping.uri && $0.id == mapping.id }
      }
      session.media.append(
        match.negotiated(
          index: index, local: index, direction: offered.direction.intersection(section.direction.reversed),
          extensions: extensions, section: section, rtcpReducedSize: section.rtcpReducedSize))
    }
    session.findMIDExtension()
    return session
  }

  // RFC 3264 section 6: the same number of sections, of the same kinds, in the same order.
  private static func checkShape(_ answer: SessionDescription, _ offer: SessionDescription) throws(NegotiationError) {
    guard answer.media.count == offer.media.count else {
      throw .answerDoesNotFit("\(answer.media.count) sections for \(offer.media.count)")
    }
    for (index, (answered, offered)) in zip(answer.media, offer.media).enumerated() {
      guard answered.kind == offered.kind else {
        throw .answerDoesNotFit("section \(index) is \(answered.kind.name), not \(offered.kind.name)")
      }
      guard answered.port == 0 || answered.mid == nil || answered.mid == offered.mid else {
        throw .answerDoesNotFit("section \(index) has another mid")
      }
    }
  }

  /// The sections that describe the one transport: those that are accepted, in the order of their group, the tagged one first
  /// by rights (RFC 9143 section 7.3.1). Some answerers leave rejected ones in the group, and what they say of the transport
  /// stands there alone.
  private static func transportSections(
    _ answer: SessionDescription, _ accepted: [Int]
  ) throws(NegotiationError) -> [Int] {
    let grouped = (answer.bundle ?? []).compactMap { mid in answer.media.firstIndex { $0.mid == mid } }
    let others = grouped.filter { !accepted.contains($0) }
    if accepted.count == 1 { return accepted + others }
    guard accepted.allSatisfy(grouped.contains) else { throw .noBundle }
    return grouped.filter(accepted.contains) + others
  }

  // RFC 8842 section 5.3: the answer decides. Without the attribute the answerer is active.
  private static func weAreClient(_ section: MediaDescription?) throws(NegotiationError) -> Bool {
    switch section?.setup {
    case nil, .active: false
    case .passive: true
    case .actpass, .holdconn:
      throw .badSetup(section?.setup ?? .holdconn, section?.setupSource ?? SourceLine())
    }
  }

  /// One id per URI in the whole session, as a shared transport requires. RFC 9143 section 9.1 by way of RFC 8285.
  private static func extensionIDs(_ media: [LocalMedia]) -> [String: UInt16] {
    var ids: [String: UInt16] = [:]
    for uri in media.flatMap(\.headerExtensions) where ids[uri] == nil && ids.count < 14 {
      ids[uri] = UInt16(ids.count + 1)
    }
    return ids
  }

  private static func formats(_ media: LocalMedia) -> [PayloadFormat] {
    let first = media.codecs.first(where: \.isPrimary)?.preferredPayloadType
    return media.codecs.map { codec in
      var parameters = codec.parameters
      if parameters.isEmpty, let first {
        if codec.isRetransmission { parameters = FormatParameters("apt=\(first)") }
        if codec.isRedundancy { parameters = FormatParameters("\(first)/\(first)") }
      }
      return codec.format(number: codec.preferredPayloadType, parameters: parameters, feedback: codec.feedback)
    }
  }
}
