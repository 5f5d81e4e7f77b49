import Foundation
import Identity
import NIOCore
import Pairing
import Signaling
import Storage
import Synchronization
import Testing
import Wire

@testable import Child

/// Pairing, invitations and tokens, and how each of them ends.
final class WhoMayComeInTests {
  private let house: PairingHouse

  init() throws {
    house = try PairingHouse()
  }

  deinit {
    try? house.shutDown()
    house.remove()
  }

  private func refusedLink(_ secret: PairingSecret, _ location: SourceLocation = #_sourceLocation) {
    #expect(throws: PairingHouse.Refused(status: 403), sourceLocation: location) { try house.pair(.link(secret)) }
  }

  // MARK: Dates

  /// A board that starts in 1970, is given a wrong date, and then the right one.
  @Test func lastSeenFollowsTheDateThatIsRight() throws {
    let board = try PairingHouse(date: UnixTime(seconds: 100))
    defer {
      try? board.shutDown()
      board.remove()
    }
    let phone = try board.pairFirst()
    let token = try board.on { try $0.tokens.add(name: "player", allow: .view, for: nil).text }
    try board.pass(10, system: 2_840_000_000)
    try board.on { house in
      house.pairing.touch(id: phone.id)
      _ = house.tokens.verify(token)
    }
    #expect(try board.on { $0.pairing.record(id: phone.id)?.lastSeenAt?.seconds } == 2_840_000_100)
    try board.pass(10, system: 1_795_000_000 - 2_840_000_100)
    #expect(try board.on { $0.pairing.record(id: phone.id)?.lastSeenAt?.seconds } == 1_795_000_000)
    #expect(try board.on { $0.tokens.records.first?.lastUsedAt?.timeIntervalSince1970 } == 1_795_000_000)
  }

  // MARK: Invitations and windows

  @Test func aStolenPhoneCannotInviteItselfBackIn() throws {
    let phone = try house.pairFirst()
    let issuer = PairingIssuer.parent(id: phone.id)
    let invitation = try house.invite([.view], by: issuer)
    let opened = try house.open(by: issuer)
    let end = try house.on { ($0.pairing.waitForEnd()) }
    try house.on { try $0.pairing.revoke(id: phone.id) }
    refusedLink(invitation.secret)
    refusedLink(opened.offer.secret)
    #expect(throws: PairingHouse.Refused(status: 409)) { try house.pair(.code(opened.offer.code)) }
    #expect(try end.wait().summary == "issuerGone")
    #expect(try house.on { $0.pairing.invitations().isEmpty && !$0.pairing.isOpen && $0.pairing.records.isEmpty })
    // Nor can what is left of its sessions.
    #expect(throws: PairingService.OfferRefusal.issuerMayNot) { try house.open(by: issuer) }
    #expect(throws: PairingService.OfferRefusal.issuerMayNot) { try house.invite([.view], by: issuer) }
  }

  @Test func anOwnerThatOpensAGuestsLinkStaysOneAndSoDoItsInvitations() throws {
    let identity = NodeIdentity.generate()
    let phone = try house.pairFirst(as: identity)
    let invitation = try house.invite([.view], by: .parent(id: phone.id))
    let again = try house.pair(.link(house.invite([.view]).secret), as: identity, saying: nil)
    #expect(again.permissions == .all && again.expiresAt == nil && again.name == phone.name && again.isCompleted)
    #expect(house.told.told.withLock { $0.changed } == [again])
    #expect(try house.on { $0.pairing.hasOwner })
    _ = try house.pair(.link(invitation.secret))
    // By code as well, through a window that gives no admin.
    #expect(try house.pair(.code(house.open().offer.code), as: identity).permissions == .all)
  }

  // MARK: Who owns the child

  /// Its browser was closed at the check words, and its key is lost with it.
  @Test func aPhoneThatGoesAwayAtTheWordsDoesNotHoldTheOwnersPlace() throws {
    let first = try house.pair(.code(house.open().offer.code), saying: nil)
    try house.on { $0.pairing.touch(id: first.id) }
    #expect(try house.on { !$0.pairing.hasOwner })
    let second = try house.pair(.code(house.open().offer.code))
    #expect(second.permissions == .all)
    #expect(try house.on { $0.pairing.hasOwner && $0.pairing.records.map(\.id) == [second.id] })
    #expect(try house.open().terms.permissions == .everyday)
  }

