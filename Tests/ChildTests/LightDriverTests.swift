import Control
import Devices
import Frames
import NIOCore
import NIOPosix
import Synchronization
import Testing
import Wire

@testable import Child

/// A lamp whose calls wait until they are let through.
private final class SlowLamp: DrivenLight {
  private struct State {
    var levels: [Int] = []
    var isBroken = false
    var isClosed = false
  }

  private let state = Mutex(State())
  /// Each call takes one.
  let permits = Mailbox<Bool>(capacity: 100)
  /// Calls that have begun.
  let begun = Mailbox<Bool>(capacity: 100)

  var levels: [Int] { state.withLock { $0.levels } }
  var isClosed: Bool { state.withLock { $0.isClosed } }
  func setBroken(_ isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }

  func setLevel(_ percent: Int) throws(DeviceError) {
    begun.put(true)
    _ = permits.take()
    let isBroken = state.withLock { state in
      if !state.isBroken { state.levels.append(percent) }
      return state.isBroken
    }
    if isBroken { throw DeviceError(device: "lamp", reason: .disconnected) }
  }

  func refresh() -> Light.State {
    state.withLock { $0.isBroken }
      ? .missing(DeviceError(device: "lamp", reason: .disconnected)) : .ready(isDimmable: true)
  }

  func close() { state.withLock { $0.isClosed = true } }
}

@Suite struct LightDriverTests {
  private let lamp = SlowLamp()

  private var soon: Instant { MonotonicClock.now + .seconds(10) }

  @Test func theNewestLevelWinsWhileTheDeviceIsBusy() throws {
    let driver = LightDriver(lamp) { _ in }
    driver.start()
    driver.setLevel(10)
    try #require(lamp.begun.take(until: soon) != nil)
    for level in [20, 30, 40] { driver.setLevel(level) }
    for _ in 0..<2 { lamp.permits.put(true) }
    driver.finish()
    driver.join()
    #expect(lamp.levels == [10, 40] && lamp.isClosed)
  }

  @Test func tellsThatTheLightIsGoneAndThatItIsBack() throws {
    let reports = Mailbox<LightDriver.Report>(capacity: 8)
    let driver = LightDriver(lamp) { report in reports.put(report) }
    driver.start()
    lamp.setBroken(true)
    lamp.permits.put(true)
    driver.setLevel(10)
    #expect(reports.take(until: soon) == .init(isPresent: false))
    lamp.setBroken(false)
    driver.refresh()
    #expect(reports.take(until: soon) == .init(isPresent: true, isDimmable: true))
    driver.finish()
    driver.join()
  }

  /// Pictures and sound go over the same loop.
  @Test func aLightThatHangsDoesNotHoldUpTheEventLoop() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let board = LightBoard([("lamp", lamp)], loop: loop)
    // Only if the loop waits for the lamp, which would never end.
    let rescue = Task { [lamp] in
      try await Task.sleep(for: .seconds(120))
      for _ in 0..<10 { lamp.permits.put(true) }
    }
    let document = try await loop.submit { try board.set(LightSet(state: .on)) }.get()
    #expect(document.state == .on)
    // Nothing was let through: the lamp still hangs at its first level.
    #expect(lamp.levels.isEmpty)
    rescue.cancel()
    for _ in 0..<10 { lamp.permits.put(true) }
    try await loop.submit { board.stop() }.get()
    for release in board.releases { release() }
    #expect(lamp.levels.last == 0 && lamp.isClosed)
    try await group.shutdownGracefully()
  }
}
