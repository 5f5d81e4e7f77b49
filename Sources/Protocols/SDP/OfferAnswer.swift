/// Offer/answer negotiation: RFC 3264 with the rules of RFC 9429 and RFC 9143. Everything uses one transport. An ICE
/// restart is the same call with new credentials and a higher version in `LocalSession`.
public enum OfferAnswer {
  /// Answers a peer's offer. Unusable sections (a second video, an unknown codec, a separate transport) are rejected
  /// and left out of the bundle; payload types and extension ids are the offerer's. A track that sends and receives may
  /// serve two sections, one for each way.
  ///
  /// - Throws: `NegotiationError` when no session can be negotiated.
  public static func answer(
    _ offer: SessionDescription, with local: LocalSession
  ) throws(NegotiationError) -> (answer: SessionDescription, negotiated: NegotiatedSession) {
    let offer = offer.withAssignedMIDs.withSharedRTCPMux
    let (whole, assignment, dataIndex) = try chooseTransport(of: offer, for: local)
    var transport = whole
    let rejected = offer.media.indices.compactMap { index in
      assignment[index] == nil && index != dataIndex
        ? rejection(
          of: index, offer.media[index], isBundled: whole.sections.contains(index), local,
          beside: assignment.values.flatMap(\.match.answerFormats)) : nil
    }
    transport.keep(Set(assignment.keys).union(dataIndex.map { [$0] } ?? []), of: offer)
    if assignment.isEmpty, let first = rejected.first(where: { $0.reason == .noRTCPMux }) {
      let section = offer.media[first.index]
      throw .noRTCPMux(section.mid ?? String(first.index), section.source)
    }
    guard let tagged = transport.sections.first else { throw nothingInCommon(rejected, offer) }

    // A bundle-only section has nothing of its own, also where the one that speaks for it is rejected.
    let bundled = (transport.sections + whole.sections.filter { !transport.sections.contains($0) }).map {
      offer.media[$0]
    }
    let setup = try answerSetup(bundled.first { $0.setup != nil }, preferring: local.answerSetup)
    var session = NegotiatedSession(
      media: [], dataChannel: nil, rejected: rejected, remoteICE: try BundledTransport.remoteICE(bundled, of: offer),
      remoteFingerprints: try BundledTransport.fingerprints(bundled), weAreDTLSClient: setup == .active,
      midExtensionID: nil, remoteBandwidth: offer.bandwidth)

    var sections: [MediaDescription] = []
    for (index, offered) in offer.media.enumerated() {
      if let assigned = assignment[index] {
        var section = local.section(offered, setup: setup, isTagged: index == tagged)
        section.direction = assigned.direction
        describe(local.media[assigned.local], assigned.match, in: &section, answering: offered)
        sections.append(section)
        session.media.append(
          assigned.match.negotiated(
            index: index, local: assigned.local, direction: section.direction, extensions: section.extensions,
            section: offered, rtcpReducedSize: section.rtcpReducedSize))
      } else if index == dataIndex {
        var section = local.section(offered, setup: setup, isTagged: index == tagged)
        section.formats = ["webrtc-datachannel"]
        section.sctpPort = local.sctpPort
        section.maxMessageSize = local.maxMessageSize
        sections.append(section)
        session.dataChannel = offered.dataChannel(index: index)
      } else {
        sections.append(rejectedSection(offered, local, setup: setup))
      }
    }
    session.findMIDExtension()
    let bundle = transport.sections.compactMap { offer.media[$0].mid }
    return (local.description(media: sections, bundle: transport.isGroup ? bundle : nil), session)
  }

  /// What a section of the offer is answered with.
  private struct Assignment {
    var local: Int
    var match: CodecMatch
    /// As we see it.
    var direction: MediaDirection
  }

  /// The transport that is used, with its sections: the first on which media flows, else the first of any use, else the
  /// offer's first. RFC 9429 section 5.3.1 (max-bundle).
  private static func chooseTransport(
    of offer: SessionDescription, for local: LocalSession
  ) throws(NegotiationError) -> (transport: BundledTransport, media: [Int: Assignment], data: Int?) {
    let choices = try BundledTransport.all(of: offer).map { transport in
      let data = local.sctpPort == nil ? nil : transport.sections.first { offer.media[$0].isDataChannel }
      return (transport: transport, media: assign(local.media, to: offer, among: transport.sections), data: data)
    }
    return choices.first { $0.media.values.contains { $0.direction != .inactive } }
      ?? choices.first { !$0.media.isEmpty || $0.data != nil } ?? choices[0]
  }

  /// Assigns local tracks to sections, each way once. Sections in which media would flow come first, so that separate
  /// talk-back and listening sections each get their own track, or their way of the one that has both.
  private static func assign(
    _ media: [LocalMedia], to offer: SessionDescription, among sections: [Int]
  ) -> [Int: Assignment] {
    var assignment: [Int: Assignment] = [:]
    var free = media.map(\.direction)
    var unused = Set(media.indices)
    for mustFlow in [true, false] {
      for index in sections.sorted() where assignment[index] == nil {
        let offered = offer.media[index]
        guard offered.multiplexesRTCP else { continue }
        for localIndex in media.indices {
          let flow = free[localIndex].intersection(offered.direction.reversed)
          guard mustFlow ? flow != .inactive : unused.contains(localIndex),
            let match = CodecMatch(
              media[localIndex], offered, beside: assignment.values.flatMap(\.match.answerFormats))
          else { continue }
          assignment[index] = Assignment(local: localIndex, match: match, direction: flow)
          free[localIndex] = MediaDirection(
            sends: free[localIndex].sends && !flow.sends, receives: free[localIndex].receives && !flow.receives)
          unused.remove(localIndex)
          break
        }
      }
    }
    return assignment
  }

