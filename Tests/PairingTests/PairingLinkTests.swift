import Secure
import TestSupport
import Testing
import Wire

@testable import Pairing

@Suite struct PairingLinkTests {
  private let terms = PairingTerms(permissions: [.view], name: "Guest")

  @Test func linkIsGoodForOnePairing() throws {
    let rig = PairingRig()
    let secret = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    _ = try rig.pair(.link(secret))
    #expect(throws: PairingRefusal.unknownLink) { try rig.pair(.link(secret)) }
    #expect(rig.stored.count == 1)
    #expect(rig.child.nextDeadline == nil)
  }

  @Test func inviteExpires() throws {
    let rig = PairingRig()
    let secret = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    #expect(rig.child.nextDeadline == rig.now + .seconds(60))
    rig.now += .seconds(60)
    #expect(throws: PairingRefusal.unknownLink) { try rig.pair(.link(secret)) }
    #expect(rig.events() == [.invited(terms), .inviteExpired(terms)])
  }

  @Test func invitesAreIndependentOfTheWindow() throws {
    let rig = PairingRig()
    let first = try rig.child.invite(terms: terms, for: .seconds(600), now: rig.now)
    let second = try rig.child.invite(terms: PairingTerms(), for: .seconds(600), now: rig.now)
    let offer = rig.child.open(now: rig.now)
    _ = try rig.pair(.link(first))
    #expect(rig.child.isOpen)
    _ = try rig.pair(.code(offer.code))
    #expect(!rig.child.isOpen)
    _ = try rig.pair(.link(second))
    #expect(rig.stored.map(\.permissions) == [.view, .all, .all])
  }

  @Test func invitesAreBoundedAndCanBeTakenBack() throws {
    let rig = PairingRig { $0.maximumInvites = 2 }
    let first = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    _ = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    #expect(throws: PairingResponder.TooManyInvites.self) {
      try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    }
    rig.child.endOffers { _, _ in true }
    #expect(throws: PairingRefusal.unknownLink) { try rig.pair(.link(first)) }
    _ = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
  }

  @Test func wrongProofPairsNobodyAndLeavesTheLinkUsable() throws {
    let rig = PairingRig()
    let secret = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    var parent = rig.parent(.link(secret))
    let answer = try rig.post(try parent.start())
    guard case .send(.finish(let session, var proof, let sealed)) = try parent.receive(answer, date: PairingRig.date)
    else { throw PairingRig.Unexpected() }
    proof[31] ^= 1
    #expect(rig.refusal(.finish(session: session, confirmation: proof, sealed: sealed)) == .unknownLink)
    proof[31] ^= 1
    #expect(rig.refusal(.finish(session: session, confirmation: proof, sealed: sealed)) == .unknownSession)
    #expect(rig.events() == [.invited(terms), .wrongProof])
    _ = try rig.pair(.link(secret))
  }

  /// The child's own proof, sent back to it.
  @Test func reflectedProofIsRefused() throws {
    let rig = PairingRig()
    let secret = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    var parent = rig.parent(.link(secret))
    guard case .link(let session, _, _, let proof) = try rig.post(try parent.start()) else {
      throw PairingRig.Unexpected()
    }
    #expect(rig.refusal(.finish(session: session, confirmation: proof, sealed: [1])) == .unknownLink)
  }

  @Test func newRunReplacesTheOneBefore() throws {
    let rig = PairingRig()
    let secret = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    var finishes: [PairingRequest] = []
    for seed in 1...40 as ClosedRange<UInt64> {
      var parent = rig.parent(.link(secret), seed: seed)
      let answer = try rig.post(try parent.start())
      guard case .send(let finish) = try parent.receive(answer, date: PairingRig.date) else {
        throw PairingRig.Unexpected()
      }
      finishes.append(finish)
    }
    #expect(rig.child.sessions.count == 1)
    for finish in finishes.dropLast() { #expect(rig.refusal(finish) == .unknownSession) }
    _ = try rig.post(finishes[39])
    #expect(rig.stored.count == 1)
  }

  @Test func secretNeverTravels() throws {
    let rig = PairingRig()
    let secret = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    var parent = rig.parent(.link(secret))
    let request = try parent.start()
    let answer = try rig.post(request)
    let step = try parent.receive(answer, date: PairingRig.date)
    for text in ["\(request)", "\(answer)", "\(step)"] {
      #expect(!text.contains(secret.bytes.map { "\($0)" }.joined(separator: ", ")))
    }
  }

  @Test func guessedLinksAreUnknown() throws {
    let rig = PairingRig()
    _ = rig.child.open(now: rig.now)
    #expect(throws: PairingRefusal.unknownLink) {
      try rig.pair(.link(PairingSecret("AAAAAAAAAAAAAAAAAAAAAA")!))
    }
    #expect(rig.child.isOpen)
  }
}
