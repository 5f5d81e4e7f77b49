import SDP
import TestSupport
import Testing

@Suite struct ParsingTests {
  static let fixtures = Offers.names + ["offer-chromium-simulcast", "offer-webrtcbin-no-bundle"]

  @Test(arguments: fixtures) func aRealOfferSurvivesWritingAndReading(name: String) throws {
    let offer = try Offers.read(name)
    #expect(try SessionDescription(parsing: offer.description) == offer)
  }

  @Test(arguments: fixtures) func bareLineFeedsReadTheSame(name: String) throws {
    let text = Fixture.text(name + ".sdp")
    let bare = String(decoding: text.utf8.filter { $0 != 13 }, as: UTF8.self)
    #expect(bare.utf8.count < text.utf8.count)
    #expect(try SessionDescription(parsing: bare) == SessionDescription(parsing: text))
  }

  @Test func everyFieldOfAChromiumOfferIsFound() throws {
    let offer = try Offers.read("offer-chromium-talkback")
    #expect(offer.bundle == ["0", "1", "2"])
    #expect(offer.allowsMixedExtensions)
    #expect(offer.media.map(\.kind) == [.audio, .video, .application])
    let audio = offer.media[0]
    #expect(audio.direction == .sendReceive && audio.mid == "0" && audio.rtcpMux && audio.rtcpReducedSize)
    #expect(audio.setup == .actpass && audio.iceOptions == ["trickle"] && audio.iceUfrag?.count == 4)
    #expect(audio.fingerprints.map(\.algorithm) == ["sha-256"] && audio.fingerprints[0].bytes.count == 32)
    #expect(audio.candidates.count == 2 && audio.candidates.allSatisfy { $0.hasPrefix("candidate:") })
    #expect(audio.streams.count == 1 && audio.sources.count == 1 && audio.sources[0].cname?.isEmpty == false)
    let opus = try #require(audio.payloads.first)
    #expect(opus.number == 111 && opus.name == "opus" && opus.clockRate == 48_000 && opus.channels == 2)
    #expect(opus.parameters["useinbandfec"] == "1" && opus.parameters["MINPTIME"] == "10")
    #expect(opus.parameters["apt"] == nil && opus.feedback == ["transport-cc"])
    let video = offer.media[1]
    #expect(video.direction == .receiveOnly)
    #expect(video.payloads[0].feedback == ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"])
    #expect(video.extensions.contains { $0.id == 4 && $0.uri == RTPHeaderExtensionURI.mid })
    let data = offer.media[2]
    #expect(data.isDataChannel && data.sctpPort == 5000 && data.maxMessageSize == 262_144)
    #expect(data.formats == ["webrtc-datachannel"])
  }

  @Test func sectionsInheritWhatTheSessionSays() throws {
    let offer = try Offers.read("offer-firefox-talkback")
    #expect(offer.media.allSatisfy { $0.fingerprints.count == 1 && $0.iceOptions == ["trickle"] })
    #expect(offer.media.allSatisfy { $0.endOfCandidates })
    let video = offer.media[1]
    // Firefox says a=sendrecv for the session and a=recvonly here.
    #expect(video.direction == .receiveOnly)
    #expect(video.extensions.contains { $0.id == 6 && $0.direction == .receiveOnly })
    // Its fmtp lines come before the rtpmap lines.
    #expect(video.payloads.first { $0.number == 124 }?.parameters["apt"] == "120")
  }

  @Test func bundleOnlyPortZeroIsNoRejection() throws {
    let offer = try Offers.read("offer-webrtcbin-max-bundle")
    #expect(offer.media.map(\.port) == [9, 0, 0])
    #expect(offer.media.allSatisfy { !$0.isRejected })
  }

  @Test func simulcastIsKeptButNotRead() throws {
    let video = try Offers.read("offer-chromium-simulcast").media[0]
    #expect(video.attributes.contains(SDPAttribute(name: "simulcast", value: "send h;l")))
    #expect(video.attributes.filter { $0.name == "rid" }.count == 2)
  }

