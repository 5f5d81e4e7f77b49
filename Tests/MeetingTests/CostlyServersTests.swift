import Testing
import Wire

@testable import Meeting

@Suite struct CostlyServersTests {
  private let start = Instant(nanoseconds: 0)

  @Test func aServerIsLeftAloneLongerEachTime() {
    var servers = CostlyServers()
    var now = start
    var waits: [Int] = []
    for _ in 0..<9 {
      servers.add("a", reason: "bomb", now: now)
      #expect(servers.refusal("a", now: now) == "bomb" && servers.refusal("b", now: now) == nil)
      var seconds = 0
      while servers.refusal("a", now: now) != nil {
        now += .seconds(1)
        seconds += 1
      }
      waits.append(seconds)
    }
    #expect(waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
    // It was good for a day.
    now += .seconds(86_400)
    servers.add("a", reason: "again", now: now)
    #expect(servers.refusal("a", now: now + .seconds(59)) == "again")
    #expect(servers.refusal("a", now: now + .seconds(60)) == nil)
  }
}
