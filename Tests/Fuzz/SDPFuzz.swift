import SDP
import TestSupport

/// Offers from anybody: what is read can be written and read again, and an answer to it is well-formed.
enum SDPFuzz: FuzzBody {
  static let name = "SDP"

  static var seeds: [[UInt8]] {
    [
      "offer-chromium-recvonly", "offer-chromium-simulcast", "offer-firefox-talkback", "offer-safari", "offer-aiortc",
      "offer-webrtcbin-max-bundle", "offer-webrtcbin-no-bundle",
    ].map { Fixture.bytes($0 + ".sdp") }
  }

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
