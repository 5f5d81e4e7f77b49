/// Offer/answer negotiation: RFC 3264 with the rules of RFC 9429 and RFC 9143. Everything uses one transport. An ICE
/// restart is the same call with new credentials and a higher version in `LocalSession`.
public enum OfferAnswer {
  /// Answers a peer's offer. Unusable sections (a second video, an unknown codec, a separate transport) are rejected
  /// and left out of the bundle; payload types and extension ids are the offerer's.
  ///
  /// - Throws: `NegotiationError` when no session can be negotiated.
  public static func answer(
    _ offer: SessionDescription, with local: LocalSession
  ) throws(NegotiationError) -> (answer: SessionDescription, negotiated: NegotiatedSession) {
    var transport = try BundledTransport(offer)
    let assignment = assign(local.media, to: offer, among: transport.sections)
    let dataIndex = local.sctpPort == nil ? nil : transport.sections.first { offer.media[$0].isDataChannel }
    let accepted = Set(assignment.keys).union(dataIndex.map { [$0] } ?? [])
    transport.keep(accepted, of: offer)
    guard let tagged = transport.sections.first else { throw .nothingInCommon }

    let setup = try answerSetup(offer.media[tagged].setup, preferring: local.answerSetup)
    var session = NegotiatedSession(
      media: [], dataChannel: nil, remoteICE: try BundledTransport.remoteICE(offer.media[tagged], of: offer),
      remoteFingerprints: try BundledTransport.fingerprints(offer.media[tagged]), weAreDTLSClient: setup == .active,
      midExtensionID: nil)

    var sections: [MediaDescription] = []
    for (index, offered) in offer.media.enumerated() {
      if let (localIndex, match) = assignment[index] {
        guard offered.rtcpMux else { throw .noRTCPMux(offered.mid ?? String(index)) }
        let media = local.media[localIndex]
        var section = local.section(offered, setup: setup, isTagged: index == tagged)
        describe(media, match, in: &section, answering: offered)
        sections.append(section)
        session.media.append(
          match.negotiated(
            index: index, local: localIndex, direction: section.direction, extensions: section.extensions,
            section: offered, rtcpReducedSize: section.rtcpReducedSize))
      } else if index == dataIndex {
        var section = local.section(offered, setup: setup, isTagged: index == tagged)
        section.formats = ["webrtc-datachannel"]
        section.sctpPort = local.sctpPort
        section.maxMessageSize = local.maxMessageSize
        sections.append(section)
        session.dataChannel = offered.dataChannel(index: index)
      } else {
        sections.append(rejection(of: offered))
      }
    }
    session.findMIDExtension()
    let bundle = transport.sections.compactMap { offer.media[$0].mid }
    return (local.description(media: sections, bundle: transport.isGroup ? bundle : nil), session)
  }

  /// Assigns local tracks to sections. Sections in which media would flow come first, so that separate talk-back and
  /// listening sections each get their own track.
  private static func assign(
    _ media: [LocalMedia], to offer: SessionDescription, among sections: [Int]
  ) -> [Int: (local: Int, match: CodecMatch)] {
    var assignment: [Int: (local: Int, match: CodecMatch)] = [:]
    var free = Array(media.indices)
    for mustFlow in [true, false] {
      for index in sections.sorted() where assignment[index] == nil {
        let offered = offer.media[index]
        for (position, localIndex) in free.enumerated() {
          let flow = media[localIndex].direction.intersection(offered.direction.reversed)
          guard !mustFlow || flow != .inactive, let match = CodecMatch(media[localIndex], offered) else { continue }
          assignment[index] = (localIndex, match)
          free.remove(at: position)
          break
        }
      }
    }
    return assignment
  }

  private static func describe(
    _ media: LocalMedia, _ match: CodecMatch, in section: inout MediaDescription, answering offered: MediaDescription
  ) {
    section.payloads = match.answerFormats
    section.formats = section.payloads.map { String($0.number) }
    section.direction = media.direction.intersection(offered.direction.reversed)
    section.extensions = offered.commonExtensions(media.headerExtensions)
    section.rtcpMux = true
    section.rtcpMuxOnly = offered.rtcpMuxOnly
    section.rtcpReducedSize = offered.rtcpReducedSize
    if section.direction.sends { media.describeSources(in: &section, withRTX: match.rtx != nil) }
  }

  // RFC 3264 section 6: port 0, and the formats mean nothing; RFC 9429 section 5.3.1 leaves the rest out.
  private static func rejection(of offered: MediaDescription) -> MediaDescription {
    var section = MediaDescription(
      kind: offered.kind, port: 0, transport: offered.transport, formats: offered.formats)
    section.connection = "IN IP4 0.0.0.0"
    section.mid = offered.mid
    section.direction = .inactive
    return section
  }

  // RFC 8842 section 5.3. An offer without the attribute leaves the choice, as old offers did.
  private static func answerSetup(
    _ offered: SetupRole?, preferring preferred: SetupRole
  ) throws(NegotiationError) -> SetupRole {
    switch offered {
    case nil, .actpass: preferred == .passive ? .passive : .active
    case .active: .passive
    case .passive: .active
    case .holdconn: throw .badSetup(.holdconn)
    }
  }
}

extension NegotiatedSession {
  mutating func findMIDExtension() {
    midExtensionID = media.lazy.compactMap { $0.headerExtensionIDs[RTPHeaderExtensionURI.mid] }.first
  }
}
