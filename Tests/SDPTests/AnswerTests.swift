import SDP
import TestSupport
import Testing

@Suite struct AnswerTests {
  private func answer(
    _ text: String, _ local: LocalSession = makeLocal()
  ) throws -> (answer: SessionDescription, negotiated: NegotiatedSession) {
    try OfferAnswer.answer(try SessionDescription(parsing: text), with: local)
  }

  @Test(arguments: Offers.names) func everyPeerGetsPictureSoundAndControl(name: String) throws {
    let offer = try Offers.read(name)
    let (answer, session) = try OfferAnswer.answer(offer, with: makeLocal())
    #expect(answer.media.count == offer.media.count)
    #expect(answer.media.map(\.mid) == offer.media.map(\.mid))
    #expect(answer.bundle.map(Set.init) == Set(offer.media.compactMap(\.mid)))
    #expect(answer.media.allSatisfy { $0.port == 9 && $0.setup == .active && $0.iceUfrag == "Crdl" })
    #expect(session.media.count == 2)
    #expect(session.weAreDTLSClient)
    #expect(session.remoteFingerprints.contains { $0.algorithm == "sha-256" })
    #expect(session.dataChannel?.remoteSCTPPort == 5000)
    for media in session.media {
      #expect(media.direction == .sendOnly)
      let offered = try #require(offer.media[media.index].payloads.first { $0.number == media.payloadType })
      #expect(offered.name.lowercased() == (media.kind == .video ? "vp8" : "opus"))
      let written = answer.media[media.index]
      #expect(written.direction == .sendOnly && written.rtcpMux)
      #expect(written.payloads.first?.number == media.payloadType)
      #expect(written.sources.first?.ssrc == (media.kind == .video ? 11 : 21))
      #expect(written.streams == [MediaStreamID(stream: "cot", track: media.kind == .video ? "picture" : "sound")])
      for mapping in written.extensions {
        #expect(offer.media[media.index].extensions.contains { $0.id == mapping.id && $0.uri == mapping.uri })
      }
    }
    #expect(try SessionDescription(parsing: answer.description) == answer)
  }

  /// RFC 5761 section 4: what came with it would be taken for RTCP.
  @Test func aPayloadTypeOfRTCPIsNoCodec() throws {
    let text = smallOffer { $0 = $0.replacing("100", with: "72") }
    let (_, session) = try answer(text)
    #expect(session.media.allSatisfy { $0.kind != .video })
    #expect(session.rejected.first?.reason.description.contains("payload type 72 is RTCP's") == true)
  }

  @Test(arguments: ["offer-chromium-recvonly", "offer-firefox-recvonly", "offer-safari"])
  func browsersGetRetransmissionAndTransportFeedback(name: String) throws {
    let offer = try Offers.read(name)
    let (answer, session) = try OfferAnswer.answer(offer, with: makeLocal())
    let video = try #require(session.media.first { $0.kind == .video })
    let rtx = try #require(video.rtxPayloadType)
    #expect(offer.media[video.index].payloads.first { $0.number == rtx }?.parameters["apt"] == "\(video.payloadType)")
    #expect(video.feedback == [.nack, .pli, .fir, .remb, .transportCC])
    #expect(video.headerExtensionIDs[RTPHeaderExtensionURI.transportWideCC] != nil)
    #expect(video.headerExtensionIDs[RTPHeaderExtensionURI.playoutDelay] != nil)
    #expect(session.midExtensionID == video.headerExtensionIDs[RTPHeaderExtensionURI.mid])
    #expect(session.midExtensionID != nil && video.rtcpReducedSize)
    let written = answer.media[video.index]
    #expect(written.formats == ["\(video.payloadType)", "\(rtx)"])
    #expect(written.sourceGroups == [MediaSourceGroup(semantics: "FID", ssrcs: [11, 12])])
    #expect(written.payloads.last?.parameters.text == "apt=\(video.payloadType)")
  }

  @Test func chromiumGetsRedundantOpus() throws {
    let (answer, session) = try OfferAnswer.answer(try Offers.read("offer-chromium-recvonly"), with: makeLocal())
    let audio = try #require(session.media.first { $0.kind == .audio })
    #expect(audio.payloadType == 111 && audio.redPayloadType == 63)
    let written = answer.media[audio.index]
    #expect(written.formats == ["111", "63"])
    #expect(written.payloads[0].parameters.text == "minptime=10;useinbandfec=1;stereo=0")
    #expect(written.payloads[1].parameters.text == "111/111")
  }

