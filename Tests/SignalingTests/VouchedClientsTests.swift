import Identity
import Pairing
import SDP
import TestSupport
import Testing
import Wire

@testable import Signaling

/// Who may stay in the room: the clients of parents that have a session, so many for each, and nobody for good.
@Suite struct VouchedClientsTests {
  private var lab = SignalingLab()
  private var lastNumber: UInt64 = 0

  private mutating func node(_ permissions: Permissions = [.view, .listen]) -> LabNode {
    let node = LabNode()
    lab.pairs[node.id] = PairedPeer(id: node.id, publicKeySPKI: node.identity.publicKeySPKI, permissions: permissions)
    return node
  }

  /// A connection of its own, and an offer over it.
  private mutating func watch(_ node: LabNode) -> LabParent {
    lastNumber += 1
    lab.now += .milliseconds(20)
    var parent = LabParent(node, lastNumber, in: &lab)
    parent.watch(in: &lab)
    return parent
  }

  private mutating func review() {
    let pairs = lab.pairs
    lab.perform(lab.child.reviewVouches(pairs: { pairs[$0] }, now: lab.now))
  }

  private var vouches: Int { lab.childLog.count { if case .vouch = $0 { true } else { false } } }

  @Test mutating func anOfferThatComesToNothingIsNotVouchedFor() {
    lab.answersAtOnce = false
    let parent = watch(node())
    #expect(lab.offers.count == 1 && vouches == 0)
    // As when all places of viewers are taken.
    lab.perform(lab.child.end(lab.offers[0].session, .busy))
    lab.perform(lab.rooms.handleTimeout(now: lab.now + .seconds(15)))
    #expect(vouches == 0 && lab.closed[parent.id]?.code == .timeout)
  }

  @Test mutating func whoHasASessionStays() {
    let parent = watch(node())
    for _ in 0..<100 {
      lab.now += .seconds(10)
      lab.perform(lab.rooms.handleTimeout(now: lab.now))
      review()
    }
    #expect(vouches == 1 && lab.closed[parent.id] == nil)
  }

  @Test mutating func aVouchEndsSomeTimeAfterTheSession() {
    let parent = watch(node())
    lab.perform(lab.child.end(lab.offers[0].session, .left))
    review()
    lab.now += .seconds(14)
    review()
    #expect(lab.closed[parent.id] == nil)
    lab.now += .seconds(1)
    review()
    #expect(lab.closed[parent.id]?.code == .refused)
  }

  /// A guest that leaves each session at once and comes again would fill the room.
  @Test(arguments: [(Permissions([.view]), 4), (Permissions.all, 16)])
  mutating func aParentKeepsSoManyPlacesAndNoMore(permissions: Permissions, places: Int) {
    let guest = node(permissions)
    for _ in 0..<64 {
      let parent = watch(guest)
      #expect(parent.answers == 1)
      lab.perform(lab.child.end(lab.offers.last!.session, .left))
    }
    #expect(lab.closed.count == 64 - places)
    // Another still has what it needs.
    let family = watch(node(.all))
    #expect(family.answers == 1 && lab.closed[family.id] == nil)
  }

  @Test mutating func manyParentsTogetherLeaveSomePlacesToNewcomers() {
    for _ in 0..<40 {
      let guest = node()
      for _ in 0..<4 {
        _ = watch(guest)
        lab.perform(lab.child.end(lab.offers.last!.session, .left))
      }
    }
    let vouched = 160 - lab.closed.count
    #expect(vouched == PairedChildLimits().maximumVouches)
  }

  @Test mutating func whoIsUnpairedOrExpiredLosesItsPlaceAtOnce() {
    let (thief, guest) = (node(), node())
    let parents = [watch(thief), watch(guest)]
    lab.pairs[thief.id] = nil
    lab.pairs[guest.id]?.isExpired = true
    for id in [thief.id, guest.id] { lab.perform(lab.child.endAll(of: id, .notPaired)) }
    review()
    for parent in parents { #expect(lab.closed[parent.id]?.code == .refused) }
  }

  @Test mutating func aConnectionThatASessionHasLeftGoesFirst() {
    let guest = node()
    let first = watch(guest)
    let leaving = watch(guest)
    lab.perform(lab.child.end(lab.offers[1].session, .left))
    for _ in 0..<3 { _ = watch(guest) }
    #expect(lab.closed[leaving.id] != nil && lab.closed[first.id] == nil && lab.closed.count == 1)
  }
}
