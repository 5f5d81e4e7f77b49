import Control
import DeviceNames
import Devices
import Frames
import NIOCore
import NIOPosix
import Synchronization
import Testing
import Wire

@testable import Child
@testable import Pipelines

/// A camera that shows what the room and its lamp make of it.
private final class FakeCamera: NightCamera {
  struct State {
    var level = 0.5
    var brightness: VideoPipeline.Brightness?
    var isWatched = true
    var requests = 0
    var nights: [Bool] = []
    var isGone = false
  }

  let state = Mutex(State())
  let clock: FakeClock

  init(_ clock: FakeClock) { self.clock = clock }

  func set(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

  func requestBrightness() {
    state.withLock { state in
      state.requests += 1
      if !state.isGone { state.brightness = .init(level: state.level, time: clock.now) }
    }
  }
  var brightness: VideoPipeline.Brightness? { state.withLock { $0.brightness } }
  var isWatched: Bool { state.withLock { $0.isWatched } }
  func setNight(_ isNight: Bool) { state.withLock { $0.nights.append(isNight) } }
  var nights: [Bool] { state.withLock { $0.nights } }
  var requests: Int { state.withLock { $0.requests } }
}

private final class FakeClock: Sendable {
  private let time = Mutex(Instant.zero + .seconds(1000))
  var now: Instant { time.withLock { $0 } }
  func pass(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
}

private final class FakeLamp: DrivenLight {
  struct State {
    var levels: [Int] = []
    var isMissing = false
    var isClosed = false
  }

  let state = Mutex(State())
  /// One for each call.
  let calls = Mailbox<Bool>(capacity: 10_000)

  func setLevel(_ percent: Int) throws(DeviceError) {
    defer { calls.put(true) }
    let isMissing = state.withLock { state in
      if !state.isMissing { state.levels.append(percent) }
      return state.isMissing
    }
    if isMissing { throw DeviceError(device: "lamp", reason: .notFound) }
  }

  func refresh() -> Light.State {
    defer { calls.put(true) }
    return state.withLock { $0.isMissing }
      ? .missing(DeviceError(device: "lamp", reason: .notFound)) : .ready(isDimmable: false)
  }

  func close() { state.withLock { $0.isClosed = true } }
  var levels: [Int] { state.withLock { $0.levels } }
}

@Suite final class NightBoardTests {
  private let clock = FakeClock()
  private let lamp = FakeLamp()
  private let camera: FakeCamera
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  init() { camera = FakeCamera(clock) }

  deinit { try? group.syncShutdownGracefully() }

  private func board(_ mode: NightMode, hasLamp: Bool = true) -> NightBoard {
    NightBoard(
      [.init(camera: camera, mode: mode, lamp: hasLamp ? lamp : nil)], loop: group.next(), now: { [clock] in clock.now }
    )
  }

  /// Beats once a second.
  private func pass(_ seconds: Int, _ board: NightBoard) async throws {
    for _ in 0..<seconds {
      clock.pass(.seconds(1))
      try await group.next().submit { board.beat() }.get()
    }
  }

  private func state(_ board: NightBoard) async throws -> NightBoard.State {
    try await group.next().submit { board.states[0] }.get()
  }

  /// The lamp's thread takes the newest order alone: one that is withdrawn at once may never reach the lamp.
  private func lampIsOn() async throws {
    while lamp.levels.last != 100 { try await Task.sleep(for: .milliseconds(2)) }
  }

  private func stop(_ board: NightBoard) async throws {
    try await group.next().submit { board.stop() }.get()
    for release in board.releases { release() }
  }

  @Test func darknessSwitchesLampAndCamera() async throws {
    let board = board(.auto)
    try await pass(20, board)
    var now = try await state(board)
    #expect(!now.isNight && now.infrared == .off && now.brightness == 0.5)
    camera.set { $0.level = 0.02 }
    try await pass(20, board)
    now = try await state(board)
    #expect(now.isNight && now.infrared == .on && now.brightness == 0.02)
    #expect(camera.nights == [true])
    try await lampIsOn()
    try await stop(board)
    #expect(lamp.levels == [100, 0] && lamp.state.withLock { $0.isClosed })
  }

