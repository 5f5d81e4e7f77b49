/// The codec that a media section and a local track share, with its RTX and RED formats.
struct CodecMatch {
  var codec: RTPCodec
  /// The peer's description of the codec; its payload type is used in both directions.
  var format: PayloadFormat
  var rtx: PayloadFormat?
  var red: PayloadFormat?
  /// RFC 4585 section 4.2: only the types that both sides list.
  var feedback: [String]

  /// Picks our first codec that the section has; nil if there is none.
  ///
  /// - Parameter taken: the formats of other sections on the same transport. RFC 9143 section 9.1: a payload type is one codec there.
  init?(_ local: LocalMedia, _ section: MediaDescription, beside taken: [PayloadFormat] = []) {
    guard section.kind == local.kind, section.isSecureRTP else { return nil }
    let payloads = section.payloads.filter { !section.isRTCP($0.number) && $0.clash(with: taken) == nil }
    for codec in local.codecs where codec.isPrimary {
      guard let format = codec.choice(among: payloads) else { continue }
      self.codec = codec
      self.format = format
      feedback = codec.feedback.filter { ours in
        format.feedback.contains { $0.lowercased() == ours.lowercased() }
      }
      // RFC 4588 section 8.6: apt is the payload type that is retransmitted.
      if let helper = local.codecs.first(where: \.isRetransmission) {
        rtx = payloads.first {
          $0.name.lowercased() == helper.name.lowercased() && $0.clockRate == format.clockRate
            && $0.parameters["apt"] == String(format.number)
        }
      }
      // RFC 2198 section 5: the payload types of the blocks, separated by slashes.
      if let helper = local.codecs.first(where: \.isRedundancy) {
        red = payloads.first { candidate in
          let blocks = candidate.parameters.text[...].parts(47)
          return helper.matches(candidate) && !blocks.isEmpty && blocks.allSatisfy { $0 == String(format.number) }
        }
      }
      return
    }
    return nil
  }

  /// The formats of our answer: the peer's payload types, our parameters.
  var answerFormats: [PayloadFormat] {
    var formats = [
      codec.format(number: format.number, parameters: codec.answerParameters(for: format), feedback: feedback)
    ]
    formats[0].channels = format.channels
    if var red {
      red.feedback = []
      formats.append(red)
    }
    if var rtx {
      rtx.parameters = FormatParameters("apt=\(format.number)")
      rtx.feedback = []
      formats.append(rtx)
    }
    return formats
  }

  /// - Parameters:
  ///   - extensions: those that both sides agreed on.
  ///   - section: the peer's.
  func negotiated(
    index: Int, local: Int, direction: MediaDirection, extensions: [ExtensionMapping], section: MediaDescription,
    rtcpReducedSize: Bool
  ) -> NegotiatedMedia {
    var ids: [String: UInt8] = [:]
    for mapping in extensions { ids[mapping.uri] = UInt8(exactly: mapping.id) }
    var ssrcs = section.sourceGroups.first { $0.semantics == "FID" }?.ssrcs ?? []
    for source in section.sources where !ssrcs.contains(source.ssrc) { ssrcs.append(source.ssrc) }
    return NegotiatedMedia(
      index: index, local: local, mid: section.mid ?? "", kind: section.kind, direction: direction,
      payloadType: format.number, codec: codec, remoteParameters: format.parameters, rtxPayloadType: rtx?.number,
      redPayloadType: red?.number, feedback: NegotiatedFeedback(feedback), headerExtensionIDs: ids, remoteSSRCs: ssrcs,
      rtcpReducedSize: rtcpReducedSize, remoteBandwidth: section.bandwidth)
  }
}

extension MediaDescription {
  /// Names of the codecs that carry media themselves, each once, as written; for an unusable one, why.
  func codecNames(_ ours: [RTPCodec], beside taken: [PayloadFormat]) -> [String] {
    var seen: Set<String> = []
    return mediaPayloads.filter { seen.insert($0.name.lowercased()).inserted }
      .map { format in
        let name = SourceLine.shown(format.name)
        if isRTCP(format.number) { return "\(name) (its payload type \(format.number) is RTCP's)" }
        if let other = format.clash(with: taken) {
          return
            "\(name) (its payload type \(format.number) is that of \(SourceLine.shown(other.name)) in the same bundle)"
        }
        guard let own = ours.first(where: { $0.isNamed(format.name) }) else { return name }
        // Of another clock rate or number of channels.
        return own.isH264 && own.clockRate == format.clockRate
          ? "\(name) (\(H264Format.problem(format.parameters)))" : SourceLine.shown(format.encoding)
      }
  }

  /// Those that carry media themselves.
  var mediaPayloads: [PayloadFormat] {
    let helpers: Set = ["rtx", "red", "ulpfec", "flexfec-03", "flexfec", "cn", "telephone-event"]
    return payloads.filter { !helpers.contains($0.name.lowercased()) }
  }

  /// RFC 5761 section 4: where RTP and RTCP share a port, packets with these payload types are taken for RTCP.
  func isRTCP(_ payloadType: UInt8) -> Bool { multiplexesRTCP && (64...95).contains(payloadType) }

  /// The offered extensions listed in `uris`, with the offerer's ids and the direction as seen by the answerer (RFC
  /// 8285 section 7). Ids above 14 need two-byte headers, which we do not write, so those are left out.
  func commonExtensions(_ uris: [String]) -> [ExtensionMapping] {
    var used = Set<UInt16>()
    return uris.compactMap { uri in
      guard
        let offered = extensions.first(where: {
          $0.uri == uri && (1...14).contains($0.id) && $0.direction != .inactive
        }), used.insert(offered.id).inserted
      else { return nil }
      return ExtensionMapping(id: offered.id, direction: offered.direction?.reversed, uri: uri)
    }
  }

  /// The peer's data channel limits. RFC 8841 section 6.1: messages of up to 64 KiB by default; 0 means any size.
  func dataChannel(index: Int) -> NegotiatedDataChannel {
    let size = maxMessageSize ?? 65536
    return NegotiatedDataChannel(
      index: index, mid: mid ?? "", remoteSCTPPort: sctpPort ?? 5000,
      remoteMaxMessageSize: size == 0 ? .max : Int(clamping: size))
  }
}

extension PayloadFormat {
  /// Another codec with the same payload type.
  func clash(with others: [PayloadFormat]) -> PayloadFormat? {
    others.first {
      $0.number == number && ($0.name.lowercased() != name.lowercased() || $0.clockRate != clockRate)
    }
  }

  /// `opus/48000/2`, as in an `rtpmap` line.
  var encoding: String { "\(name)/\(clockRate)" + (channels.map { "/\($0)" } ?? "") }
}
