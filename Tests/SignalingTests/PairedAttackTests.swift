import Pairing
import SDP
import TestSupport
import Testing
import Wire

@testable import Signaling

/// Who stands between, who is not (or no longer) paired, and who plays old messages again: each is refused, and no session
/// comes of it.
@Suite struct PairedAttackTests {
  private static func pairedLab() -> (SignalingLab, LabNode) {
    var lab = SignalingLab()
    let node = LabNode()
    lab.pair(node)
    return (lab, node)
  }

  /// The payload of a message with another fingerprint in it; header and signature as they were.
  private static func withOtherFingerprint(_ message: String) -> String {
    let parts = message.split(separator: ".").map(String.init)
    let payload = String(decoding: Base64URL.decode(parts[1])!, as: UTF8.self)
    let start = payload.firstRange(of: "sha-256 ")!.upperBound
    let end = payload.index(start, offsetBy: 5)
    let changed = payload[..<start] + (payload[start..<end] == "00:00" ? "11:11" : "00:00") + payload[end...]
    return "\(parts[0]).\(Base64URL.encode(Array(changed.utf8))).\(parts[2])"
  }

  private static func changing(_ change: @escaping (String) -> String) -> (RoomRequest) -> [RoomRequest] {
    { request in
      guard case .send(let client, let message) = request else { return [request] }
      return [.send(to: client, message: change(message))]
    }
  }

  private static func changing(_ change: @escaping (String) -> String) -> (RoomReply) -> [RoomReply] {
    { reply in
      guard case .message(var delivery) = reply else { return [reply] }
      delivery.message = change(delivery.message)
      return [.message(delivery)]
    }
  }

  // MARK: - In the middle

