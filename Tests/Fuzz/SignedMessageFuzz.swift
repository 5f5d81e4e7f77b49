import Pairing
import SDP
import Signaling
import TestSupport
import Wire

/// What a paired parent, or somebody in its place, sends to a child: first whole messages as they come, then payloads whose
/// signature is good, so that the inner parts are reached. The input is lines; one that begins with `{` is a payload.
enum SignedMessageFuzz: FuzzBody {
  static let name = "signed messages"

  private static let child = "0123456789abcdef"
  private static let parent = "fedcba9876543210"
  private static let offer = Fixture.text("offer-aiortc.sdp")

  private static func envelope(_ id: String) -> SignedEnvelope {
    SignedEnvelope(id: id, signer: BlindSignatures(), verifier: BlindSignatures())
  }

  private static func message(_ content: SignedMessage.Content, revision: Int = 0) -> SignedMessage {
    SignedMessage(
      from: parent, to: child, session: "AAAAAAAAAAAAAAAAAAAAAA", challenge: "BBBBBBBBBBBBBBBBBBBBBA",
      revision: revision, content: content)
  }

  static var seeds: [[UInt8]] {
    let fragment = TrickleFragment(ufrag: "Neww", pwd: "newnewnewnewnewnewnewnew").description
    let messages = [
      message(.candidate("candidate:1 1 udp 1 192.0.2.1 9 typ host", sdpMid: "0")), message(.offer(sdp: offer)),
      message(.endOfCandidates), message(.restart(fragment: fragment), revision: 1), message(.bye(.notPaired)),
    ]
    let payloads = messages.map { String(decoding: SignedMessageJSON.payload($0), as: UTF8.self) }
    let sealed = messages.map(envelope(parent).seal)
    return (payloads + sealed + [payloads.joined(separator: "\n"), sealed.joined(separator: "\n")])
      .map { Array($0.utf8) }
  }

  static func run(_ input: [UInt8]) {
    var sessions = PairedChildSessions(envelope: envelope(child), random: SeededGenerator(seed: 2))
    let peer = PairedPeer(id: parent, publicKeySPKI: [], permissions: .all)
    for line in input.split(separator: 10).prefix(32) {
      var text = String(decoding: line, as: UTF8.self)
      if text.hasPrefix("{") {
        if let message = try? SignedMessageJSON.message(ofPayload: Array(line)) {
          let again = try? SignedMessageJSON.message(ofPayload: SignedMessageJSON.payload(message))
          precondition(again == message, "what was written reads back the same")
        }
        text =
          Base64URL.encode(SignedMessageJSON.header(id: parent)) + "." + Base64URL.encode(Array(line)) + "."
          + Base64URL.encode(BlindSignatures().sign([]))
      }
      let delivery = RoomDelivery(from: "anna", message: text)
      for action in sessions.receive(delivery, pairs: { $0 == parent ? peer : nil }, now: .zero) {
        guard case .offered(let offer) = action else { continue }
        let answered = sessions.answer(offer.session, offer.description)
        precondition(!answered.isEmpty, "an offer is answered once")
      }
      precondition(sessions.count <= PairedChildLimits().maximumSessionsPerParent, "a parent has so many sessions")
    }
    _ = sessions.endAll(of: parent, .expired)
    precondition(sessions.count == 0, "nothing is left of who is gone")
  }
}
