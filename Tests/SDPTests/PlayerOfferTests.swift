import SDP
import TestSupport
import Testing

/// Offers as players write them: what is odd but harmless is answered.
@Suite struct PlayerOfferTests {
  /// Edits to `smallOffer` that change nothing of what the answer has to be.
  static let harmless: [(String, @Sendable (inout String) -> Void)] = [
    ("an empty fmtp", { $0 = $0.replacing("a=fmtp:101 apt=100", with: "a=fmtp:101 apt=100\na=fmtp:100 \na=fmtp:101") }),
    (
      "an empty rtcp-fb",
      { $0 = $0.replacing("a=rtcp-fb:100 nack", with: "a=rtcp-fb:100 nack\na=rtcp-fb:100\na=rtcp-fb:") }
    ),
    (
      "a session id of 23 digits",
      { $0 = $0.replacing("o=- 1 1", with: "o=mozilla...SDPARTA 99999999999999999999999 x") }
    ),
    ("an empty origin", { $0 = $0.replacing("o=- 1 1 IN IP4 127.0.0.1", with: "o=") }),
    ("no origin, name and time", { $0 = $0.replacing("o=- 1 1 IN IP4 127.0.0.1\ns=-\nt=0 0\n", with: "") }),
    ("trailing blanks, blank lines", { $0 = $0.replacing("\n", with: " \t\n\n") + "\n \n" }),
    ("carriage returns twice", { $0 = $0.replacing("\n", with: "\r\r\n") }),
    ("indented lines", { $0 = "  " + $0.replacing("\n", with: "\n  ") }),
    ("a byte order mark and a NUL", { $0 = "\u{FEFF}" + $0 + "\0" }),
    (
      "other line types",
      {
        $0 = $0.replacing("a=mid:v", with: "i=cot\nc=IN IP6 ::\nb=AS:500\nb=TIAS:500000\nk=prompt\na=mid:v")
      }
    ),
    (
      "capital letters",
      {
        $0 = $0.replacing("a=setup:actpass", with: "a=SETUP:ACTPASS").replacing("a=recvonly", with: "a=RecvOnly")
          .replacing("a=rtcp-mux", with: "a=RTCP-MUX").replacing("sha-256", with: "SHA-256").replacing(
            "VP8", with: "vp8"
          )
          .replacing("a=rtcp-fb:100 nack", with: "a=rtcp-fb:100 NACK").replacing("opus", with: "OPUS")
          .replacing("m=audio", with: "m=AUDIO").replacing("UDP/TLS/RTP/SAVPF", with: "udp/tls/rtp/savpf")
          .replacing("BUNDLE", with: "bundle").replacing("a=rtpmap", with: "a=RTPMAP")
      }
    ),
    (
      "rtcp-mux and setup of the session",
      {
        $0 = $0.replacing("a=rtcp-mux\n", with: "").replacing("a=setup:actpass\n", with: "")
          .replacing("t=0 0\n", with: "t=0 0\na=rtcp-mux\na=setup:actpass\n")
      }
    ),
    ("rtcp-mux-only alone", { $0 = $0.replacing("a=rtcp-mux\n", with: "a=rtcp-mux-only\n") }),
    ("no setup", { $0 = $0.replacing("a=setup:actpass\n", with: "") }),
    ("mids in the group alone", { $0 = $0.replacing("a=mid", with: "a=x") }),
    ("a group with a mid more, and twice the same", { $0 = $0.replacing("v a d", with: "v v a d w") }),
    (
      "a second group of another kind",
      { $0 = $0.replacing("t=0 0\n", with: "t=0 0\na=group:LS v a\na=group:\na=group:BUNDLE\n") }
    ),
    ("a payload type twice", { $0 = $0.replacing("SAVPF 100 101", with: "SAVPF 100 100 101 100") }),
    (
      "payload types that RTP has no room for",
      {
        $0 = $0.replacing("SAVPF 100 101", with: "SAVPF 300 100 101 4294967296")
          .replacing("a=rtcp-fb:100", with: "a=rtpmap:300 VP8/90000\na=rtpmap:228 VP8\na=rtpmap:-1 x\na=rtcp-fb:100")
      }
    ),
    ("retransmission first", { $0 = $0.replacing("SAVPF 100 101", with: "SAVPF 101 100") }),
    ("feedback for all", { $0 = $0.replacing("a=rtcp-fb:100 nack", with: "a=rtcp-fb:* nack") }),
    ("parameters with blanks", { $0 = $0.replacing("apt=100", with: " x=1 ; apt = 100 ;; profile-id=0") }),
    ("one channel of Opus", { $0 = $0.replacing("opus/48000/2", with: "opus/48000/1") }),
    (
      "extensions that mean nothing",
      {
        $0 = $0.replacing(
          "a=mid:v", with: "a=mid:v\na=extmap:0 urn:x\na=extmap:1/up urn:x\na=extmap:2/sendrecv urn:y vad=on\na=extmap:"
        )
      }
    ),
    (
      "sources that are none",
      {
        $0 = $0.replacing(
          "a=mid:v", with: "a=mid:v\na=ssrc:-5 cname:x\na=ssrc:4294967296\na=ssrc-group:FID 1 x\na=msid:")
      }
    ),
    (
      "candidates that are none",
      { $0 = $0.replacing("a=mid:v", with: "a=mid:v\na=candidate:\na=candidate:x\na=ice-options:") }
    ),
    ("a size of messages that is none", { $0 += "a=max-message-size:99999999999999999999\n" }),
    ("old names of the protocol", { $0 = $0.replacing("UDP/TLS/RTP/SAVPF", with: "RTP/AVPF") }),
    ("a port that is too large", { $0 = $0.replacing("m=video 9", with: "m=video 70000/2") }),
    (
      "credentials in the first section alone",
      {
        let lines = "a=ice-ufrag:abcd\na=ice-pwd:0123456789012345678901\n"
        $0 = $0.replacing(lines, with: "").replacing("a=mid:v\n", with: "a=mid:v\n" + lines)
      }
    ),
    (
      "credentials in the last section alone",
      {
        let lines = "a=ice-ufrag:abcd\na=ice-pwd:0123456789012345678901\n"
        $0 = $0.replacing(lines, with: "") + lines
      }
    ),
  ]