  @Test func anotherFingerprintInTheOfferIsRefused() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.toRoom = Self.changing(Self.withOtherFingerprint)
    parent.watch(in: &lab)
    #expect(lab.refusals == [.badSignature] && lab.offers.isEmpty && parent.answers == 0)
    #expect(lab.closed[parent.id]?.code == .refused)
  }

  @Test func anotherFingerprintInTheAnswerIsRefusedAndTheTrueOneStillTaken() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    var kept: [RoomReply] = []
    let change: (RoomReply) -> [RoomReply] = Self.changing(Self.withOtherFingerprint)
    parent.toParent = { reply in
      if case .message = reply { kept.append(reply) }
      return change(reply)
    }
    parent.watch(in: &lab)
    #expect(parent.log == [.refused(.badSignature)] && !parent.session.isOpen)
    let late = parent.session.handleTimeout(now: lab.now + .seconds(7))
    #expect(late.isEmpty)
    parent.perform(parent.session.receive(kept[0], now: lab.now), in: &lab)
    #expect(parent.answers == 1 && parent.session.isOpen)
  }

  @Test func afterForgedAnswersOnlyTheTimeOutSaysWhatCame() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.toParent = Self.changing(Self.withOtherFingerprint)
    parent.watch(in: &lab)
    #expect(
      parent.session.handleTimeout(now: lab.now + .seconds(8)) == [.failed(.timedOut(.badSignature))])
  }

  @Test func anAnswerByAnotherKeyIsRefused() throws {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    let mallory = LabNode()
    lab.answersAtOnce = false
    parent.watch(in: &lab)
    let session = lab.offers[0].session.session
    let challenge = try #require(lab.heard.first?.challenge)
    let content = SignedMessage.Content.answer(sdp: SignalingLab.answer.description)
    // As itself; and under the child's name, with the header of either.
    let own = lab.sealed(by: mallory, to: node.id, session: session, challenge: challenge, content)
    let asChild = lab.sealed(
      by: mallory, from: lab.childNode, to: node.id, session: session, challenge: challenge, content)
    let childHeader = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(lab.childNode.id)"}"#.utf8))
    let underChildsHeader = asChild.replacingHeader(by: childHeader)
    for (message, refusal) in [
      (own, SignalingRefusal.wrongSender), (asChild, .wrongSender), (underChildsHeader, .badSignature),
    ] {
      let reply = RoomReply.message(RoomDelivery(from: lab.childNode.id, message: message))
      #expect(parent.session.receive(reply, now: lab.now) == [.refused(refusal)])
    }
    #expect(!parent.session.isOpen)
  }

  @Test(arguments: ["session", "challenge", "recipient", "type"])
  func aTrueSignatureOverAnotherConversationIsRefused(what: String) throws {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    lab.answersAtOnce = false
    parent.watch(in: &lab)
    let session = lab.offers[0].session.session
    let challenge = try #require(lab.heard.first?.challenge)
    let answer = SignedMessage.Content.answer(sdp: SignalingLab.answer.description)
    let (message, refusal): (String, SignalingRefusal) =
      switch what {
      case "session":
        (lab.sealed(by: lab.childNode, to: node.id, challenge: challenge, answer), .wrongSession)
      case "challenge":
        (
          lab.sealed(
            by: lab.childNode, to: node.id, session: session, challenge: "AAAAAAAAAAAAAAAAAAAAAA", answer),
          .wrongChallenge
        )
      case "recipient":
        (
          lab.sealed(by: lab.childNode, to: LabNode().id, session: session, challenge: challenge, answer),
          .wrongRecipient
        )
      default:
        (
          lab.sealed(
            by: lab.childNode, to: node.id, session: session, challenge: challenge,
            .offer(sdp: SignalingLab.answer.description)), .unexpected
        )
      }
    let reply = RoomReply.message(RoomDelivery(from: lab.childNode.id, message: message))
    #expect(parent.session.receive(reply, now: lab.now) == [.refused(refusal)])
  }

  @Test func messagesSentBackToTheirSenderAreRefused() throws {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    lab.answersAtOnce = false
    parent.watch(in: &lab)
    #expect(parent.session.receive(.message(lab.heard[0]), now: lab.now) == [.refused(.wrongSender)])
  }

  // MARK: - Old messages

  @Test func anOldOfferIsRefusedUnderTheSameRegistration() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    lab.deliver(lab.heard[0])
    #expect(lab.refusals == [.replayed] && lab.offers.count == 1)
  }

  @Test func anOldOfferIsRefusedUnderAnotherRegistration() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    parent.perform(parent.session.leave(), in: &lab)
    let mallory = lab.connect(2)
    _ = lab.register(mallory, as: "mallory")
    lab.request(.send(to: lab.childNode.id, message: lab.heard[0].message), from: mallory)
    #expect(lab.refusals == [.replayed] && lab.offers.count == 1 && lab.closed[mallory] != nil)
  }

  @Test func anOldOfferIsRefusedByAChildThatHasForgottenEverything() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    lab.child = PairedChildSessions(envelope: lab.childNode.envelope, random: SeededGenerator(seed: 3))
    let mallory = lab.connect(2)
    _ = lab.register(mallory, as: "mallory")
    lab.request(.send(to: lab.childNode.id, message: lab.heard[0].message), from: mallory)
    #expect(lab.refusals == [.wrongChallenge] && lab.offers.count == 1)
  }

  @Test func anOldOfferIsRefusedWhenTheRoomServerLies() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    parent.perform(parent.session.leave(), in: &lab)
    lab.deliver(RoomDelivery(from: "anybody", message: lab.heard[0].message))
    #expect(lab.refusals == [.replayed] && lab.offers.count == 1)
  }

  @Test func anOldGoodbyeUnpairsNobodyAgain() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.perform(parent.session.sayFarewell(.notPaired, now: lab.now), in: &lab)
    parent.run(in: &lab)
    #expect(lab.unpaired == [node.id])
    lab.child = PairedChildSessions(envelope: lab.childNode.envelope, random: SeededGenerator(seed: 3))
    lab.deliver(RoomDelivery(from: "anybody", message: lab.heard[0].message))
    #expect(lab.unpaired == [node.id])
    lab.deliver(RoomDelivery(from: "anybody", message: lab.heard[0].message, challenge: "BBBBBBBBBBBBBBBBBBBBBA"))
    #expect(lab.unpaired == [node.id])
  }

  // MARK: - Who may not

  @Test func anUnpairedParentIsRefusedAndToldSoBySignature() {
    var lab = SignalingLab()
    let node = LabNode()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    #expect(lab.refusals == [.notPaired(node.id)] && lab.offers.isEmpty)
    #expect(parent.log == [.failed(.dismissed(.notPaired))])
    #expect(lab.closed[parent.id]?.code == .refused)
  }

  @Test func aRevokedParentLosesItsSessionsAndComesBackInVain() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    lab.pairs[node.id] = nil
    lab.perform(lab.child.endAll(of: node.id, .notPaired))
    parent.run(in: &lab)
    #expect(parent.log.last == .ended(.notPaired))
    #expect(lab.childLog.last == .ended(lab.offers[0].session, .notPaired) && lab.child.count == 0)
    var again = LabParent(node, 2, in: &lab)
    again.watch(in: &lab)
    #expect(again.log == [.failed(.dismissed(.notPaired))] && lab.offers.count == 1)
  }

  @Test func anExpiredParentIsRefusedAndWhatItHasOpenEnds() {
    var (lab, node) = Self.pairedLab()
    var open = LabParent(node, 1, in: &lab)
    open.watch(in: &lab)
    lab.pairs[node.id]?.isExpired = true
    var parent = LabParent(node, 2, in: &lab)
    parent.watch(in: &lab)
    #expect(parent.log == [.failed(.dismissed(.expired))])
    #expect(lab.refusals == [.expired(node.id)] && lab.child.count == 0 && lab.offers.count == 1)
    open.run(in: &lab)
    #expect(open.log.last == .ended(.expired))
  }

  @Test func nobodySpeaksUnderAPairedParentsName() {
    var (lab, node) = Self.pairedLab()
    let mallory = LabNode()
    let offer = SignedMessage.Content.offer(sdp: SignalingLab.offer.description)
    for number in 1...3 as ClosedRange<UInt64> {
      let id = lab.connect(number)
      let challenge = lab.register(id, as: node.id)
      var message = lab.sealed(by: mallory, from: node, challenge: challenge, offer)
      let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"\#(node.id)"}"#.utf8))
      if number == 2 { message = message.replacingHeader(by: header) }
      if number == 3 { message = lab.sealed(by: node, to: mallory.id, challenge: challenge, offer) }
      lab.request(.send(to: lab.childNode.id, message: message), from: id)
    }
    #expect(lab.refusals == [.notPaired(mallory.id), .badSignature, .wrongRecipient] && lab.offers.isEmpty)
  }

  @Test func aPairedParentTakesPartInNoOtherParentsSession() throws {
    var (lab, node) = Self.pairedLab()
    let other = LabNode()
    lab.pair(other)
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    let session = lab.offers[0].session
    let id = lab.connect(2)
    let challenge = lab.register(id, as: "other")
    for content in [SignedMessage.Content.bye(.left), .candidate(SignalingLab.candidate, sdpMid: nil)] {
      let message = lab.sealed(by: other, session: session.session, challenge: challenge, content)
      lab.request(.send(to: lab.childNode.id, message: message), from: id)
    }
    #expect(lab.child.count == 1 && !lab.childLog.contains(.ended(session, .left)))
    #expect(!lab.childLog.contains(.addCandidate(session, SignalingLab.candidate, sdpMid: nil)))
  }

  @Test func aFloodOfOffersOpensNoMoreThanTheLimit() {
    var (lab, node) = Self.pairedLab()
    let id = lab.connect(1)
    let challenge = lab.register(id, as: "anna")
    var random = SeededGenerator(seed: 9)
    for _ in 0..<100 {
      lab.now += .milliseconds(20)
      let message = lab.sealed(
        by: node, session: RandomName.make(from: &random), challenge: challenge,
        .offer(sdp: SignalingLab.offer.description))
      lab.request(.send(to: lab.childNode.id, message: message), from: id)
    }
    #expect(lab.offers.count == PairedChildLimits().maximumSessionsPerParent)
  }

  @Test func noiseIsRefused() {
    var (lab, _) = Self.pairedLab()
    for (number, text) in ["", "a.b.c", "....", "{}", String(repeating: "A", count: 60_000)].enumerated() {
      let id = lab.connect(UInt64(number + 1))
      _ = lab.register(id, as: "c\(number)")
      lab.request(.send(to: lab.childNode.id, message: text), from: id)
      #expect(lab.closed[id]?.code == .refused)
    }
    #expect(lab.refusals.count == 5 && lab.offers.isEmpty)
  }
}

extension String {
  /// A compact JWS with another header in front.
  fileprivate func replacingHeader(by header: String) -> String {
    header + String(self[firstIndex(of: ".")!...])
  }
}
