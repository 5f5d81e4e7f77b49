import Identity
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
    guard case .send(.finish(let session, var proof, let sealed, _)) = try parent.receive(answer, date: PairingRig.date)
    else { throw PairingRig.Unexpected() }
    proof[31] ^= 1
    #expect(rig.refusal(.finish(session: session, confirmation: proof, sealed: sealed)) == .unknownLink)
    proof[31] ^= 1
    #expect(rig.refusal(.finish(session: session, confirmation: proof, sealed: sealed)) == .unknownSession)
    #expect(rig.events() == [.invited(terms), .wrongProof])
    _ = try rig.pair(.link(secret))
  }

  /// The child's own confirmation, sent back to it.
  @Test func reflectedConfirmationIsRefused() throws {
    let rig = PairingRig()
    let secret = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    var parent = rig.parent(.link(secret))
    guard case .share(let session, _, let confirmation) = try rig.post(try parent.start()) else {
      throw PairingRig.Unexpected()
    }
    #expect(rig.refusal(.finish(session: session, confirmation: confirmation, sealed: [1])) == .unknownLink)
    #expect(rig.events() == [.invited(terms), .wrongProof])
  }

  @Test func whoDoesNotKnowTheSecretIsNoChild() throws {
    let (rig, stranger) = (PairingRig(), PairingRig(seed: 7))
    let secret = try rig.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    let other = try stranger.child.invite(terms: terms, for: .seconds(60), now: rig.now)
    var parent = rig.parent(.link(secret))
    guard case .link(_, let share) = try parent.start() else { throw PairingRig.Unexpected() }
    let answer = try stranger.post(
      .link(id: PairingBytes.linkID(other, hashes: PairingRig.crypto.hashes), share: share))
    #expect(throws: PairingFailure.wrongLink) { try parent.receive(answer, date: PairingRig.date) }
  }

  /// A share that was made for a code proves nothing about a link, and the other way round.
  @Test func codesAndLinksDoNotAnswerForEachOther() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    guard case .parameters(let salt, _) = try rig.post(.begin) else { throw PairingRig.Unexpected() }
    var parent = rig.parent(.link(offer.secret))
    guard case .link(_, let share) = try parent.start() else { throw PairingRig.Unexpected() }
    let answer = try rig.post(.share(salt: salt, share: share))
    #expect(throws: PairingFailure.wrongLink) { try parent.receive(answer, date: PairingRig.date) }
  }

  @Test func wrongProofsOfALinkCostTheCodeNoTry() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    for seed in 1...5 as ClosedRange<UInt64> {
      var parent = rig.parent(.link(offer.secret), seed: seed)
      guard case .share(let session, _, _) = try rig.post(try parent.start()) else { throw PairingRig.Unexpected() }
      let wrong = [UInt8](repeating: 0, count: PairingSize.confirmation)
      #expect(rig.refusal(.finish(session: session, confirmation: wrong, sealed: [1])) == .unknownLink)
    }
    #expect(rig.child.isOpen)
    _ = try rig.pair(.code(offer.code))
  }

  /// The derivation is fixed: a page or another program has to find the same. RFC 9383 section 3.2 with HKDF-SHA256.
  @Test func secretsOfALinkMatchTheVector() throws {
    let secret = try #require(PairingSecret("AAECAwQFBgcICQoLDA0ODw"))
    let secrets = PairingPassword.link(secret).secrets(crypto: PairingRig.crypto)
    #expect(
      PairingBytes.linkID(secret, hashes: PairingRig.crypto.hashes) == Fixture.hex("9fb40141e89749c28107d647b6013a78"))
    #expect(secrets.w0.bytes == Fixture.hex("f1aa6b89147c4ff4512be692a23e91a1fd19e7d1bfbb7a6a5235c577034f3cc2"))
    #expect(secrets.w1.bytes == Fixture.hex("5c3bf586eeb84c8c06564f69f1b096e0e8885fc0d7d298cc8beb056516ae882d"))
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
