import SDP
import TestSupport

/// Offers from anybody: what is read can be written and read again, and an answer to it is well-formed.
enum SDPFuzz: FuzzBody {
  static let name = "SDP"

  static var seeds: [[UInt8]] {
    [
      "offer-chromium-recvonly", "offer-chromium-simulcast", "offer-firefox-talkback", "offer-safari", "offer-aiortc",
      "offer-webrtcbin-max-bundle", "offer-webrtcbin-no-bundle",
    ].map { Fixture.bytes($0 + ".sdp") } + [limited]
  }

  /// With `b=` lines at each level.
  private static let limited = Array(
    """
    v=0
    o=- 1 1 IN IP4 127.0.0.1
    s=-
    c=IN IP4 0.0.0.0
    b=AS:900
    b=CT:1000
    t=0 0
    a=group:BUNDLE 0 1
    a=ice-ufrag:abcd
    a=ice-pwd:0123456789012345678901
    a=fingerprint:sha-256 \((0..<32).map { _ in "0A" }.joined(separator: ":"))
    m=video 9 UDP/TLS/RTP/SAVPF 96
    c=IN IP4 0.0.0.0
    b=AS:300
    b=TIAS:266000
    a=mid:0
    a=recvonly
    a=rtcp-mux
    a=rtpmap:96 VP8/90000
    m=audio 9 UDP/TLS/RTP/SAVPF 111
    b=TIAS:18446744073709551615
    b=RR:0
    a=mid:1
    a=recvonly
    a=rtcp-mux
    a=rtpmap:111 opus/48000/2

    """.utf8)

  private static let local = LocalSession(
    iceUfrag: "Crdl", icePwd: "abcdefghijklmnopqrstuvwx",
    candidates: ["candidate:1 1 udp 2130706431 192.0.2.7 8443 typ host"], fingerprintSHA256: Array(0..<32),
    media: [
      LocalMedia(
        kind: .video, direction: .sendOnly, codecs: [.vp8, .rtx], headerExtensions: [RTPHeaderExtensionURI.mid],
        ssrc: 1, rtxSSRC: 2, cname: "c", streamID: "s", trackID: "v"),
      LocalMedia(
        kind: .audio, direction: .sendReceive, codecs: [.opus, .opusRED],
        headerExtensions: [RTPHeaderExtensionURI.mid], ssrc: 3, cname: "c", streamID: "s", trackID: "a"),
    ], sessionID: 1)
  private static let ourOffer = OfferAnswer.offer(local, wantsDataChannel: true)

  static func run(_ input: [UInt8]) {
    guard let offer = try? SessionDescription(parsing: String(decoding: input, as: UTF8.self)) else { return }
    checkWritten(offer)
    if let (answer, session) = try? OfferAnswer.answer(offer, with: local) {
      checkWritten(answer)
      let limits = session.media.map(\.remoteBandwidth.limitKbps) + [session.remoteBandwidth.limitKbps]
      precondition(limits.allSatisfy { $0.map { (1...100_000_000).contains($0) } ?? true }, "a limit is a rate")
      precondition(answer.media.count == offer.media.count, "an answer has the offer's sections")
      for index in local.media.indices {
        let uses = session.media.filter { $0.local == index }.map(\.direction)
        precondition(
          uses.count(where: \.sends) <= 1 && uses.count(where: \.receives) <= 1, "a track is used once each way")
      }
      for section in answer.media where section.isRejected {
        precondition(section.candidates.isEmpty && section.streams.isEmpty, "a rejected section promises nothing")
      }
    }
    _ = try? OfferAnswer.accept(offer, for: ourOffer, with: local)
  }

  /// Writing spells out what sections inherit, so a large description may grow over the limits; nothing else may fail.
  private static func checkWritten(_ description: SessionDescription) {
    let text = description.description
    guard text.utf8.count <= SDPLimits.bytes else { return }
    do {
      let again = try SessionDescription(parsing: text)
      precondition(again == description, "what was written reads back the same")
    } catch {
      precondition(error.reason.contains("over \(SDPLimits.lineBytes)"), "what was written is well-formed: \(error)")
    }
  }
}
