import SDP
import TestSupport
import Testing

@Suite struct OfferTests {
  /// A parent's own side: it watches, listens and talks.
  private var parent: LocalSession {
    var local = makeLocal(talk: .sendReceive)
    local.media[0].direction = .receiveOnly
    local.iceUfrag = "Prnt"
    local.candidates = []
    local.endOfCandidates = false
    return local
  }

  private func negotiate(
    child: LocalSession, wantsDataChannel: Bool = true
  ) throws -> (offer: SessionDescription, atChild: NegotiatedSession, atParent: NegotiatedSession) {
    let offer = OfferAnswer.offer(parent, wantsDataChannel: wantsDataChannel)
    let sent = try SessionDescription(parsing: offer.description)
    #expect(sent == offer)
    let (answer, atChild) = try OfferAnswer.answer(sent, with: child)
    let back = try SessionDescription(parsing: answer.description)
    return (offer, atChild, try OfferAnswer.accept(back, for: offer, with: parent))
  }

  @Test func ourOfferIsUnderstoodByOurAnswer() throws {
    let (offer, child, parent) = try negotiate(child: makeLocal(talk: .sendReceive))
    #expect(offer.bundle == ["0", "1", "2"])
    #expect(offer.media.allSatisfy { $0.setup == .actpass })
    #expect(child.weAreDTLSClient && !parent.weAreDTLSClient)
    #expect(child.media.map(\.direction) == [.sendOnly, .sendReceive])
    #expect(parent.media.map(\.direction) == [.receiveOnly, .sendReceive])
    #expect(child.media.map(\.payloadType) == [96, 111] && parent.media.map(\.payloadType) == [96, 111])
    #expect(parent.media[0].rtxPayloadType == 97 && parent.media[1].redPayloadType == 63)
    #expect(parent.media[0].feedback == child.media[0].feedback)
    #expect(parent.media.map(\.headerExtensionIDs) == child.media.map(\.headerExtensionIDs))
    #expect(parent.media[0].remoteSSRCs == [11, 12] && child.media[0].remoteSSRCs.isEmpty)
    #expect(parent.midExtensionID == 1 && child.midExtensionID == 1)
    #expect(parent.dataChannel?.remoteSCTPPort == 5000 && child.dataChannel?.mid == "2")
    #expect(parent.remoteICE.ufrag == "Crdl" && child.remoteICE.ufrag == "Prnt")
    #expect(parent.remoteICE.candidates.count == 1 && parent.remoteICE.endOfCandidates)
  }

  @Test func aPassiveAnswererMakesTheOffererClient() throws {
    let (_, child, parent) = try negotiate(child: makeLocal(setup: .passive))
    #expect(!child.weAreDTLSClient && parent.weAreDTLSClient)
  }

  @Test func withoutADataChannelNoneIsOffered() throws {
    let (offer, child, parent) = try negotiate(child: makeLocal(), wantsDataChannel: false)
    #expect(offer.media.count == 2 && child.dataChannel == nil && parent.dataChannel == nil)
  }

  @Test func aRejectedSectionLeavesTheRest() throws {
    var deaf = makeLocal()
    deaf.media.remove(at: 0)
    let (_, _, parent) = try negotiate(child: deaf)
    #expect(parent.media.map(\.index) == [1] && parent.media[0].local == 1)
    #expect(parent.remoteICE.candidates.count == 1)
  }

  @Test func anICERestartIsSeenAndKeepsTheRest() throws {
    let first = try negotiate(child: makeLocal())
    var again = makeLocal()
    again.iceUfrag = "Neww"
    again.icePwd = "zyxwvutsrqponmlkjihgfedc"
    again.version = 2
    let second = try negotiate(child: again)
    #expect(second.atParent.remoteICE.ufrag == "Neww" && first.atParent.remoteICE.ufrag != "Neww")
    #expect(second.atChild.remoteICE == first.atChild.remoteICE)
    #expect(second.atParent.media == first.atParent.media)
  }

