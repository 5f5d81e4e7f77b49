import Control
import Testing

@Suite struct PendingCommandsTests {
  private var pending = PendingCommands()

  @Test mutating func eachCommandHasItsID() throws {
    let first = try pending.add(Ping(), now: at(0))
    let second = try pending.add(CameraList(), now: at(1))
    #expect(first.id != second.id)
    #expect(pending.command(of: try #require(second.id)) == CameraList.self)
    pending.remove(try #require(first.id))
    #expect(pending.command(of: try #require(first.id)) == nil)
    #expect(pending.nextDeadline == at(11))
    #expect(pending.handleTimeout(now: at(10.9)).isEmpty)
    #expect(pending.handleTimeout(now: at(11)) == [second.id])
    #expect(pending.nextDeadline == nil)
  }

  @Test mutating func theirNumberIsBounded() throws {
    for _ in 0..<64 { _ = try pending.add(Ping(), now: at(0)) }
    #expect(code { try pending.add(Ping(), now: at(0)) } == .busy)
  }
}
