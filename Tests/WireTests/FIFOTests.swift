import Testing
import Wire

@Suite struct FIFOTests {
  @Test func keepsOrderThroughGrowthAndCompaction() {
    var queue = FIFO<Int>()
    var next = 0
    var expected = 0
    for round in 0..<500 {
      for _ in 0..<(round % 7) {
        queue.append(next)
        next += 1
      }
      for _ in 0..<(round % 5) where !queue.isEmpty {
        #expect(queue.first == expected)
        #expect(queue.popFirst() == expected)
        expected += 1
      }
      #expect(queue.count == next - expected)
    }
    for index in 0..<queue.count { #expect(queue[index] == expected + index) }
    queue[0] = 10_001
    #expect(queue.first == 10_001)
    queue.removeAll { $0 % 2 == 0 }
    #expect(queue.elements.allSatisfy { $0 % 2 == 1 })
    queue.removeAll()
    #expect(queue.popFirst() == nil)
  }
}
