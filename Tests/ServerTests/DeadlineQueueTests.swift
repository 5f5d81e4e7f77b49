import TestSupport
import Testing
import Wire

@testable import Server

@Suite struct DeadlineQueueTests {
  private static func instant(_ number: Int) -> Instant { Instant(nanoseconds: Int64(number)) }

  @Test func theFirstIsKnownWhateverChanges() {
    var random = SeededGenerator(seed: 7)
    var queue = DeadlineQueue<Int>()
    var known: [Int: Int] = [:]
    for _ in 0..<20_000 {
      let key = Int.random(in: 0..<60, using: &random)
      let deadline = Int.random(in: 0..<5, using: &random) == 0 ? nil : Int.random(in: 0..<1000, using: &random)
      queue.set(deadline.map(Self.instant), for: key)
      known[key] = deadline
      #expect(queue.first == known.values.min().map(Self.instant) && queue.count == known.count)
    }
    let due = Set(queue.due(at: Self.instant(300)))
    #expect(due == Set(known.filter { $0.value <= 300 }.keys) && !due.isEmpty)
  }

  @Test func whatIsDueStaysUntilItIsSetAnew() {
    var queue = DeadlineQueue<String>()
    #expect(queue.first == nil && queue.due(at: .distantFuture).isEmpty)
    queue.set(.zero, for: "a")
    queue.set(.zero + .seconds(1), for: "b")
    #expect(queue.due(at: .zero) == ["a"] && queue.due(at: .zero) == ["a"])
    queue.set(nil, for: "a")
    queue.set(nil, for: "nobody")
    #expect(queue.first == .zero + .seconds(1) && queue.due(at: .zero).isEmpty)
  }
}
