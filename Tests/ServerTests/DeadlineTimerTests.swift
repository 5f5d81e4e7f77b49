import NIOCore
import NIOEmbedded
import Testing
import Wire

@testable import Server

@Suite struct DeadlineTimerTests {
  private let loop = EmbeddedEventLoop()

  @Test func theLastDeadlineCountsAndNoneCancels() {
    var (now, fired) = (Instant.zero, 0)
    let timer = DeadlineTimer(on: loop, now: { now }) { fired += 1 }
    timer.set(now + .seconds(1))
    timer.set(now + .seconds(3))
    loop.advanceTime(by: .seconds(2))
    #expect(fired == 0)
    loop.advanceTime(by: .seconds(1))
    #expect(fired == 1)
    now = .zero + .seconds(9)
    // It has passed; never from within the call.
    timer.set(Instant.zero)
    #expect(fired == 1)
    loop.run()
    #expect(fired == 2)
    timer.set(now + .seconds(1))
    timer.set(nil)
    loop.advanceTime(by: .seconds(5))
    #expect(fired == 2)
  }

  @Test func aReleasedTimerDoesNotFire() {
    var fired = 0
    var timer: DeadlineTimer? = DeadlineTimer(on: loop, now: { .zero }) { fired += 1 }
    timer?.set(Duration.seconds(1))
    timer = nil
    loop.advanceTime(by: .seconds(2))
    #expect(fired == 0)
  }
}
