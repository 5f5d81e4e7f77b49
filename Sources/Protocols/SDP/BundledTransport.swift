/// Sections that share one transport. RFC 9143.
struct BundledTransport {
  /// The tagged one first; only a single section may lack a mid.
  var sections: [Int]
  /// Whether it comes from a BUNDLE group, which the answer must repeat.
  var isGroup: Bool

  /// The transports of an offer: each BUNDLE group, then each other section by itself, those that are bundle-only last.
  ///
  /// - Throws: `noMedia`.
  static func all(of description: SessionDescription) throws(NegotiationError) -> [BundledTransport] {
    let open = description.media.indices.filter { !description.media[$0].isRejected }
    guard !open.isEmpty else { throw .noMedia }
    var transports: [BundledTransport] = []
    var grouped: Set<Int> = []
    for group in description.bundles {
      var sections: [Int] = []
      for mid in group {
        if let index = open.first(where: { description.media[$0].mid == mid }), grouped.insert(index).inserted {
          sections.append(index)
        }
      }
      if !sections.isEmpty { transports.append(BundledTransport(sections: sections, isGroup: true)) }
    }
    let single = open.filter { !grouped.contains($0) }
    let ordered =
      single.filter { !description.media[$0].isBundleOnly } + single.filter { description.media[$0].isBundleOnly }
    return transports + ordered.map { BundledTransport(sections: [$0], isGroup: false) }
  }

  /// Keeps only the accepted sections. RFC 9143 section 7.3.1: the offerer's tagged section stays tagged if accepted;
  /// otherwise the first that is not bundle-only is.
  mutating func keep(_ accepted: Set<Int>, of description: SessionDescription) {
    sections = sections.filter(accepted.contains)
    if let first = sections.firstIndex(where: { !description.media[$0].isBundleOnly }), first != 0 {
      sections.insert(sections.remove(at: first), at: 0)
    }
  }

  /// The peer's ICE parameters, from the first of its sections that has them, the tagged one by rights; other sections may
  /// have those of transports that bundling makes unused (RFC 9143 section 7.3.2).
  static func remoteICE(
    _ sections: [MediaDescription], of description: SessionDescription
  ) throws(NegotiationError) -> RemoteICE {
    for section in sections {
      guard let ufrag = section.iceUfrag, let pwd = section.icePwd else { continue }
      // Candidates of the same ICE session are of use wherever they stand.
      let same = sections.filter { $0.iceUfrag == ufrag && $0.icePwd == pwd }
      let source = same.first { !$0.candidates.isEmpty } ?? section
      return RemoteICE(
        ufrag: ufrag, pwd: pwd, isLite: description.isICELite,
        // Component 2 is separate RTCP, unused with rtcp-mux; Firefox offers both.
        candidates: source.candidates.filter { $0[...].parts().dropFirst().first == "1" },
        endOfCandidates: source.endOfCandidates)
    }
    throw .noICECredentials(sections.first?.source ?? SourceLine())
  }

  /// The peer's certificate fingerprints. RFC 8122 section 5.1 asks for one with SHA-256, which is what we compute.
  static func fingerprints(_ sections: [MediaDescription]) throws(NegotiationError) -> [Fingerprint] {
    guard let section = sections.first(where: { !$0.fingerprints.isEmpty }) else {
      throw .noFingerprint(sections.first?.source ?? SourceLine())
    }
    guard section.fingerprints.contains(where: { $0.algorithm == "sha-256" && $0.bytes.count == 32 }) else {
      throw .noSHA256Fingerprint(section.fingerprints.first?.source ?? SourceLine())
    }
    return section.fingerprints
  }
}

extension SessionDescription {
  /// With mids for sections that have none, where a BUNDLE group names as many as no section has: in order. RFC 9143
  /// section 7.1.3 asks the offerer for `a=mid`; some write the group alone.
  var withAssignedMIDs: SessionDescription {
    guard let group = bundle else { return self }
    let nameless = media.indices.filter { media[$0].mid == nil && !media[$0].isRejected }
    let unclaimed = group.filter { mid in !media.contains { $0.mid == mid } }
    guard nameless.count == unclaimed.count, Set(unclaimed).count == unclaimed.count else { return self }
    var description = self
    for (index, mid) in zip(nameless, unclaimed) { description.media[index].mid = mid }
    return description
  }

  /// With `rtcp-mux` in all RTP sections of a bundle that has it in one: they share the port. RFC 9143 section 9.3.1.1 leaves it out
  /// of bundle-only sections.
  var withSharedRTCPMux: SessionDescription {
    var description = self
    for group in bundles {
      let sections = media.indices.filter { media[$0].isRTP && media[$0].mid.map(group.contains) ?? false }
      guard sections.contains(where: { media[$0].multiplexesRTCP }) else { continue }
      for index in sections { description.media[index].rtcpMux = true }
    }
    return description
  }
}

extension LocalSession {
  /// One of our sections in use, with everything but its media.
  ///
  /// - Parameter isTagged: Whether the candidates go here. RFC 9143 section 7.1.3 puts credentials and fingerprint only
  ///   here, too, but aiortc and webrtcbin look for them in every section, and browsers write them to each.
  func section(_ template: MediaDescription, setup: SetupRole, isTagged: Bool) -> MediaDescription {
    var section = MediaDescription(
      kind: template.kind, port: 9, transport: template.transport, formats: template.formats)
    section.connection = "IN IP4 0.0.0.0"
    section.mid = template.mid
    section.iceUfrag = iceUfrag
    section.icePwd = icePwd
    section.iceOptions = trickle ? ["trickle"] : []
    section.fingerprints = [Fingerprint(algorithm: "sha-256", bytes: fingerprintSHA256)]
    section.setup = setup
    if isTagged {
      section.candidates = candidates
      section.endOfCandidates = endOfCandidates
    }
    return section
  }

  func description(media: [MediaDescription], bundle: [String]?) -> SessionDescription {
    SessionDescription(
      origin: .init(sessionID: sessionID, version: version),
      groups: bundle.map { [.init(semantics: "BUNDLE", mids: $0)] } ?? [], msidSemantic: "WMS *", media: media)
  }
}

extension LocalMedia {
  /// Stream, sources and their grouping, for a section in which we send. RFC 8830, RFC 5576.
  func describeSources(in section: inout MediaDescription, withRTX: Bool) {
    section.streams = [MediaStreamID(stream: streamID, track: trackID)]
    let ssrcs = [ssrc] + (withRTX ? rtxSSRC.map { [$0] } ?? [] : [])
    if ssrcs.count > 1 { section.sourceGroups = [MediaSourceGroup(semantics: "FID", ssrcs: ssrcs)] }
    section.sources = ssrcs.map { MediaSource(ssrc: $0, attributes: [SDPAttribute(name: "cname", value: cname)]) }
  }
}
