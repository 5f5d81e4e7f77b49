import Identity
import TestSupport
import Testing
import Wire

@testable import Pairing

/// The parent's verdict on the check words, and pairing again.
@Suite struct PairingVerdictTests {
  private static let end = UnixTime(seconds: PairingRig.date.seconds + 3600)
  private static let later = UnixTime(seconds: PairingRig.date.seconds + 7200)

  private func paired(_ rig: PairingRig) throws -> PairingInitiator {
    var parent = rig.parent(.code(rig.child.open(now: rig.now).code))
    #expect(parent.verdict(.confirm) == nil)
    _ = try rig.pair(&parent)
    return parent
  }

  @Test(arguments: PairingVerdict.allCases) func theVerdictReachesTheChild(verdict: PairingVerdict) throws {
    let rig = PairingRig()
    let request = try #require(try paired(rig).verdict(verdict))
    #expect(rig.stored.map(\.awaitsConfirmation) == [true])
    #expect(try rig.post(request) == .settled(verdict))
    // The answer was lost.
    #expect(try rig.post(request) == .settled(verdict))
    let id = rig.stored[0].id
    #expect(rig.verdicts == ["\(verdict) \(id)", "\(verdict) \(id)"])
  }

  /// Whoever sees what passes, or knows the session, cannot make one verdict of the other, or one of their own.
  @Test func noVerdictWithoutTheAgreedKey() throws {
    let rig = PairingRig()
    let parent = try paired(rig)
    guard case .verdict(_, let session, let proof) = parent.verdict(.confirm) else {
      Issue.record("no verdict")
      return
    }
    var changed = proof
    changed[31] ^= 1
    for (verdict, session, proof) in [
      (PairingVerdict.cancel, session, proof), (.confirm, session, changed),
      (.confirm, [UInt8](repeating: 7, count: 16), proof), (.cancel, session, [UInt8](repeating: 0, count: 32)),
    ] {
      #expect(rig.refusal(.verdict(verdict, session: session, proof: proof)) == .unknownSession)
    }
    #expect(rig.verdicts.isEmpty)
  }

  @Test func aVerdictComesWithinTenMinutes() throws {
    let rig = PairingRig()
    let parent = try paired(rig)
    rig.now += .seconds(599)
    #expect(try rig.post(try #require(parent.verdict(.confirm))) == .settled(.confirm))
    rig.now += .seconds(1)
    #expect(rig.refusal(try #require(parent.verdict(.cancel))) == .unknownSession)
  }

  @Test func runsThatAwaitAVerdictAreBounded() throws {
    let rig = PairingRig()
    let first = try paired(rig)
    for _ in 0..<PairingVerdicts.maximumRuns - 1 { _ = try paired(rig) }
    #expect(try rig.post(try #require(first.verdict(.confirm))) == .settled(.confirm))
    _ = try paired(rig)
    #expect(rig.refusal(try #require(first.verdict(.confirm))) == .unknownSession)
  }

  /// An earlier version says nothing about the words.
  @Test func whoDoesNotAnnounceAVerdictIsNotAwaited() throws {
    let rig = PairingRig()
    var parent = rig.parent(.code(rig.child.open(now: rig.now).code))
    var request = try parent.start()
    while true {
      if case .finish(let session, let confirmation, let sealed, confirms: true) = request {
        request = .finish(session: session, confirmation: confirmation, sealed: sealed)
      }
      guard case .send(let next) = try parent.receive(try rig.post(request), date: PairingRig.date) else { break }
      request = next
    }
    #expect(rig.stored.map(\.awaitsConfirmation) == [false])
    #expect(rig.stored.map(\.isCompleted) == [false])
  }

  // MARK: Pairing again

  private func known(_ rig: PairingRig, _ permissions: Permissions, until end: UnixTime?) -> PairRecord {
    PairRecord(
      id: rig.parentIdentity.id, name: "Mama", role: .parent, publicKey: rig.parentIdentity.publicKeySPKI,
      permissions: permissions, createdAt: PairingRig.date, lastSeenAt: PairingRig.date, expiresAt: end)
  }

  struct Again: Sendable {
    var had: Permissions
    var until: UnixTime?
    var offered: Permissions
    var offeredUntil: UnixTime?
    /// Nil: refused.
    var result: Permissions?
    var resultUntil: UnixTime?
    var name = "Guest"
  }

  /// What it had it keeps, and nothing lasts longer than it was given for.
  @Test(arguments: [
    // An owner opens a guest's link.
    Again(had: .all, offered: [.view, .listen], offeredUntil: end, result: .all, name: "Mama"),
    Again(had: .all, offered: .everyday, result: .all, name: "Mama"),
    Again(had: .all, offered: .all, result: .all),
    Again(had: .everyday, offered: [.view], offeredUntil: end, result: .everyday, name: "Mama"),
    Again(had: .everyday, offered: .all, result: .all),
    Again(had: [.view], until: end, offered: .everyday, result: .everyday),
    Again(had: [.view], until: end, offered: [.view], offeredUntil: later, result: [.view], resultUntil: later),
    Again(
      had: [.view], until: later, offered: [.view], offeredUntil: end, result: [.view], resultUntil: later, name: "Mama"
    ),
    Again(
      had: [.view, .recordings], offered: .everyday, result: .everyday.union(.recordings)),
    Again(
      had: [.view], until: end, offered: [.listen], offeredUntil: end, result: [.view, .listen], resultUntil: end),
    // Neither gives everything that the other does: one record cannot hold both.
    Again(had: [.view, .talk], until: end, offered: [.view], offeredUntil: later),
    Again(had: [.view], offered: [.view, .talk], offeredUntil: end),
    Again(had: [.view, .admin], until: end, offered: [.view]),
  ]) func rightsNeverShrinkByPairingAgain(again: Again) throws {
    let rig = PairingRig()
    rig.known = known(rig, again.had, until: again.until)
    let terms = PairingTerms(permissions: again.offered, name: "Guest", expiresAt: again.offeredUntil)
    let secret = try rig.child.invite(terms: terms, for: .seconds(600), now: rig.now)
    guard let result = again.result else {
      #expect(throws: PairingRefusal.alreadyPaired) { try rig.pair(.link(secret)) }
      #expect(rig.stored.isEmpty)
      // The link can still be used.
      rig.known = nil
      _ = try rig.pair(.link(secret))
      return
    }
    let (child, _, grant) = try rig.pair(.link(secret))
    let record = rig.stored[0]
    #expect(record.permissions == result && record.expiresAt == again.resultUntil && record.name == again.name)
    #expect(grant.permissions == result && grant.expiresAt == again.resultUntil && grant.name == again.name)
    #expect(child.permissions == result)
    // It was completed, and stays so.
    #expect(record.isCompleted)
  }
}