  @Test func aiortcHasNoTransportFeedbackButREMB() throws {
    let (_, session) = try OfferAnswer.answer(try Offers.read("offer-aiortc"), with: makeLocal())
    #expect(session.media[0].feedback == [.nack, .pli, .remb])
    #expect(session.media[0].rtcpReducedSize == false)
    #expect(session.remoteFingerprints.map(\.algorithm) == ["sha-256", "sha-384", "sha-512"])
    #expect(session.remoteICE.endOfCandidates)
  }

  @Test func webrtcbinsOpusWithoutChannelsIsOpus() throws {
    let (answer, session) = try OfferAnswer.answer(try Offers.read("offer-webrtcbin-max-bundle"), with: makeLocal())
    #expect(session.media.map(\.codec.name) == ["VP8", "opus"])
    // Told back as it was said, so that the offerer's own matching finds it.
    #expect(answer.description.contains("a=rtpmap:97 opus/48000\r\n"))
    #expect(answer.media.allSatisfy { !$0.isBundleOnly })
    #expect(answer.media[0].rtcpMuxOnly)
  }

  /// RFC 9429 section 5.3.1: as an answerer of the policy max-bundle.
  @Test func ofSeveralTransportsTheFirstThatIsOfUseIsTaken() throws {
    let offer = try Offers.read("offer-webrtcbin-no-bundle")
    let (answer, session) = try OfferAnswer.answer(offer, with: makeLocal())
    #expect(answer.media.map(\.port) == [9, 0, 0] && answer.groups.isEmpty)
    #expect(session.remoteICE.ufrag == offer.media[0].iceUfrag)
    #expect(session.remoteICE.candidates == offer.media[0].candidates)
    #expect(session.rejected.map(\.reason) == [.otherTransport, .otherTransport])
    #expect("\(SectionRejection.otherTransport)".contains("bundle-policy=max-bundle"))
    // A picture that this end cannot send is no reason to leave the sound out.
    let text = smallOffer { $0 = $0.replacing("a=group", with: "a=x").replacing("VP8", with: "H264") }
    let (sound, heard) = try self.answer(text)
    #expect(sound.media.map(\.port) == [0, 9, 0] && heard.media.map(\.kind) == [.audio])
    #expect(heard.rejected.map(\.reason) == [.noCodec(offered: ["H264"], ours: ["VP8"]), .otherTransport])
  }

  @Test func firefoxComponentTwoCandidatesAreLeftOut() throws {
    let offer = try Offers.read("offer-firefox-talkback")
    let (_, session) = try OfferAnswer.answer(offer, with: makeLocal())
    #expect(offer.media[0].candidates.count == 8 && session.remoteICE.candidates.count == 4)
  }

  @Test func candidatesComeOnceInTheTaggedSection() throws {
    let (answer, _) = try answer(smallOffer())
    #expect(answer.media.map(\.candidates.count) == [1, 0, 0])
    #expect(answer.media.map(\.endOfCandidates) == [true, false, false])
  }

  @Test(
    arguments: [
      (.sendReceive, .sendOnly, .sendOnly), (.receiveOnly, .sendOnly, .sendOnly), (.sendOnly, .sendOnly, .inactive),
      (.inactive, .sendOnly, .inactive), (.sendReceive, .sendReceive, .sendReceive),
      (.sendOnly, .sendReceive, .receiveOnly), (.receiveOnly, .sendReceive, .sendOnly),
      (.receiveOnly, .receiveOnly, .inactive), (.sendReceive, .receiveOnly, .receiveOnly),
    ] as [(MediaDirection, MediaDirection, MediaDirection)])
  func directionsIntersect(offered: MediaDirection, ours: MediaDirection, result: MediaDirection) throws {
    var offer = try SessionDescription(parsing: smallOffer())
    offer.media[1].direction = offered
    let (answer, session) = try OfferAnswer.answer(offer, with: makeLocal(talk: ours))
    #expect(answer.media[1].direction == result)
    #expect(session.media[1].direction == result)
    #expect(answer.media[1].streams.isEmpty == !result.sends)
  }

  @Test(
    arguments: [
      ("actpass", .active, "active", true), ("actpass", .passive, "passive", false),
      ("active", .active, "passive", false), ("passive", .passive, "active", true),
    ] as [(String, SetupRole, String, Bool)])
  func dtlsRolesFitTogether(offered: String, preferred: SetupRole, answered: String, client: Bool) throws {
    let text = smallOffer { $0 = $0.replacing("setup:actpass", with: "setup:" + offered) }
    let (answer, session) = try answer(text, makeLocal(setup: preferred))
    #expect(answer.media.allSatisfy { $0.setup?.rawValue == answered })
    #expect(session.weAreDTLSClient == client)
  }

