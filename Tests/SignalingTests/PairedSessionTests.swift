import Pairing
import SDP
import TestSupport
import Testing
import Wire

@testable import Signaling

@Suite struct PairedSessionTests {
  private static func pairedLab(_ limits: PairedChildLimits = PairedChildLimits()) -> (SignalingLab, LabNode) {
    var lab = SignalingLab(limits: limits)
    let node = LabNode()
    lab.pair(node)
    return (lab, node)
  }

  /// They are not signed: whoever runs a meeting place may say anything.
  @Test func wordsOfAPlaceAreQuotedAsItsOwn() {
    let told = "\(PairedSessionError.room(RoomError(.refused, "Your child is well.")))"
    #expect(told == "it refuses, in its own words and not the child's: “Your child is well.”")
  }

  /// Whether messages pass at a meeting place: an answer without an event, a refusal to log or a session.
  @Test func aCheckIsDismissedAndLeavesNoTrace() {
    var (lab, _) = Self.pairedLab()
    let delivery = RoomDelivery(from: "anna", message: MeetingCheck.message, place: MeetingPlaceID(number: 1))
    let actions = lab.child.receive(delivery, pairs: { _ in nil }, now: .zero)
    #expect(actions == [.dismiss(client: delivery.client)])
    #expect(lab.child.count == 0 && lab.child.nextDeadline == nil)
  }