  @Test(arguments: 0..<harmless.count) func whatIsOddButHarmlessIsAnsweredAsEver(number: Int) throws {
    let (name, edit) = Self.harmless[number]
    #expect(smallOffer(edit) != smallOffer(), "\(name)")
    let (usual, expected) = try OfferAnswer.answer(SessionDescription(parsing: smallOffer()), with: makeLocal())
    let offer = try SessionDescription(parsing: smallOffer(edit))
    let (answer, session) = try OfferAnswer.answer(offer, with: makeLocal())
    #expect(answer.media.map(\.port) == [9, 9, 9] && answer.bundle == usual.bundle, "\(name): \(answer)")
    #expect(answer.media.map(\.direction) == usual.media.map(\.direction), "\(name)")
    #expect(session.media.map(\.payloadType) == expected.media.map(\.payloadType), "\(name)")
    #expect(session.media.map(\.rtxPayloadType) == expected.media.map(\.rtxPayloadType), "\(name)")
    #expect(session.media.map(\.feedback) == expected.media.map(\.feedback), "\(name)")
    #expect(session.remoteICE.ufrag == "abcd" && session.remoteFingerprints == expected.remoteFingerprints, "\(name)")
    #expect(session.weAreDTLSClient && session.dataChannel?.remoteSCTPPort == 5001, "\(name)")
    #expect(session.rejected.isEmpty, "\(name)")
    #expect(try SessionDescription(parsing: offer.description) == offer, "\(name)")
    #expect(try SessionDescription(parsing: answer.description) == answer, "\(name)")
    Self.checkFormats(answer, name)
  }

  /// Pion refuses a description with a dynamic payload type that has no `rtpmap` in its section, rejected or not.
  static func checkFormats(_ answer: SessionDescription, _ name: String) {
    for section in answer.media where section.kind == .audio || section.kind == .video {
      for format in section.formats where format != "0" {
        #expect(section.payloads.contains { String($0.number) == format }, "\(name): \(format)")
      }
      #expect(!section.formats.isEmpty, "\(name)")
    }
  }