  @Test func aSecondVideoIsRejectedOutsideTheBundle() throws {
    let second = "m=video 9 UDP/TLS/RTP/SAVPF 100\na=mid:w\na=recvonly\na=rtcp-mux\na=rtpmap:100 VP8/90000\n"
    let (answer, session) = try answer(smallOffer { $0 = $0.replacing("v a d", with: "v a d w") + second })
    #expect(answer.media.map(\.port) == [9, 9, 9, 0])
    #expect(answer.media[3].mid == "w" && answer.media[3].formats == ["0"])
    #expect(session.rejected.map(\.reason) == [.noTrack])
    #expect(answer.bundle == ["v", "a", "d"])
    #expect(session.media.map(\.index) == [0, 1])
  }

  @Test func anUnknownCodecIsRejectedAndTheTagMoves() throws {
    let (answer, session) = try answer(smallOffer { $0 = $0.replacing("VP8", with: "H264") })
    #expect(answer.media.map(\.port) == [0, 9, 9])
    #expect(answer.bundle == ["a", "d"])
    #expect(answer.media[1].candidates.count == 1)
    #expect(session.media.map(\.kind) == [.audio])
    #expect(session.rejected.map(\.reason.description) == ["its offer has H264, not VP8"])
  }

  @Test func sectionsOutsideTheGroupAreRejected() throws {
    let (answer, session) = try answer(smallOffer { $0 = $0.replacing("BUNDLE v a d", with: "BUNDLE a v") })
    #expect(answer.media.map(\.port) == [9, 9, 0])
    #expect(answer.bundle == ["a", "v"])
    #expect(answer.media[1].candidates.count == 1)
    #expect(session.dataChannel == nil)
  }

  @Test func applicationsOtherThanDataChannelsAreRejected() throws {
    for other in ["m=application 9 UDP/DTLS/SCTP other", "m=application 9 UDP/BFCP webrtc-datachannel"] {
      let text = smallOffer { $0 = $0.replacing("m=application 9 UDP/DTLS/SCTP webrtc-datachannel", with: other) }
      let (answer, session) = try answer(text)
      #expect(answer.media[2].port == 0 && session.dataChannel == nil)
    }
  }

  @Test func aSectionTheOffererRejectedStaysRejected() throws {
    let (answer, _) = try answer(smallOffer { $0 = $0.replacing("m=video 9", with: "m=video 0") })
    #expect(answer.media.map(\.port) == [0, 9, 9])
    #expect(answer.bundle == ["a", "d"])
  }

  @Test func oneSectionNeedsNoBundle() throws {
    let text = smallOffer {
      $0 = $0.replacing("a=group:BUNDLE v a d\n", with: "").replacing("m=audio 9", with: "m=audio 0")
        .replacing("m=application 9", with: "m=application 0").replacing("a=mid:v\n", with: "")
    }
    let (answer, session) = try answer(text)
    #expect(answer.groups.isEmpty && answer.media.map(\.port) == [9, 0, 0])
    #expect(session.media.map(\.mid) == [""])
  }

  @Test func separateTalkAndListenSectionsFindTheirTracks() throws {
    var local = makeLocal(talk: .receiveOnly)
    var listen = local.media[1]
    listen.direction = .sendOnly
    listen.ssrc = 31
    local.media.append(listen)
    let second = "m=audio 9 UDP/TLS/RTP/SAVPF 96\na=mid:t\na=sendonly\na=rtcp-mux\na=rtpmap:96 opus/48000/2\n"
    let (answer, session) = try answer(smallOffer { $0 = $0.replacing("v a d", with: "v a d t") + second }, local)
    #expect(answer.media.map(\.direction) == [.sendOnly, .sendOnly, .sendReceive, .receiveOnly])
    #expect(session.media.map(\.local) == [0, 2, 1])
  }

