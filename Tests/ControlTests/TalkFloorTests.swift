import Control
import Testing

@Suite struct TalkFloorTests {
  private var floor = TalkFloor()
  private let mother = TalkFloor.Talker(viewer: "1", name: "Phone", isGuest: false)
  private let father = TalkFloor.Talker(viewer: "2", name: "Phone", isGuest: false)

  @Test mutating func oneSpeaksAtATime() throws {
    try floor.acquire(mother, force: false)
    try floor.acquire(mother, force: false)
    #expect(code { try floor.acquire(father, force: false) } == .busy)
    #expect(floor.document == TalkDocument(holder: "Phone", viewer: "1"))
  }

  @Test mutating func onlyTheHolderGivesItBack() throws {
    try floor.acquire(mother, force: false)
    floor.release(viewer: "2")
    #expect(floor.holder == mother)
    floor.release(viewer: "1")
    floor.release(viewer: "1")
    #expect(floor.document == TalkDocument())
    try floor.acquire(father, force: false)
    #expect(floor.holder == father)
  }

  @Test mutating func forceTakesIt() throws {
    try floor.acquire(mother, force: false)
    try floor.acquire(father, force: true)
    #expect(floor.holder == father)
    floor.release(viewer: "1")
    #expect(floor.holder == father)
  }

  @Test mutating func aGuestGivesWayToAParentAndNeverTakesItFromOne() throws {
    let guest = TalkFloor.Talker(viewer: "3", name: "Sitter", isGuest: true)
    let another = TalkFloor.Talker(viewer: "4", name: "Player", isGuest: true)
    try floor.acquire(guest, force: false)
    #expect(floor.document == TalkDocument(holder: "Sitter", viewer: "3", isGuest: true))
    #expect(!floor.isFree(for: another) && floor.isFree(for: mother) && floor.isFree(for: guest))
    #expect(code { try floor.acquire(another, force: false) } == .busy)
    try floor.acquire(mother, force: false)
    #expect(floor.holder == mother && !floor.isFree(for: guest))
    // Whatever it may do otherwise.
    for force in [false, true] { #expect(code { try floor.acquire(guest, force: force) } == .busy) }
    #expect(floor.document == TalkDocument(holder: "Phone", viewer: "1"))
  }
}
