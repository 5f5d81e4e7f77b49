import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Server

@Suite(.timeLimit(.minutes(1))) struct LoopTimerTests {
  /// A timer with what it has done.
  private final class Rig: Sendable {
    let fired = Mutex<[ContinuousClock.Instant]>([])
    let (ticks, tick) = AsyncStream.makeStream(of: Void.self)

    func open(on loop: any EventLoop) async throws -> LoopTimer {
      try await LoopTimer.open(on: loop) {
        self.fired.withLock { $0.append(.now) }
        self.tick.yield()
      }
    }
  }

  private let loop = MultiThreadedEventLoopGroup.singleton.next()
  private let rig = Rig()

  @Test func whatIsPutOffFiresOnceAndLater() async throws {
    let timer = try await rig.open(on: loop)
    let began = ContinuousClock.now
    try await loop.submit {
      for delay in [5, 1, 200, 20, 80] { timer.set(.milliseconds(delay)) }
    }.get()
    for await _ in rig.ticks { break }
    try await Task.sleep(for: .milliseconds(250))
    let fired = rig.fired.withLock { $0 }
    #expect(fired.count == 1 && fired[0] - began >= .milliseconds(80))
    try await loop.submit { timer.close() }.get()
  }

  @Test func aTimeThatIsOverFiresAtOnceAndItCanBeSetAgain() async throws {
    let timer = try await rig.open(on: loop)
    var ticks = rig.ticks.makeAsyncIterator()
    for delay in [Duration.zero, .seconds(-3), .nanoseconds(1), .milliseconds(3)] {
      try await loop.submit { timer.set(delay) }.get()
      await ticks.next()
    }
    #expect(rig.fired.withLock { $0.count } == 4)
    try await loop.submit { timer.close() }.get()
  }

  /// The loop may have been told of it together with what sets the timer again, and reads what it was told of.
  @Test func whatHasExpiredFiresWhateverIsSetThen() async throws {
    let timer = try await rig.open(on: loop)
    var ticks = rig.ticks.makeAsyncIterator()
    try await loop.submit {
      timer.set(.milliseconds(1))
      usleep(5000)
      timer.set(.seconds(600))
    }.get()
    await ticks.next()
    try await loop.submit { timer.set(.milliseconds(1)) }.get()
    await ticks.next()
    #expect(rig.fired.withLock { $0.count } == 2)
    try await loop.submit { timer.close() }.get()
  }

  /// Its descriptor may be another's by then.
  @Test func aClosedTimerIsNotSet() async throws {
    let timer = try await rig.open(on: loop)
    try await loop.submit {
      timer.close()
      timer.set(.zero)
    }.get()
    try await Task.sleep(for: .milliseconds(50))
    #expect(rig.fired.withLock { $0.isEmpty })
  }
}