  /// A microphone of a section of its own, before or after the one for listening; one track of ours has both ways.
  @Test(
    arguments: [
      (["sendonly", "recvonly"], [.receiveOnly, .sendOnly]), (["recvonly", "sendonly"], [.sendOnly, .receiveOnly]),
      (["recvonly", "sendrecv"], [.sendOnly, .receiveOnly]), (["sendrecv", "recvonly"], [.sendReceive, .inactive]),
    ]
      as [([String], [MediaDirection])])
  func oneTrackServesASectionForEachWay(offered: [String], answered: [MediaDirection]) throws {
    let text = smallOffer {
      $0 =
        $0.replacing("v a d", with: "v a d t").replacing(
          "a=mid:a\na=setup:actpass\na=recvonly", with: "a=mid:a\na=\(offered[0])")
        + "m=audio 9 UDP/TLS/RTP/SAVPF 96\na=mid:t\na=\(offered[1])\na=rtcp-mux\na=rtpmap:96 opus/48000/2\n"
    }
    let (answer, session) = try answer(text, makeLocal(talk: .sendReceive))
    #expect([answer.media[1].direction, answer.media[3].direction] == answered)
    #expect(answer.media.map(\.port) == [9, 9, 9, answered[1] == .inactive ? 0 : 9])
    #expect(answer.media.filter { $0.port != 0 }.allSatisfy { $0.iceUfrag == "Crdl" })
    let audio = session.media.filter { $0.kind == .audio }
    #expect(audio.count { $0.direction.sends } == 1 && audio.count { $0.direction.receives } == 1)
    #expect(audio.allSatisfy { $0.local == 1 })
    #expect(answer.media.flatMap(\.sources).count { $0.ssrc == 21 } == 1)
  }

  /// They share a port: what one section of a bundle says of RTCP holds for all. A map of a format that nobody uses may be odd.
  @Test(arguments: ["v", "a"])
  func aBundleSaysOnceThatItMultiplexesRTCP(only mid: String) throws {
    let text = smallOffer {
      $0 = $0.replacing("a=rtcp-mux\n", with: "").replacing("a=mid:\(mid)\n", with: "a=mid:\(mid)\na=rtcp-mux\n")
        .replacing("100 101", with: "100 101 97").replacing("a=recvonly", with: "a=rtpmap:97 H264\na=recvonly")
    }
    let (answer, session) = try answer(text)
    #expect(session.rejected == [] && answer.media.map(\.port) == [9, 9, 9])
    #expect(answer.media.map(\.rtcpMux) == [true, true, false])
  }

  @Test func dataChannelDefaultsFollowTheRFC() throws {
    #expect(try answer(smallOffer()).negotiated.dataChannel?.remoteMaxMessageSize == 65536)
    #expect(try answer(smallOffer()).negotiated.dataChannel?.remoteSCTPPort == 5001)
    let any = try answer(smallOffer { $0 += "a=max-message-size:0\n" })
    #expect(any.negotiated.dataChannel?.remoteMaxMessageSize == .max)
    #expect(any.answer.media[2].maxMessageSize == 262_144 && any.answer.media[2].sctpPort == 5000)
  }

  @Test func onlyOneByteExtensionIdsAreTakenAndTurned() throws {
    let text = smallOffer {
      $0 = $0.replacing(
        "a=mid:v\n",
        with: "a=mid:v\na=extmap:15 \(RTPHeaderExtensionURI.mid)\n"
          + "a=extmap:3/sendonly \(RTPHeaderExtensionURI.absSendTime)\n"
          + "a=extmap:4/inactive \(RTPHeaderExtensionURI.playoutDelay)\n")
    }
    let (answer, session) = try answer(text)
    #expect(session.media[0].headerExtensionIDs == [RTPHeaderExtensionURI.absSendTime: 3])
    #expect(answer.media[0].extensions.map(\.direction) == [.receiveOnly])
  }

  @Test func whatCannotBecomeASessionIsNamed() throws {
    let cases: [(NegotiationError, (inout String) -> Void)] = [
      (.noFingerprint(SourceLine()), { $0 = $0.replacing("a=fingerprint", with: "a=x") }),
      (.noSHA256Fingerprint(SourceLine()), { $0 = $0.replacing("sha-256", with: "sha-1") }),
      (.noICECredentials(SourceLine()), { $0 = $0.replacing("a=ice-ufrag", with: "a=x") }),
      (.noRTCPMux("v", SourceLine()), { $0 = $0.replacing("a=rtcp-mux", with: "a=x") }),
      (.badSetup(.holdconn, SourceLine()), { $0 = $0.replacing("actpass", with: "holdconn") }),
      (
        .nothingInCommon,
        {
          $0 = $0.replacing("m=video", with: "m=text").replacing("m=audio", with: "m=x").replacing("-datach", with: "")
        }
      ),
      (.noMedia, { $0 = String($0[..<$0.firstRange(of: "m=")!.lowerBound]) }),
      (
        .noCommonCodec(offered: ["X", "Y"], ours: ["VP8", "opus"], lines: [SourceLine(), SourceLine()]),
        { $0 = $0.replacing("VP8", with: "X").replacing("opus", with: "Y").replacing("-datach", with: "") }
      ),
    ]
    for (expected, edit) in cases {
      let offer = try SessionDescription(parsing: smallOffer(edit))
      #expect(throws: expected) { try OfferAnswer.answer(offer, with: makeLocal()) }
      #expect(!expected.description.isEmpty)
    }
  }
}