  @Test func aPhoneThatComesBackLaterOwnsTheChildWithoutHavingConfirmed() throws {
    let first = try house.pair(.code(house.open().offer.code), saying: nil)
    try house.pass(PairRecord.completedAfterSeconds)
    try house.on { $0.pairing.touch(id: first.id) }
    #expect(try house.open().terms.permissions == .everyday)
    _ = try house.pair(.code(house.open(admin: true).offer.code))
    #expect(try house.on { $0.pairing.record(id: first.id) } != nil)
    // The power fails: nothing is written at the end.
    let again = try PairingHouse(folder: house.folder)
    defer { try? again.shutDown() }
    #expect(try again.on { $0.pairing.record(id: first.id)?.isCompleted } == true)
  }

  /// Whoever has let a device in compares its words, and not those of a year ago.
  @Test func theWordsAreKnownForTenMinutes() throws {
    let phone = try house.pairFirst()
    let words = try house.on { $0.pairing.checkWords(ofPair: phone.id)?.description }
    #expect(words?.split(separator: " ").count == 4)
    try house.pass(590)
    #expect(try house.on { $0.pairing.checkWords(ofPair: phone.id)?.description } == words)
    try house.pass(10)
    #expect(
      try house.on { $0.pairing.checkWords(ofPair: phone.id) == nil && $0.pairing.checkWords(ofPair: "0") == nil })
  }

  @Test func wordsThatDifferRemoveThePair() throws {
    let identity = NodeIdentity.generate()
    #expect(throws: PairingHouse.Refused(status: 0)) {
      try house.pair(.code(house.open().offer.code), as: identity, saying: .cancel)
    }
    #expect(try house.on { $0.pairing.standing(ofPair: identity.id) } == .unknown)
    // Also one that was paired before.
    _ = try house.pairFirst(as: identity)
    #expect(throws: PairingHouse.Refused(status: 0)) {
      try house.pair(.code(house.open().offer.code), as: identity, saying: .cancel)
    }
    #expect(try house.on { $0.pairing.records.isEmpty })
  }

  @Test func aVerdictThatCannotBeStoredIsRefusedAndMayComeAgain() throws {
    let identity = NodeIdentity.generate()
    let away = house.folder.path + "-away"
    let opened = try house.open()
    var parent = PairingInitiator(
      .code(opened.offer.code), identity: identity, name: "Phone", crypto: PairingPrimitives(),
      random: SystemRandomNumberGenerator())
    var request = try parent.start()
    while case .send(let next) = try parent.receive(house.post(request), date: PairingHouse.start) { request = next }
    let cancel = try #require(parent.verdict(.cancel))
    try FileManager.default.moveItem(atPath: house.folder.path, toPath: away)
    #expect(throws: PairingHouse.Refused(status: 500)) { try house.post(cancel) }
    #expect(try house.on { $0.pairing.records.count == 1 })
    try FileManager.default.moveItem(atPath: away, toPath: house.folder.path)
    #expect(try house.post(cancel) == .settled(.cancel))
    #expect(try house.post(cancel) == .settled(.cancel))
    #expect(try house.on { $0.pairing.records.isEmpty })
    #expect(throws: PairingHouse.Refused(status: 404)) { try house.post(#require(parent.verdict(.confirm))) }
  }

  @Test func pairingForTheFirstTimeChangesNothing() throws {
    _ = try house.pairFirst()
    #expect(house.told.told.withLock { $0.changed }.isEmpty)
  }

  @Test func aGuestDoesNotOutlastWhoeverInvitesIt() throws {
    _ = try house.pairFirst()
    let admin = try house.pair(.link(house.invite(.all, for: 3600).secret))
    let issuer = PairingIssuer.parent(id: admin.id)
    let invitation = try house.invite([.view], for: 8 * 3600, by: issuer)
    #expect(invitation.terms.expiresAt == admin.expiresAt)
    #expect(try house.open(by: issuer).terms.expiresAt == admin.expiresAt)
    let own = try house.invite([.view], for: 8 * 3600)
    try house.pass(3600)
    refusedLink(invitation.secret)
    #expect(try house.on { !$0.pairing.isOpen && $0.pairing.invitations().count == 1 })
    _ = try house.pair(.link(own.secret))
  }

  @Test func nobodyGivesWhatTheyDoNotHave() throws {
    _ = try house.pairFirst()
    let admin = try house.pair(.link(house.invite([.view, .admin]).secret))
    let issuer = PairingIssuer.parent(id: admin.id)
    #expect(throws: PairingService.OfferRefusal.exceedsIssuer([.talk, .control])) {
      try house.invite([.view, .talk, .control], by: issuer)
    }
    #expect(try house.open(by: issuer).terms.permissions == .view)
    #expect(try house.open(by: issuer, admin: true).terms.permissions == [.view, .admin])
    let guest = try house.pair(.link(house.invite([.view]).secret))
    #expect(throws: PairingService.OfferRefusal.issuerMayNot) { try house.invite([.view], by: .parent(id: guest.id)) }
  }

  @Test func onlyTheFirstParentAdministersUnlessTheWindowSaysSo() throws {
    #expect(try house.pairFirst().permissions == .all)
    let second = try house.pair(.code(house.open().offer.code))
    #expect(second.permissions == [.view, .listen, .talk, .control])
    let third = try house.pair(.link(house.open(admin: true).offer.secret))
    #expect(third.permissions == .all)
  }

  /// The link would be good for an hour, and give what is over.
  @Test func anInvitationIsOverWhenTheAccessIsThatItGives() throws {
    let invitation = try house.invite([.view], for: 3600)
    try house.pass(0, system: 2 * 86_400)
    #expect(try house.on { $0.pairing.invitations().isEmpty })
    refusedLink(invitation.secret)
  }

  @Test func nothingExpiresBeforeTheDateIsKnown() throws {
    let house = try PairingHouse(date: UnixTime(seconds: 0))
    defer { house.remove() }
    #expect(throws: PairingService.OfferRefusal.dateUnknown) { try house.invite([.view]) }
    try house.pass(60, system: PairingHouse.start.seconds)
    _ = try house.invite([.view])
    try house.shutDown()
  }

  @Test func endingAllOffersEndsThoseOfTheMachineToo() throws {
    let phone = try house.pairFirst()
    let secrets = [try house.invite([.view]).secret, try house.invite([.view], by: .parent(id: phone.id)).secret]
    let opened = try house.open()
    #expect(try house.on { $0.pairing.invitations().count } == 2)
    try house.on { $0.pairing.endOffers() }
    for secret in secrets + [opened.offer.secret] { refusedLink(secret) }
    #expect(try house.on { !$0.pairing.isOpen && $0.pairing.invitations().isEmpty })
  }

  @Test func oneInvitationIsTakenBack() throws {
    let kept = try house.invite([.view], for: 7200)
    let ended = try house.invite([.view], for: 3600)
    let id = try house.on { $0.pairing.invitations()[0].invitation.id }
    #expect(try house.on { $0.pairing.revokeInvite(id: id) })
    #expect(try house.on { !$0.pairing.revokeInvite(id: id) })
    refusedLink(ended.secret)
    _ = try house.pair(.link(kept.secret))
  }

  // MARK: The outcome of a window

  @Test func aPairingByInvitationIsNotTheWindows() throws {
    let opened = try house.open()
    let hasEnded = Flag()
    let end = try house.on { $0.pairing.waitForEnd() }
    end.whenComplete { _ in hasEnded.value.withLock { $0 = true } }
    let guest = try house.pair(.link(house.invite([.view]).secret))
    #expect(try house.on { $0.pairing.isOpen && !hasEnded.value.withLock { $0 } })
    let parent = try house.pair(.code(opened.offer.code))
    #expect(try end.wait().summary == "paired \(parent.id)" && parent.id != guest.id)
  }

  /// `cradle-child pair` asks for the end after it has printed the link, which a camera may have read by then.
  @Test func whoeverAsksLateHearsHowTheWindowEnded() throws {
    let parent = try house.pair(.code(house.open().offer.code))
    #expect(try house.on { $0.pairing.waitForEnd() }.wait().summary == "paired \(parent.id)")
    _ = try house.open()
    try house.on { $0.pairing.close() }
    #expect(try house.on { $0.pairing.waitForEnd() }.wait().summary == "byHand")
  }

  private final class Flag: Sendable {
    let value = Mutex(false)
  }

  @Test func aPairingThatCannotBeStoredIsNone() throws {
    let opened = try house.open()
    let end = try house.on { $0.pairing.waitForEnd() }
    let away = house.folder.path + "-away"
    try FileManager.default.moveItem(atPath: house.folder.path, toPath: away)
    #expect(throws: PairingHouse.Refused(status: 500)) { try house.pair(.code(opened.offer.code)) }
    #expect(try end.wait().summary == "not stored")
    try FileManager.default.moveItem(atPath: away, toPath: house.folder.path)
    #expect(try house.on { $0.pairing.records.isEmpty })
  }

  // MARK: Time

  @Test func aClockThatIsSetBackGivesNoTime() throws {
    let start = PairingHouse.start
    let house = try PairingHouse(mark: .init(latest: start, certain: start, jump: nil))
    defer {
      try? house.shutDown()
      house.remove()
    }
    let guest = try house.pair(.link(house.invite([.view], for: 3600).secret))
    try house.pass(1800)
    // Set back again and again, an hour each minute.
    for _ in 0..<29 { try house.pass(60, system: -3600) }
    #expect(try house.on { $0.pairing.standing(ofPair: guest.id) } == .good(.view, expiresAt: guest.expiresAt))
    try house.pass(60, system: -3600)
    #expect(try house.on { $0.pairing.standing(ofPair: guest.id) } == .expired)
  }

  @Test func whatHasExpiredStaysExpiredAfterARestartInThePast() throws {
    let phone = try house.pairFirst()
    let guest = try house.pair(.link(house.invite([.view], for: 3600).secret))
    try house.pass(3600)
    try house.shutDown()
    // Without the clock's mark, too: the record itself says so.
    try FileManager.default.removeItem(at: house.folder.appending(path: "clock.json"))
    let again = try PairingHouse(folder: house.folder)
    defer { try? again.shutDown() }
    #expect(try again.on { $0.pairing.standing(ofPair: guest.id) } == .expired)
    #expect(try again.on { $0.pairing.standing(ofPair: phone.id) } == .good(.all, expiresAt: nil))
  }

  @Test func aBoardThatStartsIn1970GoesOnFromWhereItWas() throws {
    let guest = try house.pair(.link(house.invite([.view], for: 3600).secret))
    try house.pass(1800)
    try house.shutDown()
    let again = try PairingHouse(folder: house.folder, date: UnixTime(seconds: 20))
    defer { try? again.shutDown() }
    #expect(try again.on { $0.pairing.standing(ofPair: guest.id) } == .good(.view, expiresAt: guest.expiresAt))
    try again.pass(1799)
    #expect(try again.on { $0.pairing.standing(ofPair: guest.id) } == .good(.view, expiresAt: guest.expiresAt))
    try again.pass(1)
    #expect(try again.on { $0.pairing.standing(ofPair: guest.id) } == .expired)
  }

  @Test func aDamagedMarkKeepsNobodyOut() throws {
    let phone = try house.pairFirst()
    try house.shutDown()
    try Data("{".utf8).write(to: house.folder.appending(path: "clock.json"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: house.folder.appending(path: "clock.json").path)
    let again = try PairingHouse(folder: house.folder)
    defer { try? again.shutDown() }
    #expect(try again.on { $0.pairing.standing(ofPair: phone.id) } == .good(.all, expiresAt: nil))
    _ = try again.pairFirst()
    let mark = try ClockStore(file: AtomicFile(path: house.folder.path + "/clock.json")).load()
    #expect(mark?.latest == PairingHouse.start)
  }

  /// A board whose clock is at 2031 for one start, and a guest and a token of a year.
  @Test(arguments: [true, false]) func oneStartFarAheadEndsNothingForGood(certain: Bool) throws {
    let start = PairingHouse.start
    let mark = certain ? TrustedClock.Mark(latest: start, certain: start, jump: nil) : nil
    let first = try PairingHouse(mark: mark)
    defer { first.remove() }
    let year: Int64 = 365 * 86_400
    let guest = try first.pair(.link(first.invite([.view], for: year).secret))
    let (text, token) = try first.on { try $0.tokens.add(name: "tablet", allow: .view, for: Int(year)) }
    try first.pass(60)
    try first.shutDown()

    let ahead = try PairingHouse(folder: first.folder, date: UnixTime(seconds: start.seconds + 5 * year))
    for _ in 0..<6 { try ahead.pass(60) }
    // While the clock says so, they are over.
    #expect(try ahead.on { $0.pairing.standing(ofPair: guest.id) } == .expired)
    #expect(try ahead.on { $0.tokens.verify(text) == nil && $0.tokens.standing(ofToken: token.id) == .expired })
    try ahead.shutDown()

    let again = try PairingHouse(folder: first.folder, date: UnixTime(seconds: start.seconds + 1000))
    defer { try? again.shutDown() }
    try again.pass(1)
    #expect(try again.on { $0.pairing.standing(ofPair: guest.id) } == .good(.view, expiresAt: guest.expiresAt))
    #expect(try again.on { $0.tokens.verify(text)?.name } == "tablet")
    // And they end when their time is over.
    for _ in 0..<366 { try again.pass(86_400) }
    #expect(try again.on { $0.pairing.standing(ofPair: guest.id) } == .expired)
    #expect(try again.on { $0.tokens.verify(text) == nil })
  }

  /// The clock is five years ahead for some seconds, while a guest and a token watch.
  @Test func aClockThatIsWrongForSecondsEndsNothing() throws {
    let start = PairingHouse.start
    let house = try PairingHouse(mark: .init(latest: start, certain: start, jump: nil))
    defer {
      try? house.shutDown()
      house.remove()
    }
    let years: Int64 = 5 * 365 * 86_400
    let guest = try house.pair(.link(house.invite([.view], for: 3600).secret))
    let (text, token) = try house.on { try $0.tokens.add(name: "tablet", allow: .view, for: 3600) }
    let good = { @Sendable (house: PairingHouse) in
      house.pairing.standing(ofPair: guest.id) != .expired && house.pairing.peer(id: guest.id)?.isExpired == false
        && house.tokens.standing(ofToken: token.id) != .expired && house.tokens.verify(text) != nil
    }
    try house.pass(1)
    try house.pass(1, system: years)
    for _ in 0..<8 {
      try house.pass(1)
      #expect(try house.on(good))
    }
    // What is made meanwhile is good, too, until the clock is right again.
    let (later, _) = try house.on { try $0.tokens.add(name: "phone", allow: .view, for: 3600) }
    #expect(try house.on { $0.tokens.verify(later) != nil })
    try house.pass(1, system: -years)
    #expect(try house.on(good))
    // One that stays ahead counts after a minute.
    try house.pass(1, system: years)
    for _ in 0..<60 { try house.pass(1) }
    #expect(try !house.on(good))
  }

  /// Somebody who answers NTP has the clock set back, far or little, soon or late: what has expired stays so.
  @Test(arguments: [3600, 86_401, 40 * 86_400] as [Int64], [false, true])
  func whoeverSetsTheClockBackGetsNothing(back: Int64, certain: Bool) throws {
    let start = PairingHouse.start
    let mark = certain ? TrustedClock.Mark(latest: start, certain: start, jump: nil) : nil
    let first = try PairingHouse(mark: mark)
    defer { first.remove() }
    let guest = try first.pair(.link(first.invite([.view], for: 3600).secret))
    let (text, _) = try first.on { try $0.tokens.add(name: "tablet", allow: .view, for: 3600) }
    try first.pass(3601)
    try first.pass(1, system: -back)
    #expect(try first.on { $0.pairing.standing(ofPair: guest.id) } == .expired)
    #expect(try first.on { $0.tokens.verify(text) == nil })
    try first.shutDown()
    let again = try PairingHouse(folder: first.folder, date: UnixTime(seconds: start.seconds - back + 1800))
    defer { try? again.shutDown() }
    try again.pass(1)
    #expect(try again.on { $0.pairing.standing(ofPair: guest.id) } == .expired)
    #expect(try again.on { $0.tokens.verify(text) == nil })
  }

  // MARK: Tokens

  @Test func aTokenEndsWhenItsTimeIsOver() throws {
    let (text, record) = try house.on { try $0.tokens.add(name: "tablet", allow: .view, for: 2) }
    #expect(UnixTime(date: try #require(record.expiresAt)).seconds == PairingHouse.start.seconds + 2)
    try house.pass(1)
    #expect(try house.on { $0.tokens.verify(text)?.name } == "tablet")
    #expect(house.told.told.withLock { $0.ended }.isEmpty)
    try house.pass(1)
    #expect(house.told.told.withLock { $0.ended } == ["tablet"])
    #expect(try house.on { $0.tokens.verify(text) == nil })
    #expect(try house.on { $0.tokens.standing(ofToken: record.id) } == .expired)
    try house.pass(1, system: -1000)
    #expect(try house.on { $0.tokens.verify(text) == nil })
    #expect(house.told.told.withLock { $0.ended } == ["tablet"])
  }

  @Test func aTokenSaysWhatItIsWorth() throws {
    let (_, record) = try house.on { try $0.tokens.add(name: "tablet", allow: [.view, .talk], for: nil) }
    #expect(try house.on { $0.tokens.standing(ofToken: record.id) } == .good([.view, .talk], expiresAt: nil))
    _ = try house.on { try $0.tokens.revoke(name: "tablet") }
    #expect(house.told.told.withLock { $0.ended } == ["tablet"])
    #expect(try house.on { $0.tokens.standing(ofToken: record.id) } == .unknown)
    #expect(throws: StoreError.unknownName("tablet")) { try house.on { try $0.tokens.revoke(name: "tablet") } }
  }
}

extension PairingService.Outcome {
  fileprivate var summary: String {
    switch self {
    case .paired(let record, _): "paired \(record.id)"
    case .closed(let reason): "\(reason)"
    case .notStored: "not stored"
    }
  }
}
