import Identity
import TestSupport
import Testing
import Wire

@testable import Pairing

/// Invitations and windows end with whoever made them.
@Suite struct PairingOffersTests {
  private let guest = PairingTerms(permissions: [.view], name: "Guest")
  private let phone = PairingIssuer.parent(id: "0011223344556677")

  @Test func invitationsEndWithTheirIssuer() throws {
    let rig = PairingRig()
    let stolen = try rig.child.invite(terms: guest, by: phone, for: .seconds(60), now: rig.now)
    let other = try rig.child.invite(terms: guest, by: .parent(id: "other"), for: .seconds(60), now: rig.now)
    let own = try rig.child.invite(terms: guest, for: .seconds(60), now: rig.now)
    rig.child.endOffers { issuer, _ in issuer == phone }
    #expect(throws: PairingRefusal.unknownLink) { try rig.pair(.link(stolen)) }
    _ = try rig.pair(.link(other))
    _ = try rig.pair(.link(own))
    #expect(rig.stored.count == 2)
    #expect(rig.events().contains(.inviteRevoked(guest)))
  }

  @Test func theWindowEndsWithWhoeverOpenedIt() throws {
    let rig = PairingRig()
    let offer = rig.child.open(by: phone, now: rig.now)
    #expect(rig.child.opening?.issuer == phone)
    rig.child.endOffers { issuer, _ in issuer == .administrator }
    #expect(rig.child.isOpen)
    rig.child.endOffers { issuer, _ in issuer == phone }
    #expect(!rig.child.isOpen && rig.child.opening == nil)
    #expect(throws: PairingRefusal.windowClosed) { try rig.pair(.code(offer.code)) }
    #expect(throws: PairingRefusal.unknownLink) { try rig.pair(.link(offer.secret)) }
    #expect(rig.events() == [.windowOpened, .windowClosed(.issuerGone)])
    #expect(rig.child.nextDeadline == nil)
  }

  @Test func aPairingUnderWayEndsWithItsInvitation() throws {
    let rig = PairingRig()
    let secret = try rig.child.invite(terms: guest, by: phone, for: .seconds(60), now: rig.now)
    var parent = rig.parent(.link(secret))
    let answer = try rig.post(try parent.start())
    guard case .send(let finish) = try parent.receive(answer, date: PairingRig.date) else {
      throw PairingRig.Unexpected()
    }
    rig.child.endOffers { _, _ in true }
    #expect(throws: (any Error).self) { try rig.post(finish) }
    #expect(rig.stored.isEmpty && rig.child.sessions.isEmpty)
  }

  @Test func invitationsAreListedAndEndedOneByOne() throws {
    let rig = PairingRig()
    let long = try rig.child.invite(terms: guest, by: phone, for: .seconds(90), now: rig.now)
    _ = try rig.child.invite(terms: guest, for: .seconds(60), now: rig.now)
    _ = rig.child.open(now: rig.now)
    let listed = rig.child.invitations
    #expect(listed.map(\.issuer) == [.administrator, phone])
    #expect(listed.map(\.expiresAt) == [rig.now + .seconds(60), rig.now + .seconds(90)])
    #expect(listed.allSatisfy { $0.id.utf8.count == 8 && $0.terms == guest } && listed[0].id != listed[1].id)
    // What is shown is not what the two ends call the link.
    #expect(!rig.child.invites.invites.keys.contains { "\($0)".contains(listed[0].id) })
    #expect(rig.child.revokeInvite(id: listed[1].id) == listed[1])
    #expect(rig.child.revokeInvite(id: listed[1].id) == nil)
    #expect(rig.child.invitations == [listed[0]] && rig.child.isOpen)
    #expect(throws: PairingRefusal.unknownLink) { try rig.pair(.link(long)) }
  }
}