  @Test func staticPayloadTypesNeedNoMap() throws {
    let text = smallOffer { $0 = $0.replacing("SAVPF 96", with: "SAVPF 96 0 77") }
    let audio = try SessionDescription(parsing: text).media[1]
    #expect(audio.payloads.map(\.name) == ["opus", "PCMU"])
    #expect(audio.formats == ["96", "0", "77"])
  }

  @Test func starFeedbackCountsForEveryFormat() throws {
    let text = smallOffer { $0 = $0.replacing("a=rtcp-fb:100 nack", with: "a=rtcp-fb:* nack  pli") }
    let video = try SessionDescription(parsing: text).media[0]
    #expect(video.payloads.map(\.feedback) == [["nack pli"], ["nack pli"]])
  }

  @Test func unknownLinesAndAttributesAreNoError() throws {
    let text = smallOffer {
      $0 = $0.replacing("a=mid:v", with: "i=cot\nb=AS:500\nk=prompt\na=mid:v\na=what:ever: x\na=so")
    }
    let offer = try SessionDescription(parsing: text)
    #expect(offer.media[0].attributes == [SDPAttribute(name: "what", value: "ever: x"), SDPAttribute(name: "so")])
    #expect(try SessionDescription(parsing: offer.description) == offer)
  }

  @Test(
    arguments: [
      ("v=0", "v=1", 1), ("v=0\n", "", 1),
      ("0A:0A\n", "0A:0\n", 6), ("sha-256 0A", "0A", 6), ("a=ice-ufrag:abcd", "a=ice-ufrag:abc", 7),
      ("a=ice-pwd:0123456789", "a=ice-pwd:", 8), ("m=video 9", "m=video nine", 9), ("m=video 9", "m=video -1", 9),
      (" UDP/TLS/RTP/SAVPF 100 101", "", 9), ("a=mid:v", "a=mid:v w", 10), ("setup:actpass", "setup:maybe", 11),
      ("a=mid:a", "a=mid:v", 18), ("sctp-port:5001", "sctp-port:65536", 27),
    ] as [(String, String, Int)])
  func aMalformedLineIsNamed(old: String, new: String, line: Int) throws {
    let text = smallOffer { $0 = $0.replacing(old, with: new) }
    #expect(text != smallOffer())
    let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: text) }
    #expect(error?.line == line, "\(String(describing: error))")
  }

  @Test func whatIsNoLineMeansNothing() throws {
    let plain = smallOffer()
    for text in [
      plain.replacing("\n", with: "\r"), plain.replacing("a=mid:v", with: "nonsense\nfoo bar\nA=x\na=mid:v"),
    ] {
      #expect(try SessionDescription(parsing: text) == SessionDescription(parsing: plain))
    }
  }

  @Test func everythingIsBounded() {
    let limits: [(String, String)] = [
      (String(repeating: "a=x\r\n", count: 14_000), "bytes"),
      ("a=" + String(repeating: "x", count: 5000) + "\n", "line"),
      (String(repeating: "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\n", count: 200), "candidates"),
      (String(repeating: "a=x\n", count: 300), "unknown attributes"),
      (String(repeating: "a=extmap:1 urn:x\n", count: 100), "header extensions"),
      ((0..<200).map { "a=ssrc:\($0) cname:x\n" }.joined(), "sources"),
      (String(repeating: "m=audio 9 RTP/AVP 0\n", count: 40), "media sections"),
      ("m=audio 9 RTP/AVP" + String(repeating: " 0", count: 200) + "\n", "formats"),
    ]
    for (addition, what) in limits {
      let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: smallOffer { $0 += addition }) }
      #expect(error?.reason.contains(what) == true, "\(String(describing: error))")
    }
  }

  @Test func emptyAndForeignTextIsRefused() {
    for text in ["", "\n", "\0", "{\"type\":\"offer\"}", "<html>", "v=0 v=0", "v=0\no=- 1 \0 1\n"] {
      #expect(throws: SDPError.self) { try SessionDescription(parsing: text) }
    }
  }
}