  @Test func anAnswerThatDoesNotFitIsRefused() throws {
    let offer = OfferAnswer.offer(parent, wantsDataChannel: true)
    let (good, _) = try OfferAnswer.answer(offer, with: makeLocal())
    let edits: [(NegotiationError, (inout SessionDescription) -> Void)] = [
      (.answerDoesNotFit("2 sections for 3"), { $0.media.removeLast() }),
      (.answerDoesNotFit("section 0 is audio, not video"), { $0.media.swapAt(0, 1) }),
      (.answerDoesNotFit("section 1 has another mid"), { $0.media[1].mid = "9" }),
      (.answerDoesNotFit("section 0 has no codec of the offer"), { $0.media[0].payloads = [] }),
      (.noBundle, { $0.groups = [] }),
      (.noBundle, { $0.groups[0].mids = ["0", "1"] }),
      (.badSetup(.actpass, SourceLine()), { $0.media[0].setup = .actpass }),
      (.noRTCPMux("0", SourceLine()), { ($0.media[0].rtcpMux, $0.media[0].rtcpMuxOnly) = (false, false) }),
      (.noFingerprint(SourceLine()), { for index in 0..<3 { $0.media[index].fingerprints = [] } }),
      (.noICECredentials(SourceLine()), { for index in 0..<3 { $0.media[index].icePwd = nil } }),
      (.nothingInCommon, { for index in 0..<3 { $0.media[index].port = 0 } }),
    ]
    for (expected, edit) in edits {
      var answer = good
      edit(&answer)
      #expect(throws: expected) { try OfferAnswer.accept(answer, for: offer, with: parent) }
    }
  }

  /// Answers as servers write them: what is odd but says the same is taken.
  @Test func anOddAnswerIsTakenWhereItSaysTheSame() throws {
    let offer = OfferAnswer.offer(parent, wantsDataChannel: true)
    func reject(_ answer: inout SessionDescription) { answer.media[0].port = 0 }
    let edits: [(String, [Int], (inout SessionDescription) -> Void)] = [
      ("all mids in the group, the first rejected", [1], { reject(&$0) }),
      ("the same in another order", [0, 1], { $0.groups[0].mids.reverse() }),
      ("a mid twice, and one that nobody has", [0, 1], { $0.groups[0].mids = ["9", "1", "1", "0", "2"] }),
      ("mids in the group alone", [0, 1], { for index in 0..<3 { $0.media[index].mid = nil } }),
      (
        "the transport in the first section alone, which is rejected", [1],
        {
          reject(&$0)
          for index in 1...2 { ($0.media[index].iceUfrag, $0.media[index].icePwd) = (nil, nil) }
          for index in 1...2 { ($0.media[index].fingerprints, $0.media[index].setup) = ([], nil) }
        }
      ),
      (
        "the transport in the last section alone", [0, 1],
        {
          for index in 0...1 { ($0.media[index].iceUfrag, $0.media[index].icePwd) = (nil, nil) }
          for index in 0...1 { ($0.media[index].fingerprints, $0.media[index].setup) = ([], nil) }
        }
      ),
      ("rtcp-mux-only alone", [0, 1], { ($0.media[0].rtcpMux, $0.media[0].rtcpMuxOnly) = (false, true) }),
      (
        "one section, no group", [1],
        {
          reject(&$0)
          $0.media[2].port = 0
          $0.groups = []
        }
      ),
    ]
    for (name, media, edit) in edits {
      var (answer, _) = try OfferAnswer.answer(offer, with: makeLocal(talk: .sendReceive, setup: .passive))
      edit(&answer)
      let session = try OfferAnswer.accept(SessionDescription(parsing: answer.description), for: offer, with: parent)
      #expect(session.media.map(\.index) == media, "\(name)")
      #expect(session.remoteICE.ufrag == "Crdl" && session.remoteFingerprints.count == 1, "\(name)")
      #expect(session.weAreDTLSClient, "\(name)")
    }
  }

  @Test func foreignExtensionIdsInAnAnswerAreNotUsed() throws {
    let offer = OfferAnswer.offer(parent, wantsDataChannel: false)
    var (answer, _) = try OfferAnswer.answer(offer, with: makeLocal())
    answer.media[0].extensions = [ExtensionMapping(id: 9, uri: RTPHeaderExtensionURI.mid)]
    let session = try OfferAnswer.accept(answer, for: offer, with: parent)
    #expect(session.media[0].headerExtensionIDs.isEmpty)
  }
}
