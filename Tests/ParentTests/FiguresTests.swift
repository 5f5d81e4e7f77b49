import Testing
import Wire

@testable import Parent

@Suite struct RetryDelayTests {
  @Test func growsToTenSecondsAndStaysThere() {
    var delay = RetryDelay()
    var now = Instant.zero
    var delays: [Duration] = []
    for _ in 0..<8 {
      let next = delay.next(now: now, jitter: 0)
      delays.append(next)
      now += next + .milliseconds(100)
    }
    let first: [Duration] = [200, 500, 1000, 2000, 4000, 8000].map { .milliseconds($0) }
    #expect(Array(delays.prefix(6)) == first)
    #expect(delays.suffix(2) == [.seconds(10), .seconds(10)])
  }

  @Test func chanceTakesAtMostAQuarterOff() {
    var delay = RetryDelay()
    #expect(delay.next(now: .zero, jitter: 1) == .milliseconds(150))
    #expect(delay.next(now: .zero + .seconds(1), jitter: 0.5) == .microseconds(437_500))
  }

  @Test func beginsAnewAfterALinkThatHeld() {
    var delay = RetryDelay()
    for second in 0..<5 { _ = delay.next(now: .zero + .seconds(second), jitter: 0) }
    #expect(delay.next(now: .zero + .seconds(60), jitter: 0) == .milliseconds(200))
  }
}
