import SDP
import Testing

/// `b=` lines: RFC 8866 section 5.8, RFC 3890.
@Suite struct BandwidthTests {
  private func offer(session: String = "", video: String = "", audio: String = "") throws -> SessionDescription {
    try SessionDescription(
      parsing: smallOffer {
        $0 = $0.replacing("t=0 0\n", with: session + "t=0 0\n").replacing("a=mid:v\n", with: video + "a=mid:v\n")
          .replacing("a=mid:a\n", with: audio + "a=mid:a\n")
      })
  }

  @Test func eachLevelHasItsOwnAndTheWriterWritesThemBack() throws {
    let offer = try offer(session: "b=AS:900\n", video: "c=IN IP4 0.0.0.0\nb=AS:300\nb=TIAS:250000\n")
    #expect(offer.bandwidth.applicationSpecificKbps == 900)
    #expect(offer.media[0].bandwidth.applicationSpecificKbps == 300)
    #expect(offer.media[0].bandwidth.transportIndependentBitsPerSecond == 250_000)
    #expect(offer.media[1].bandwidth == Bandwidth())
    let text = offer.description
    #expect(text.contains("s=-\r\nb=AS:900\r\nt=0 0\r\n"))
    #expect(text.contains("c=IN IP4 0.0.0.0\r\nb=AS:300\r\nb=TIAS:250000\r\na="))
    #expect(try SessionDescription(parsing: text) == offer)
  }

  @Test(arguments: [
    ("b=AS:300", 300 as Int?), ("b=as: 300 ", 300), ("b=AS:1\nb=AS:300", 300), ("b=TIAS:266000", 296),
    ("b=TIAS:266000\nb=AS:50", 296), ("b=AS:50\nb=TIAS:266000", 296), ("b=TIAS:1", 16), ("b=AS:1", 1),
    ("b=AS:0", nil), ("b=TIAS:0", nil), ("b=TIAS:0\nb=AS:300", 300), ("b=TIAS:x\nb=AS:300", 300),
    ("b=AS:-1", nil), ("b=AS:3.5", nil), ("b=AS:", nil), ("b=AS", nil), ("b=", nil), ("b=:", nil), ("b=AS:300k", nil),
    ("b=AS:99999999999999999999999", nil), ("b=AS:18446744073709551615", 100_000_000),
    ("b=TIAS:18446744073709551615", 100_000_000), ("b=AS:\u{0663}00", nil), ("b=CT:100", nil), ("b=X-AS:100", nil),
    ("b=RR:0\nb=RS:0", nil), ("b=AS:100\nb=X-YZ:128", 100),
  ])
  func aLimitIsReadOrAsIfItWereNotThere(_ lines: String, _ kbps: Int?) throws {
    let offer = try offer(session: lines + "\n", video: lines + "\n")
    #expect(offer.bandwidth.limitKbps == kbps && offer.media[0].bandwidth.limitKbps == kbps)
    #expect(try SessionDescription(parsing: offer.description) == offer)
    let (answer, session) = try OfferAnswer.answer(offer, with: makeLocal())
    #expect(answer.media.map(\.port) == [9, 9, 9] && !answer.description.contains("b="))
    #expect(session.remoteBandwidth.limitKbps == kbps)
    #expect(session.media.map(\.remoteBandwidth.limitKbps) == [kbps, nil])
  }

  @Test func anAnswerMayHaveThem() throws {
    let local = makeLocal()
    let ours = OfferAnswer.offer(local, wantsDataChannel: true)
    #expect(!ours.description.contains("b="))
    var peer = makeLocal()
    for index in peer.media.indices { peer.media[index].direction = .receiveOnly }
    var (answer, _) = try OfferAnswer.answer(ours, with: peer)
    answer.bandwidth.applicationSpecificKbps = 800
    answer.media[1].bandwidth.transportIndependentBitsPerSecond = 32_000
    let session = try OfferAnswer.accept(SessionDescription(parsing: answer.description), for: ours, with: local)
    #expect(session.remoteBandwidth.limitKbps == 800)
    #expect(session.media.map(\.remoteBandwidth.limitKbps) == [nil, 49])
  }
}