  @Test func onIsOnFromTheStartAndOffNeverIs() async throws {
    let on = board(.on)
    #expect(try await state(on) == .init(isNight: true, infrared: .on, brightness: nil))
    camera.set { $0.level = 1 }
    try await pass(200, on)
    #expect(camera.nights == [true] && camera.requests == 0)
    try await lampIsOn()
    try await stop(on)
    #expect(lamp.levels == [100, 0])

    let off = board(.off)
    camera.set { $0.level = 0 }
    try await pass(200, off)
    #expect(try await state(off).isNight == false)
    #expect(camera.nights == [true] && camera.requests == 0)
    try await stop(off)
  }

  /// A picture has to be made for each measurement while nobody watches.
  @Test func withoutViewersTheLampIsWatchedEveryFiveSecondsAndWithoutALampNotAtAll() async throws {
    let board = board(.auto)
    camera.set { $0.isWatched = false }
    try await pass(100, board)
    #expect((18...22).contains(camera.requests))
    camera.set { $0.level = 0.01 }
    try await pass(30, board)
    #expect(try await state(board).isNight)
    try await stop(board)

    let before = camera.requests
    let lampless = self.board(.auto, hasLamp: false)
    try await pass(100, lampless)
    #expect(camera.requests == before)
    camera.set { $0.isWatched = true }
    try await pass(30, lampless)
    #expect((28...32).contains(camera.requests - before))
    #expect(try await state(lampless) == .init(isNight: true, infrared: nil, brightness: 0.01))
    try await stop(lampless)
  }

  @Test func withoutPicturesItStaysAsItIs() async throws {
    let board = board(.auto)
    camera.set { $0.level = 0.01 }
    try await pass(15, board)
    #expect(try await state(board).isNight)
    camera.set { $0.isGone = true }
    try await pass(600, board)
    #expect(try await state(board).isNight)
    #expect(camera.nights == [true])
    try await stop(board)
  }

  @Test func aMissingLampIsSaid() async throws {
    lamp.state.withLock { $0.isMissing = true }
    let board = board(.auto)
    #expect(try await state(board).infrared == .missing)
    camera.set { $0.level = 0.01 }
    try await pass(15, board)
    // Night it is all the same: for the camera's shutter and the encoder.
    #expect(try await state(board) == .init(isNight: true, infrared: .missing, brightness: 0.01))
    try await stop(board)
  }

  /// Pictures and sound go over the same loop.
  @Test func aLampThatHangsIsMissingAndHoldsNothingUp() async throws {
    let slow = HangingLamp()
    let board = NightBoard(
      [.init(camera: camera, mode: .auto, lamp: slow)], loop: group.next(), now: { MonotonicClock.now })
    try await group.next().submit { board.beat() }.get()
    try #require(slow.begun.take(until: MonotonicClock.now + .seconds(20)) != nil)
    var isMissing = false
    for _ in 0..<2000 where !isMissing {
      try await Task.sleep(for: .milliseconds(10))
      isMissing = try await group.next().submit {
        board.beat()
        return board.states[0].infrared == .missing
      }.get()
    }
    #expect(isMissing)
    slow.permit.close()
    try await stop(board)
  }
}

/// Answers at once when it is opened, and not again before `permit` is closed.
private final class HangingLamp: DrivenLight {
  let permit = Mailbox<Bool>(capacity: 1)
  let begun = Mailbox<Bool>(capacity: 10)
  private let calls = Atomic<Int>(0)

  func setLevel(_ percent: Int) throws(DeviceError) {}
  func refresh() -> Light.State {
    if calls.add(1, ordering: .relaxed).newValue > 1 {
      begun.put(true)
      _ = permit.take()
    }
    return .ready(isDimmable: false)
  }
  func close() {}
}
