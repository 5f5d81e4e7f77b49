import DeviceNames
import Frames
import Glibc
import Synchronization
import Testing
import Wire

@testable import Devices

/// A source that a test plays by hand.
private final class FakeSource: MediaSource {
  private let known: Mutex<String>
  private let dropped = Mutex(Damage())
  var info: String { known.withLock { $0 } }
  var damage: Damage { dropped.withLock { $0 } }
  private let closures = Mutex<(deliver: @Sendable (Int) -> Void, failed: @Sendable (DeviceError) -> Void)?>(nil)
  private let stopped = Atomic(false)
  var isStopped: Bool { stopped.load(ordering: .relaxed) }
  private let script: @Sendable (FakeSource) -> Void

  init(_ info: String, _ script: @escaping @Sendable (FakeSource) -> Void) {
    known = Mutex(info)
    self.script = script
  }

  /// More is known of the device.
  func learn(_ info: String) { known.withLock { $0 = info } }
  func drop(_ count: UInt64) { dropped.withLock { $0.dropped += count } }

  func start(deliver: @escaping @Sendable (Int) -> Void, failed: @escaping @Sendable (DeviceError) -> Void) {
    closures.withLock { $0 = (deliver, failed) }
    script(self)
  }

  func stop() { stopped.store(true, ordering: .relaxed) }
  func deliver(_ element: Int) { closures.withLock { $0 }?.deliver(element) }
  func fail(_ error: DeviceError) { closures.withLock { $0 }?.failed(error) }
}

struct SupervisorTests {
  private typealias Supervisor = DeviceSupervisor<String, Int>
  private static let gone = DeviceError(device: "cam", reason: .disconnected)
  private static let busy = DeviceError(device: "cam", reason: .busy)

  private var fast: SupervisorTiming {
    var timing = SupervisorTiming()
    timing.firstRetry = .milliseconds(5)
    timing.longestRetry = .milliseconds(10)
    timing.settle = .milliseconds(1)
    return timing
  }

  private var impatient: SupervisorTiming {
    var timing = fast
    timing.firstElement = .milliseconds(60)
    timing.silence = .milliseconds(60)
    return timing
  }

  private func text(_ state: Supervisor.State?) -> String {
    switch state {
    case .running(let info): "running \(info)"
    case .missing(let error): "missing \(error.summary.prefix(9))"
    case .off, .opening, nil: "nothing"
    }
  }

  @Test func aMissingDeviceIsOpenedWhenItComes() throws {
    let tries = Atomic(0)
    let supervisor = Supervisor(name: "test", timing: fast) { _ throws(DeviceError) in
      if tries.add(1, ordering: .relaxed).newValue < 4 { throw Self.gone }
      return FakeSource("cam") { $0.deliver(7) }
    }
    let states = Collector<Supervisor.State>()
    let elements = Collector<Int>()
    supervisor.start(deliver: { elements.put($0) }, stateChanged: { states.put($0) })
    #expect(text(states.next()) == "missing disconnec")
    #expect(text(states.next()) == "running cam")
    #expect(elements.next() == 7)
    supervisor.stop()
    let count = tries.load(ordering: .relaxed)
    #expect(count == 4)
  }

  @Test func whatIsLearntLaterIsReported() throws {
    let sources = Collector<FakeSource>()
    let supervisor = Supervisor(name: "test", timing: impatient) { _ throws(DeviceError) in
      let source = FakeSource("cam") { $0.deliver(1) }
      sources.put(source)
      return source
    }
    let states = Collector<Supervisor.State>()
    supervisor.start(deliver: { _ in }, stateChanged: { states.put($0) })
    #expect(text(states.next()) == "running cam")
    let source = try #require(sources.next())
    source.drop(3)
    source.learn("cam at another rate")
    #expect(text(states.next()) == "running cam at another rate")
    #expect(supervisor.damage.dropped == 3)
    supervisor.stop()
  }

  @Test func aFailedSourceIsStoppedAndOpenedAgain() throws {
    let sources = Collector<FakeSource>()
    let supervisor = Supervisor(name: "test", timing: fast) { _ throws(DeviceError) in
      let source = FakeSource("cam") { $0.deliver(1) }
      sources.put(source)
      return source
    }
    let states = Collector<Supervisor.State>()
    supervisor.start(deliver: { _ in }, stateChanged: { states.put($0) })
    #expect(text(states.next()) == "running cam")
    let first = try #require(sources.next())
    first.fail(Self.busy)
    #expect(text(states.next()) == "missing in use by")
    #expect(text(states.next()) == "running cam")
    #expect(first.isStopped)
    supervisor.stop()
  }

  @Test func aSourceThatDeliversNothingIsAFailure() throws {
    let asked = Collector<Set<String>>()
    let supervisor = Supervisor(name: "test", timing: impatient) { avoiding throws(DeviceError) in
      asked.put(avoiding)
      return FakeSource("cam") { _ in }
    }
    let states = Collector<Supervisor.State>()
    supervisor.start(deliver: { _ in }, stateChanged: { states.put($0) })
    #expect(text(states.next()) == "missing delivered")
    #expect(asked.next() == [])
    #expect(asked.next() == ["device"])
    supervisor.stop()
    // The same trouble again is no news.
    #expect(states.nextNow() == nil)
  }