  @Test func anOfferIsAnsweredAndBothTrickle() throws {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    // Found before there is a challenge to sign it with.
    parent.perform(parent.session.addLocalCandidate(SignalingLab.candidate, sdpMid: "0"), in: &lab)
    parent.watch(in: &lab)
    #expect(parent.log == [.answered(SignalingLab.answer)] && parent.session.isOpen)
    let offer = try #require(lab.offers.first)
    #expect(offer.description == SignalingLab.offer && offer.parent == node.peer)
    parent.perform(parent.session.endOfLocalCandidates(), in: &lab)
    #expect(
      lab.childLog.suffix(2) == [
        .addCandidate(offer.session, SignalingLab.candidate, sdpMid: "0"), .remoteCandidatesComplete(offer.session),
      ])
    lab.perform(lab.child.addLocalCandidate(offer.session, SignalingLab.candidate, sdpMid: nil))
    lab.perform(lab.child.endOfLocalCandidates(offer.session))
    parent.run(in: &lab)
    #expect(
      parent.log.suffix(2) == [.addCandidate(SignalingLab.candidate, sdpMid: nil), .remoteCandidatesComplete])
    #expect(lab.refusals.isEmpty && parent.refusals.isEmpty)
  }

  @Test func aParentThatLeavesIsHeardAndSoIsAChild() throws {
    var (lab, node) = Self.pairedLab()
    var first = LabParent(node, 1, in: &lab)
    var second = LabParent(node, 2, in: &lab)
    first.watch(in: &lab)
    second.watch(in: &lab)
    #expect(lab.child.count == 2)
    first.perform(first.session.leave(), in: &lab)
    #expect(first.log.last == .ended(.left) && lab.childLog.last == .ended(lab.offers[0].session, .left))
    lab.perform(lab.child.end(lab.offers[1].session, .goingAway))
    second.run(in: &lab)
    #expect(second.log.last == .ended(.goingAway) && second.session.hasEnded && lab.child.count == 0)
    #expect(second.session.leave().isEmpty)
  }

  @Test func iceRestartsAreAgreedAndTheirCandidatesKeptApart() throws {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    let session = lab.offers[0].session
    for _ in 0..<2 { parent.perform(parent.session.restartICE(SignalingLab.fragment, now: lab.now), in: &lab) }
    #expect(lab.childLog.filter { $0 == .restart(session, SignalingLab.fragment) }.count == 2)
    parent.run(in: &lab)
    // Only the answer to the last one counts.
    #expect(parent.log.filter { $0 == .restarted(SignalingLab.fragment) }.count == 1)
    #expect(parent.session.nextDeadline == nil)
    let challenge = lab.heard[0].challenge!
    for (revision, isTaken) in [(0, false), (1, false), (2, true), (2, false)] {
      let before = lab.childLog.count
      lab.deliver(
        RoomDelivery(
          from: lab.heard[0].from,
          message: lab.sealed(
            by: node, session: session.session, challenge: challenge, revision: revision,
            .candidate(SignalingLab.candidate, sdpMid: nil)), challenge: challenge))
      #expect(lab.childLog.count == before + (isTaken ? 1 : 0))
    }
  }

  @Test func aRestartWithoutAnAnswerFailsAndTheSessionStays() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    parent.toRoom = { _ in [] }
    parent.perform(parent.session.restartICE(SignalingLab.fragment, now: lab.now), in: &lab)
    #expect(parent.session.handleTimeout(now: lab.now + .seconds(7)).isEmpty)
    #expect(parent.session.handleTimeout(now: lab.now + .seconds(8)) == [.restartFailed] && parent.session.isOpen)
    #expect(parent.session.connectionLost().isEmpty && parent.session.isOpen)
  }

  /// The child's router has begun anew: the meeting place has lost the child, and what was sent to it meanwhile.
  @Test func aRestartIsMadeAgainWhenTheChildIsBackAtTheMeetingPlace() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    #expect(parent.session.receive(.presence("renewed"), now: lab.now).isEmpty)
    parent.toRoom = { _ in [] }
    parent.perform(parent.session.restartICE(SignalingLab.fragment, now: lab.now), in: &lab)
    #expect(parent.session.receive(.presence(nil), now: lab.now).isEmpty)
    #expect(parent.session.receive(.presence("back"), now: lab.now) == [.attached])
  }

  /// The parent's network has changed: its old connection is dead, and nobody has told the room.
  @Test func anOpenSessionGoesOnOverAnotherConnection() throws {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    let offer = try #require(lab.offers.first)
    #expect(parent.session.connectionLost().isEmpty && parent.session.isOpen)
    parent.id = lab.connect(2)
    parent.perform(parent.session.reattach(), in: &lab)
    parent.run(in: &lab)
    #expect(parent.log.last == .attached && lab.closed[RoomConnectionID(number: 1)]?.code == .replaced)
    parent.perform(parent.session.restartICE(SignalingLab.fragment, now: lab.now), in: &lab)
    parent.run(in: &lab)
    #expect(parent.log.last == .restarted(SignalingLab.fragment) && lab.refusals.isEmpty)
    #expect(lab.childLog.contains(.restart(offer.session, SignalingLab.fragment)))
    // The child has vouched for it, so the room keeps it.
    lab.now += .seconds(60)
    lab.perform(lab.rooms.handleTimeout(now: lab.now))
    #expect(lab.closed[parent.id] == nil)
    lab.perform(lab.child.end(offer.session, .goingAway))
    parent.run(in: &lab)
    #expect(parent.log.last == .ended(.goingAway))
  }

  /// Whoever takes the parent's name in the room, which only the parent and the child know, still cannot sign for it.
  @Test func aStrangerUnderTheParentsNameIsNotVouchedFor() throws {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.watch(in: &lab)
    let (session, client) = (lab.offers[0].session, lab.heard[0].from)
    let stranger = lab.connect(2)
    _ = lab.register(stranger, as: client)
    lab.request(
      .send(
        to: lab.childNode.id,
        message: lab.sealed(
          by: LabNode(), from: node, session: session.session, challenge: lab.heard[0].challenge!, revision: 1,
          .restart(fragment: SignalingLab.fragment.description))), from: stranger)
    #expect(lab.refusals.count == 1 && lab.closed[stranger] != nil)
    #expect(!lab.childLog.contains(.restart(session, SignalingLab.fragment)))
  }

  @Test func candidatesThatComeBeforeTheirDescriptionWait() throws {
    var (lab, node) = Self.pairedLab()
    lab.answersAtOnce = false
    let id = lab.connect(1)
    let challenge = lab.register(id, as: "anna")
    let send = { (lab: inout SignalingLab, content: SignedMessage.Content) in
      lab.request(
        .send(to: lab.childNode.id, message: lab.sealed(by: node, challenge: challenge, content)), from: id)
    }
    send(&lab, .candidate(SignalingLab.candidate, sdpMid: nil))
    #expect(lab.childLog.isEmpty && lab.child.nextDeadline != nil)
    send(&lab, .offer(sdp: SignalingLab.offer.description))
    send(&lab, .endOfCandidates)
    let session = try #require(lab.offers.first).session
    #expect(lab.childLog.count == 1)
    lab.perform(lab.child.answer(session, SignalingLab.answer))
    #expect(
      lab.childLog.suffix(2) == [
        .addCandidate(session, SignalingLab.candidate, sdpMid: nil), .remoteCandidatesComplete(session),
      ])
  }

  @Test func theChildsEarlyCandidatesWaitForItsAnswer() throws {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    var held: [RoomReply] = []
    parent.toParent = { reply in
      if case .registered = reply { return [reply] }
      held.append(reply)
      return []
    }
    parent.watch(in: &lab)
    lab.perform(lab.child.addLocalCandidate(lab.offers[0].session, SignalingLab.candidate, sdpMid: "0"))
    parent.run(in: &lab)
    #expect(held.count == 2)
    for reply in held.reversed() { parent.perform(parent.session.receive(reply, now: lab.now), in: &lab) }
    #expect(
      parent.log == [.answered(SignalingLab.answer), .addCandidate(SignalingLab.candidate, sdpMid: "0")])
  }

  @Test func earlyCandidatesAreBoundedAndForgotten() {
    var (lab, node) = Self.pairedLab()
    let id = lab.connect(1)
    let challenge = lab.register(id, as: "anna")
    for number in 0..<200 where lab.refusals.isEmpty {
      lab.now += .milliseconds(20)
      lab.request(
        .send(
          to: lab.childNode.id,
          message: lab.sealed(by: node, challenge: challenge, .candidate("candidate:\(number)", sdpMid: nil))),
        from: id)
    }
    #expect(lab.refusals == [.tooManyCandidates])
    lab.child.handleTimeout(now: lab.now + .seconds(10))
    #expect(lab.child.nextDeadline == nil)
  }

  @Test func aFullChildSaysSo() {
    var limits = PairedChildLimits()
    limits.maximumSessionsPerParent = 1
    var (lab, node) = Self.pairedLab(limits)
    var first = LabParent(node, 1, in: &lab)
    var second = LabParent(node, 2, in: &lab)
    first.watch(in: &lab)
    second.watch(in: &lab)
    #expect(first.session.isOpen && second.log == [.failed(.dismissed(.busy))])
  }

  @Test func aParentThatUnpairsTellsTheChild() {
    var (lab, node) = Self.pairedLab()
    var watching = LabParent(node, 1, in: &lab)
    watching.watch(in: &lab)
    var parent = LabParent(node, 2, in: &lab)
    parent.perform(parent.session.sayFarewell(.notPaired, now: lab.now), in: &lab)
    parent.run(in: &lab)
    #expect(parent.log == [.ended(.left)])
    #expect(lab.childLog.contains(.ended(lab.offers[0].session, .notPaired)) && lab.unpaired == [node.id])
  }

  /// A restart of the child would bring the pair back.
  @Test func aParentThatUnpairsHearsThatItCouldNotBeStored() {
    var (lab, node) = Self.pairedLab()
    lab.storesRemovals = false
    var parent = LabParent(node, 2, in: &lab)
    parent.perform(parent.session.sayFarewell(.notPaired, now: lab.now), in: &lab)
    parent.run(in: &lab)
    #expect(parent.log == [.ended(.notStored)])
  }

  @Test func anAbsentChildIsNotWaitedForLong() {
    var (lab, node) = Self.pairedLab()
    var parent = LabParent(node, 1, in: &lab)
    parent.toRoom = { _ in [] }
    parent.watch(in: &lab)
    #expect(parent.session.nextDeadline == lab.now + .seconds(5))
    #expect(parent.session.handleTimeout(now: lab.now + .seconds(5)) == [.failed(.timedOut(nil))])
    #expect(parent.session.handleTimeout(now: lab.now + .seconds(9)).isEmpty)
  }

  @Test func sessionsAreRememberedAndTheOldestForgotten() {
    var seen = SeenSessions(perParent: 3, parents: 2)
    let id = { (parent: String, session: Int) in PairedSessionID(parent: parent, session: "\(session)") }
    for number in 0..<4 { seen.insert(id("a", number)) }
    seen.insert(id("a", 3))
    #expect(!seen.contains(id("a", 0)) && (1..<4).allSatisfy { seen.contains(id("a", $0)) })
    seen.insert(id("b", 0))
    seen.insert(id("a", 4))
    seen.insert(id("c", 0))
    #expect(!seen.contains(id("b", 0)) && seen.contains(id("a", 4)) && seen.contains(id("c", 0)))
  }
}