  /// Why a section is rejected; nil for one that the offerer rejects itself.
  private static func rejection(
    of index: Int, _ offered: MediaDescription, isBundled: Bool, _ local: LocalSession, beside taken: [PayloadFormat]
  ) -> RejectedMedia? {
    guard !offered.isRejected else { return nil }
    let tracks = local.media.filter { $0.kind == offered.kind }
    let taken = isBundled ? taken : []
    let reason: SectionRejection
    if offered.isDataChannel {
      reason = isBundled || local.sctpPort == nil ? .noTrack : .otherTransport
    } else if tracks.isEmpty {
      reason = .noTrack
    } else if !offered.isSecureRTP {
      reason = .unknownTransport(offered.transport)
    } else if !tracks.contains(where: { CodecMatch($0, offered, beside: taken) != nil }) {
      let codecs = tracks.flatMap(\.codecs).filter(\.isPrimary)
      let theirs = offered.codecNames(codecs, beside: taken)
      var ours: [String] = []
      for codec in codecs {
        let encoding = codec.format(number: 0, feedback: []).encoding
        let isAlike = theirs.contains { $0.lowercased().hasPrefix(codec.name.lowercased() + "/") }
        let hasOther = codec.isH264 && theirs.contains { $0.lowercased().hasPrefix("h264 (p") }
        let name =
          isAlike ? encoding : hasOther ? "\(codec.name) (constrained baseline, packetization-mode 1)" : codec.name
        if !ours.contains(name) { ours.append(name) }
      }
      reason = .noCodec(offered: theirs, ours: ours)
    } else {
      reason = !isBundled ? .otherTransport : !offered.multiplexesRTCP ? .noRTCPMux : .noTrack
    }
    return RejectedMedia(index: index, kind: offered.kind, direction: offered.direction, reason: reason)
  }

  private static func nothingInCommon(_ rejected: [RejectedMedia], _ offer: SessionDescription) -> NegotiationError {
    var (offered, ours): ([String], [String]) = ([], [])
    var lines: [SourceLine] = []
    for media in rejected {
      guard case .noCodec(let theirs, let own) = media.reason else { continue }
      offered += theirs.filter { !offered.contains($0) }
      ours += own.filter { !ours.contains($0) }
      let section = offer.media[media.index]
      let maps = section.mediaPayloads.map(\.source).filter { $0.number > 0 }
      lines += !maps.isEmpty ? maps : section.strayMap.number > 0 ? [section.strayMap] : [section.source]
    }
    lines.removeAll { $0.number == 0 }
    return ours.isEmpty ? .nothingInCommon : .noCommonCodec(offered: offered, ours: ours, lines: lines)
  }

  private static func describe(
    _ media: LocalMedia, _ match: CodecMatch, in section: inout MediaDescription, answering offered: MediaDescription
  ) {
    section.payloads = match.answerFormats
    section.formats = section.payloads.map { String($0.number) }
    section.extensions = offered.commonExtensions(media.headerExtensions)
    section.rtcpMux = true
    section.rtcpMuxOnly = offered.rtcpMuxOnly
    section.rtcpReducedSize = offered.rtcpReducedSize
    if section.direction.sends { media.describeSources(in: &section, withRTX: match.rtx != nil) }
  }

  // RFC 3264 section 6: port 0. Of RTP the one format that needs no `rtpmap`: Pion refuses an answer that repeats the offer's
  // dynamic ones without it. The transport's attributes, which RFC 9429 section 5.3.1 leaves out, are those of all sections:
  // webrtcbin refuses an answer with a section that has no fingerprint, aiortc one that has no credentials, or no codec that it
  // knows.
  private static func rejectedSection(
    _ offered: MediaDescription, _ local: LocalSession, setup: SetupRole
  ) -> MediaDescription {
    var section = local.section(offered, setup: setup, isTagged: false)
    let isRTP = offered.isRTP || offered.formats.isEmpty
    section.port = 0
    section.formats = isRTP ? ["0"] : offered.formats
    if offered.isRTP, offered.kind == .audio {
      section.payloads = [PayloadFormat(number: 0, name: "PCMU", clockRate: 8000)]
    }
    section.rtcpMux = offered.isRTP && offered.multiplexesRTCP
    section.direction = .inactive
    return section
  }

  // RFC 8842 section 5.3. An offer without the attribute leaves the choice, as old offers did.
  private static func answerSetup(
    _ section: MediaDescription?, preferring preferred: SetupRole
  ) throws(NegotiationError) -> SetupRole {
    switch section?.setup {
    case nil, .actpass: preferred == .passive ? .passive : .active
    case .active: .passive
    case .passive: .active
    case .holdconn: throw .badSetup(.holdconn, section?.setupSource ?? SourceLine())
    }
  }
}

extension NegotiatedSession {
  mutating func findMIDExtension() {
    midExtensionID = media.lazy.compactMap { $0.headerExtensionIDs[RTPHeaderExtensionURI.mid] }.first
  }
}