  @Test func aSourceThatFallsSilentIsAFailure() {
    let supervisor = Supervisor(name: "test", timing: impatient) { _ throws(DeviceError) in
      FakeSource("cam") { $0.deliver(1) }
    }
    let states = Collector<Supervisor.State>()
    supervisor.start(deliver: { _ in }, stateChanged: { states.put($0) })
    #expect(text(states.next()) == "running cam")
    #expect(text(states.next()) == "missing delivered")
    supervisor.stop()
  }

  @Test func silenceWithoutDemandIsNone() {
    let demand = Demand()
    let supervisor = Supervisor(name: "test", timing: impatient, demand: demand) { _ throws(DeviceError) in
      FakeSource("cam") { $0.deliver(1) }
    }
    let states = Collector<Supervisor.State>()
    supervisor.start(deliver: { _ in }, stateChanged: { states.put($0) })
    #expect(text(states.next()) == "running cam")
    MonotonicClock.sleep(until: MonotonicClock.now + .milliseconds(150))
    #expect(states.nextNow() == nil)
    demand.isWanted = true
    #expect(text(states.next()) == "missing delivered")
    supervisor.stop()
  }

  @Test func stoppingLetsTheDeviceGoAndItStartsAgain() throws {
    let sources = Collector<FakeSource>()
    let supervisor = Supervisor(name: "test", timing: fast) { _ throws(DeviceError) in
      let source = FakeSource("cam") { $0.deliver(1) }
      sources.put(source)
      return source
    }
    let elements = Collector<Int>()
    for _ in 0..<3 {
      supervisor.start(deliver: { elements.put($0) }, stateChanged: { _ in })
      #expect(elements.next() == 1)
      supervisor.stop()
      supervisor.stop()
      #expect(try #require(sources.next()).isStopped)
    }
  }

  @Test func stoppingDoesNotWaitForTheNextTry() {
    var slow = fast
    slow.firstRetry = .seconds(600)
    let supervisor = Supervisor(name: "test", timing: slow) { _ throws(DeviceError) in throw Self.gone }
    let states = Collector<Supervisor.State>()
    supervisor.start(deliver: { _ in }, stateChanged: { states.put($0) })
    #expect(text(states.next()) == "missing disconnec")
    let before = MonotonicClock.now
    supervisor.stop()
    #expect(MonotonicClock.now - before < .seconds(300))
  }

  /// A device that is missing for hours is no loop that hangs.
  @Test func thePulseBeatsWhileTheDeviceIsMissingAndRestsAfterwards() {
    let pulse = Pulse()
    let tried = Collector<Int>()
    let supervisor = Supervisor(name: "test", timing: fast, pulse: pulse) { _ throws(DeviceError) in
      tried.put(1)
      throw Self.gone
    }
    supervisor.start(deliver: { _ in }, stateChanged: { _ in })
    for _ in 0..<3 {
      // Nobody beats between this and the next round.
      pulse.beat(at: .zero)
      while tried.nextNow() != nil {}
      #expect(tried.next() == 1)
      #expect(tried.next() == 1)
      #expect(pulse.silence(at: MonotonicClock.now) < .seconds(300))
    }
    supervisor.stop()
    #expect(pulse.silence(at: MonotonicClock.now + .seconds(1_000_000)) == .zero)
  }

  @Test func aDeviceThatHangsEndsThePulse() throws {
    let pulse = Pulse()
    let opening = Collector<Instant>()
    let goOn = Collector<Int>()
    let supervisor = Supervisor(name: "test", timing: fast, pulse: pulse) { _ throws(DeviceError) in
      opening.put(MonotonicClock.now)
      _ = goOn.next()
      throw Self.gone
    }
    supervisor.start(deliver: { _ in }, stateChanged: { _ in })
    let since = try #require(opening.next())
    let silence = pulse.silence(at: since + .seconds(100))
    #expect(silence >= .seconds(100))
    #expect(pulse.silence(at: since + .seconds(200)) == silence + .seconds(100))
    goOn.put(1)
    goOn.put(1)
    supervisor.stop()
  }

  @Test func whatIsHeldIsClosedAndOpenedAgain() throws {
    let sources = Collector<FakeSource>()
    let hold = Hold()
    let supervisor = Supervisor(name: "test", timing: fast, hold: hold) { _ throws(DeviceError) in
      let source = FakeSource("cam") { $0.deliver(1) }
      sources.put(source)
      return source
    }
    let states = Collector<Supervisor.State>()
    supervisor.start(deliver: { _ in }, stateChanged: { states.put($0) })
    #expect(text(states.next()) == "running cam")
    let first = try #require(sources.next())
    hold.turn()
    for _ in 0..<2000 where !first.isStopped { usleep(10_000) }
    #expect(first.isStopped)
    hold.turn()
    #expect(text(states.next()) == "running cam")
    #expect(sources.next()?.isStopped == false)
    // However short it was.
    hold.turn()
    hold.turn()
    #expect(text(states.next()) == "running cam")
    supervisor.stop()
  }

  @Test func theTestPictureRunsUnderASupervisor() {
    let request = VideoRequest(width: 160, height: 120, framesPerSecond: 50)
    let supervisor = VideoSupervisor(.test, request: request)
    let frames = Collector<VideoFrame>()
    supervisor.start(deliver: { frames.put($0) }, stateChanged: { _ in })
    #expect(frames.next()?.width == 160)
    supervisor.stop()
  }
}
