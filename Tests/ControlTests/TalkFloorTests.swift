import Control
import Testing

@Suite struct TalkFloorTests {
  private var floor = TalkFloor()
  private let mother = TalkFloor.Talker(viewer: "1", name: "Phone")
  private let father = TalkFloor.Talker(viewer: "2", name: "Phone")

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
}
