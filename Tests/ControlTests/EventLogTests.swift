import Control
import Testing

@Suite struct EventLogTests {
  private func log(_ count: Int, capacity: Int = 10) -> EventLog {
    var log = EventLog(capacity: capacity)
    for number in 0..<count { _ = log.append(.light, time: Double(number)) }
    return log
  }

  @Test func keepsTheLatest() {
    #expect(log(35).events(since: nil, limit: 200).map(\.sequence) == Array(26...35))
    #expect(log(3).events(since: nil, limit: 2).map(\.sequence) == [2, 3])
    #expect(EventLog().events(since: nil, limit: nil).isEmpty)
  }

  @Test func askingOnFromTheLastOneBringsAll() {
    let log = log(10)
    var seen: [UInt64] = []
    var since: UInt64 = 0
    while let last = log.events(since: since, limit: 3).last {
      seen += log.events(since: since, limit: 3).map(\.sequence)
      since = last.sequence
    }
    #expect(seen == Array(1...10))
  }

  @Test func aNumberThatNeverWasCountsAsNone() {
    #expect(log(5).events(since: 99, limit: nil).count == 5)
    #expect(log(5).events(since: 5, limit: nil).isEmpty)
  }

  @Test func goesOnAfterARestart() {
    var again = EventLog(capacity: 10, restored: log(25).events(since: nil, limit: 200))
    #expect(again.append(.restart, time: 99, detail: String(repeating: "x", count: 999)).sequence == 26)
    #expect(again.events(since: 25, limit: nil).first?.detail?.count == 200)
    #expect(again.events(since: nil, limit: 200).count == 10)
  }

  @Test func oneViewersOrdersPushOutNothingButThemselves() {
    var log = EventLog(capacity: 40)
    _ = log.append(.paired, time: 0, detail: "Phone")
    _ = log.append(.cameraLost, time: 1, id: "cot")
    for number in 0..<5 { _ = log.append(.light, time: 2, name: "mother", detail: "\(number)") }
    for number in 0..<1000 { _ = log.append(.light, time: 3, name: "guest", detail: "\(number)") }
    let kept = log.events(since: nil, limit: 200)
    #expect(kept.count == 40)
    #expect(kept.prefix(2).map(\.kind) == ["paired", "camera-lost"])
    #expect(kept.count { $0.name == "mother" } == 5)
    // Of its own, the latest stay.
    #expect(kept.last?.detail == "999" && kept.filter { $0.name == "guest" }.first?.detail == "967")
    #expect(kept.map(\.sequence) == kept.map(\.sequence).sorted())
  }

  @Test func manyKindsOfOrdersLeaveTheAlarmsToo() {
    var log = EventLog(capacity: 60)
    _ = log.append(.microphoneLost, time: 0)
    let orders: [EventKind] = [.light, .lullaby, .talk, .cameraSwitched, .screenshot, .viewerJoined, .viewerLeft]
    for number in 0..<700 { _ = log.append(orders[number % orders.count], time: 1, name: "guest") }
    #expect(log.events(since: nil, limit: 200).first?.kind == "microphone-lost")
    // After a restart as well.
    var again = EventLog(capacity: 60, restored: log.all)
    for number in 0..<700 { _ = again.append(orders[number % orders.count], time: 1, name: "guest") }
    #expect(again.events(since: nil, limit: 200).first?.kind == "microphone-lost")
  }
}
