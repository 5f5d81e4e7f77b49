import Glibc
import Linux
import Synchronization
import Testing
import Wire

/// What tells a late process from a slow device.
@Suite struct RunQueueDelayTests {
  @Test func threadsThatWaitForAProcessorKnowHowLong() {
    let count = 3 * max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let end = ContinuousClock.now + .milliseconds(300)
    let spin: @Sendable () -> Int64 = {
      var delay = RunQueueDelay()
      while ContinuousClock.now < end {}
      return delay.sinceLast().nanoseconds
    }
    let total = Total()
    let threads = (0..<count).map { _ in WorkerThread(name: "spin") { total.add(spin()) } }
    for thread in threads { thread.join() }
    // Three for each processor: two wait at any time.
    let nanoseconds = total.nanoseconds
    #expect(nanoseconds > 100_000_000 && nanoseconds < count * 60_000_000_000, "\(nanoseconds)")
  }

  private final class Total: Sendable {
    private let sum = Atomic<Int64>(0)
    var nanoseconds: Int { Int(sum.load(ordering: .relaxed)) }
    func add(_ nanoseconds: Int64) { sum.add(nanoseconds, ordering: .relaxed) }
  }
}
