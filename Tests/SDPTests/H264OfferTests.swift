import TestSupport
import Testing

@testable import SDP

/// H.264 beside VP8: which of a peer's formats is answered, and how. RFC 6184 section 8.
@Suite struct H264OfferTests {
  private func local() -> LocalSession {
    var local = makeLocal()
    local.media[0].codecs = [.vp8, .h264, .rtx]
    return local
  }

  /// The small offer with these formats instead of VP8, from payload type 102 on.
  private func offer(_ formats: [String]) throws -> SessionDescription {
    let numbers = formats.indices.map { 102 + $0 }
    let lines = zip(numbers, formats).flatMap { number, parameters in
      ["a=rtpmap:\(number) H264/90000", "a=rtcp-fb:\(number) nack pli", "a=fmtp:\(number) \(parameters)"]
    }
    return try SessionDescription(
      parsing: smallOffer {
        $0 = $0.replacing("SAVPF 100 101", with: "SAVPF " + numbers.map(String.init).joined(separator: " "))
          .replacing(
            "a=rtpmap:100 VP8/90000\na=rtcp-fb:100 nack\na=rtpmap:101 rtx/90000\na=fmtp:101 apt=100",
            with: lines.joined(separator: "\n"))
      })
  }

  private func answered(_ formats: [String]) throws -> (number: UInt8, parameters: String)? {
    let (answer, session) = try OfferAnswer.answer(offer(formats), with: local())
    guard let media = session.media.first(where: { $0.kind == .video }) else { return nil }
    #expect(answer.media[0].payloads.map(\.number) == [media.payloadType] && media.codec == .h264)
    #expect(media.feedback == .pli)
    #expect(try SessionDescription(parsing: answer.description) == answer)
    return (media.payloadType, answer.media[0].payloads[0].parameters.text)
  }

  private static let mode = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id="

  /// RFC 6184 table 5: constrained baseline under each of its names, then what decodes it as well.
  @Test(arguments: [
    (["42001f", "42e01f", "640032"], 103, "42e01f"), (["640032", "42c00d"], 103, "42c01f"),
    (["4d001f", "42001f"], 103, "42001f"), (["640c1f", "4d0032"], 103, "4d001f"), (["640c1f"], 102, "640c1f"),
    (["4d001f", "4de00a"], 103, "4de01f"), (["58c01f", "42001f"], 102, "58c01f"), (["42E034"], 102, "42E01f"),
    (["7a001f", "f4001f", "42e01f"], 104, "42e01f"),
  ])
  func theNearestProfileIsAnsweredAsItWasOffered(profiles: [String], number: UInt8, profile: String) throws {
    let answer = try #require(try answered(profiles.map { Self.mode + $0 }))
    #expect(answer.number == number && answer.parameters == Self.mode + profile, "\(answer)")
  }

  @Test(arguments: [
    // Both ways the same level, the lower one.
    ("packetization-mode=1;profile-level-id=42e00d", "packetization-mode=1;profile-level-id=42e00d"),
    ("packetization-mode=1;profile-level-id=42e034", "packetization-mode=1;profile-level-id=42e01f"),
    // Baseline of level 1 is what is meant where nothing is said.
    ("packetization-mode=1", "packetization-mode=1;profile-level-id=42000a"),
    ("level-asymmetry-allowed=1;packetization-mode=1", mode + "42001f"),
  ])
  func theLevelIsTheLowerOneUnlessTheyMayDiffer(offered: String, expected: String) throws {
    #expect(try answered([offered])?.parameters == expected)
  }

  @Test(arguments: [
    ("profile-level-id=42e01f", "packetization-mode 0"),
    ("packetization-mode=0;profile-level-id=42e01f", "packetization-mode 0"),
    ("packetization-mode=2;profile-level-id=42e01f", "packetization-mode 2"),
    ("packetization-mode=1;profile-level-id=7a001f", "profile-level-id 7a001f"),
    ("packetization-mode=1;profile-level-id=42e0", "profile-level-id 42e0"),
    ("packetization-mode=1;profile-level-id=+2e01f", "profile-level-id +2e01f"),
    ("packetization-mode=1;profile-level-id=zzzzzz", "profile-level-id zzzzzz"),
  ])
  func whatCannotBeSentIsRefusedInWords(parameters: String, problem: String) throws {
    let (answer, session) = try OfferAnswer.answer(offer([parameters]), with: local())
    #expect(answer.media.map(\.port) == [0, 9, 9])
    #expect(
      session.rejected.map(\.reason.description)
        == ["its offer has H264 (\(problem)), not VP8 or H264 (constrained baseline, packetization-mode 1)"])
  }

  @Test func vp8ComesFirstWhereverItStands() throws {
    let text = smallOffer {
      $0 = $0.replacing("SAVPF 100 101", with: "SAVPF 102 100 101")
        .replacing("a=rtpmap:100", with: "a=rtpmap:102 H264/90000\na=fmtp:102 \(Self.mode)42e01f\na=rtpmap:100")
    }
    let session = try OfferAnswer.answer(SessionDescription(parsing: text), with: local()).negotiated
    #expect(session.media[0].codec == .vp8 && session.media[0].payloadType == 100)
    #expect(session.media[0].rtxPayloadType == 101)
  }

  @Test func retransmissionsAreThoseOfTheFormatThatIsAnswered() throws {
    let text = smallOffer {
      $0 = $0.replacing("SAVPF 100 101", with: "SAVPF 102 103 104 105")
        .replacing("a=rtpmap:100 VP8/90000", with: "a=rtpmap:102 H264/90000\na=fmtp:102 \(Self.mode)640032")
        .replacing("a=rtcp-fb:100 nack", with: "a=rtpmap:104 H264/90000\na=fmtp:104 \(Self.mode)42e01f")
        .replacing("a=rtpmap:101 rtx/90000", with: "a=rtpmap:103 rtx/90000\na=fmtp:103 apt=102")
        .replacing("a=fmtp:101 apt=100", with: "a=rtpmap:105 rtx/90000\na=fmtp:105 apt=104")
    }
    let (answer, session) = try OfferAnswer.answer(SessionDescription(parsing: text), with: local())
    #expect(session.media[0].payloadType == 104 && session.media[0].rtxPayloadType == 105)
    #expect(answer.media[0].payloads.map(\.number) == [104, 105])
    #expect(answer.media[0].payloads[1].parameters == "apt=104")
  }

  /// As go2rtc writes it: it lists H.265, too, and no VP8.
  @Test func aPlayerOfH264GetsAPicture() throws {
    let (answer, session) = try OfferAnswer.answer(
      SessionDescription(parsing: Fixture.text("offer-h264.sdp")), with: local())
    #expect(session.rejected.isEmpty && answer.media.map(\.port) == [9, 9])
    #expect(session.media[0].payloadType == 97 && session.media[0].codec == .h264)
    #expect(answer.description.contains("a=fmtp:97 \(Self.mode)42e01f\r\n"))
  }
}