  /// A player without VP8 gets the sound; one that may only watch is told which codecs there are.
  @Test func aPlayerOfH264IsToldWhatIsSent() throws {
    let text = smallOffer {
      $0 = $0.replacing("VP8", with: "H264").replacing("SAVPF 100 101", with: "SAVPF 100 101 102 103 104 8")
        .replacing(
          "a=fmtp:101", with: "a=rtpmap:102 H265/90000\na=rtpmap:103 H264/90000\na=rtpmap:104 red/90000\na=fmtp:101")
    }
    let offer = try SessionDescription(parsing: text)
    let (answer, session) = try OfferAnswer.answer(offer, with: makeLocal())
    #expect(answer.media.map(\.port) == [0, 9, 9] && answer.media[0].formats == ["0"])
    #expect(answer.description.contains("m=video 0 UDP/TLS/RTP/SAVPF 0\r\n"))
    #expect(session.rejected.map(\.reason.description) == ["its offer has H264, H265 and PCMA, not VP8"])
    Self.checkFormats(answer, "H264")
    var viewOnly = makeLocal()
    viewOnly.media.removeLast()
    viewOnly.sctpPort = nil
    let error = #expect(throws: NegotiationError.self) { try OfferAnswer.answer(offer, with: viewOnly) }
    #expect(
      error?.description.contains("H264, H265 and PCMA, this end has VP8") == true, "\(String(describing: error))")
  }

  /// Any number of sections, in any order, with some that the offerer rejects or that are nothing for us.
  @Test func everySectionHasItsPlaceInTheAnswer() throws {
    let rtp = "a=rtcp-mux\na=rtpmap:100 VP8/90000\na=rtpmap:96 opus/48000/2\n"
    let extra = [
      "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\na=mid:x0\n",
      "m=video 0 UDP/TLS/RTP/SAVPF 100\na=mid:x1\n" + rtp,
      "m=video 9 UDP/TLS/RTP/SAVPF 100\na=mid:x2\na=inactive\n" + rtp, "m=text 9 UDP/TLS/RTP/SAVPF 98\na=mid:x3\n",
      "m=message 9 TCP/MSRP *\na=mid:x4\n", "m=audio 9 UDP/BFCP\na=mid:x5\n",
      "m=audio 9 UDP/TLS/RTP/SAVPF 96\na=mid:x6\n" + rtp,
      "m=video 9 UDP/TLS/RTP/SAVPF 100\na=mid:x7\na=recvonly\n" + rtp, "m=audio 9 UDP/TLS/RTP/SAVPF\na=mid:x8\n",
    ].joined()
    let mids = (0...8).map { "x\($0)" }.joined(separator: " ")
    let text = smallOffer {
      $0 = $0.replacing("BUNDLE v", with: "BUNDLE \(mids) v").replacing(
        "m=video 9 UDP/TLS/RTP/SAVPF 100 101", with: extra + "m=video 9 UDP/TLS/RTP/SAVPF 100 101")
    }
    let offer = try SessionDescription(parsing: text)
    let (answer, session) = try OfferAnswer.answer(offer, with: makeLocal())
    #expect(answer.media.map(\.kind) == offer.media.map(\.kind) && answer.media.map(\.mid) == offer.media.map(\.mid))
    #expect(answer.media.map(\.port) == [9, 0, 0, 0, 0, 0, 9, 9, 0, 0, 0, 0])
    #expect(answer.bundle == ["x0", "x6", "x7"] && answer.media[4].formats == ["*"])
    #expect(session.media.map(\.index) == [6, 7] && session.dataChannel?.index == 0)
    #expect(try SessionDescription(parsing: answer.description) == answer)
    Self.checkFormats(answer, "many sections")
    // webrtcbin and aiortc look for them in every section.
    #expect(answer.media.allSatisfy { $0.iceUfrag == "Crdl" && $0.fingerprints.count == 1 && $0.setup == .active })
  }

  /// Where the first section of the bundle is rejected, the transport that it describes may be the only one.
  @Test func credentialsOfARejectedSectionCount() throws {
    let lines = "a=ice-ufrag:abcd\na=ice-pwd:0123456789012345678901\n"
    let text = smallOffer {
      $0 = $0.replacing("VP8", with: "H264").replacing(lines, with: "")
        .replacing("a=mid:v\n", with: "a=mid:v\na=candidate:1 1 udp 1 192.0.2.9 9 typ host\n" + lines)
        .replacing("m=audio 9", with: "m=audio 0").replacing("a=mid:a\n", with: "a=mid:a\na=bundle-only\n")
        .replacing("m=application 9", with: "m=application 0").replacing("a=mid:d\n", with: "a=mid:d\na=bundle-only\n")
    }
    let (answer, session) = try OfferAnswer.answer(SessionDescription(parsing: text), with: makeLocal())
    #expect(answer.media.map(\.port) == [0, 9, 9] && answer.bundle == ["a", "d"])
    #expect(session.remoteICE.ufrag == "abcd" && session.remoteICE.candidates.count == 1)
  }

  /// A section whose payload types are none; the line is named.
  @Test(arguments: ["300 x", "128", "-1", "x", "4294967296 300", "0x60", "096"])
  func payloadTypesThatAreNoneAreNamedWithTheirLine(formats: String) throws {
    let text = smallOffer { $0 = $0.replacing("SAVPF 100 101", with: "SAVPF \(formats)") }
    let error = try #require(throws: SDPError.self) { try SessionDescription(parsing: text) }
    let line = "m=video 9 UDP/TLS/RTP/SAVPF \(formats)"
    let number = try #require(text.split(separator: "\n").firstIndex { $0 == line }) + 1
    let first = formats.split(separator: " ")[0]
    #expect(error.line == number && "\(error)".hasPrefix("line \(number) (\(line)): \(first)"), "\(error)")
    #expect("\(error)".hasSuffix("payload types are numbers from 0 to 127"))
    // What the offerer rejects itself means nothing.
    let rejected = text.replacing("m=video 9", with: "m=video 0")
    #expect(try OfferAnswer.answer(SessionDescription(parsing: rejected), with: makeLocal()).answer.media[0].port == 0)
  }

  /// Codecs that we do not have, and payload types without one: with their lines, as far as there are a few.
  @Test(arguments: [
    ("a=rtpmap:100 FOO/90000", "FOO", "a=rtpmap:100 FOO/90000"),
    ("a=rtpmap:100 VP8/8000", "VP8/8000", "a=rtpmap:100 VP8/8000"),
    ("a=x", "no codec", "m=video 9 UDP/TLS/RTP/SAVPF 100 101"),
    ("a=rtpmap:300 VP8/90000", "no codec", "a=rtpmap:300 VP8/90000"),
    ("a=rtpmap:x VP8/90000", "no codec", "a=rtpmap:x VP8/90000"), ("a=rtpmap:100 VP8", "no codec", "a=rtpmap:100 VP8"),
    ("a=rtpmap:100", "no codec", "a=rtpmap:100"), ("a=rtpmap:100 VP8/0", "no codec", "a=rtpmap:100 VP8/0"),
    ("a=rtpmap:100 \u{202e}E\u{1b}VIL/90000", "EVIL", "a=rtpmap:100 EVIL/90000"),
  ])
  func whatHasNoCommonCodecIsNamedWithItsLine(map: String, offered: String, shown: String) throws {
    var viewOnly = makeLocal()
    viewOnly.media.removeLast()
    viewOnly.sctpPort = nil
    let text = smallOffer { $0 = $0.replacing("a=rtpmap:100 VP8/90000", with: map) }
    let offer = try SessionDescription(parsing: text)
    let error = try #require(throws: NegotiationError.self) { try OfferAnswer.answer(offer, with: viewOnly) }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let number =
      try #require(
        lines.firstIndex { $0 == map || map.hasPrefix("a=x") && $0 == shown })
      + 1
    let ours = offered.contains("/") ? "VP8/90000" : "VP8"
    let wanted = "no codec in common: the offer has \(offered), this end has \(ours): line "
    #expect("\(error)".hasPrefix(wanted) && "\(error)".hasSuffix("(\(shown))"), "\(error)")
    #expect("\(error)".contains("line \(number) ") || shown.hasPrefix("m="), "\(error)")
  }

  /// What is missing or wrong beside the codecs.
  @Test(arguments: [
    (
      "a=fingerprint", "a=x", "no fingerprint; media is encrypted or not sent at all",
      "m=video 9 UDP/TLS/RTP/SAVPF 100 101"
    ),
    ("sha-256", "md5", "no sha-256 fingerprint", "a=fingerprint:md5 "),
    ("a=ice-ufrag", "a=x", "no ice-ufrag and ice-pwd", "m=video 9 UDP/TLS/RTP/SAVPF 100 101"),
    ("a=rtcp-mux", "a=x", "media section v has no rtcp-mux", "m=video 9 UDP/TLS/RTP/SAVPF 100 101"),
    ("actpass", "holdconn", "setup:holdconn cannot be used here", "a=setup:holdconn"),
  ])
  func whatTheTransportLacksIsNamedWithItsLine(old: String, new: String, reason: String, line: String) throws {
    let text = smallOffer { $0 = $0.replacing(old, with: new) }
    let error = try #require(throws: NegotiationError.self) {
      try OfferAnswer.answer(SessionDescription(parsing: text), with: makeLocal())
    }
    let number = try #require(text.split(separator: "\n").firstIndex { $0.hasPrefix(line) }) + 1
    #expect("\(error)".hasPrefix("\(reason): line \(number) (\(line)"), "\(error)")
  }

  @Test func anotherClockRateIsNamed() throws {
    let text = smallOffer { $0 = $0.replacing("opus/48000/2", with: "opus/16000") }
    let (_, session) = try OfferAnswer.answer(SessionDescription(parsing: text), with: makeLocal())
    #expect(session.rejected.map(\.reason.description) == ["its offer has opus/16000, not opus/48000/2"])
  }

  /// Their packets would be taken for RTCP's: RFC 5761 section 4.
  @Test func helpersWithPayloadTypesOfRTCPAreLeftOut() throws {
    for (rtx, red) in [(72, 80), (64, 95)] {
      let text = smallOffer {
        $0 = $0.replacing("SAVPF 100 101", with: "SAVPF 100 \(rtx)")
          .replacing("a=fmtp:101", with: "a=fmtp:\(rtx)").replacing("a=rtpmap:101", with: "a=rtpmap:\(rtx)")
          .replacing("SAVPF 96", with: "SAVPF 96 \(red)")
          .replacing("a=rtpmap:96 ", with: "a=rtpmap:\(red) red/48000/2\na=fmtp:\(red) 96/96\na=rtpmap:96 ")
      }
      let (answer, session) = try OfferAnswer.answer(SessionDescription(parsing: text), with: makeLocal())
      #expect(answer.media[0].formats == ["100"] && answer.media[1].formats == ["96"], "\(answer.description)")
      #expect(session.media.allSatisfy { $0.rtxPayloadType == nil && $0.redPayloadType == nil })
    }
  }

  /// RFC 9143 section 9.1.
  @Test func aPayloadTypeIsOneCodecInABundle() throws {
    let clash = smallOffer {
      $0 = $0.replacing("SAVPF 96", with: "SAVPF 100").replacing("a=rtpmap:96", with: "a=rtpmap:100")
    }
    let (answer, session) = try OfferAnswer.answer(SessionDescription(parsing: clash), with: makeLocal())
    #expect(answer.media.map(\.port) == [9, 0, 9])
    #expect(
      session.rejected.map(\.reason.description) == [
        "its offer has opus (its payload type 100 is that of VP8 in the same bundle), not opus"
      ])
    // A helper, and a codec that is not answered anyway, do no harm.
    let helper = smallOffer {
      $0 = $0.replacing("SAVPF 96", with: "SAVPF 96 100 101")
        .replacing(
          "a=rtpmap:96", with: "a=rtpmap:100 red/48000/2\na=fmtp:100 96/96\na=rtpmap:101 PCMU/8000\na=rtpmap:96")
    }
    let plain = try OfferAnswer.answer(SessionDescription(parsing: helper), with: makeLocal()).answer
    #expect(plain.media.map(\.port) == [9, 9, 9] && plain.media[1].formats == ["96"])
  }

  @Test func aPasswordIsNotQuoted() throws {
    let text = smallOffer { $0 = $0.replacing("a=ice-pwd:0123456789012345678901", with: "a=ice-pwd:short") }
    let error = try #require(throws: SDPError.self) { try SessionDescription(parsing: text) }
    #expect(error.text == nil && !"\(error)".contains("short"))
  }
}
