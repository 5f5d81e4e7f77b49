import Frames
import Testing
import Wire

@testable import Child

/// The watchdog, asked as the event loop asks it.
private final class Asked {
  private var watchdog: Watchdog

  init(_ watchdog: Watchdog) { self.watchdog = watchdog }

  func isPingDue(at now: Instant) -> Bool { watchdog.isPingDue(at: now) }
  func stuck(at now: Instant) -> [String] { watchdog.stuck(at: now) }
}

struct WatchdogTests {
  private let camera = Pulse()
  private let encoder = Pulse()

  private func watchdog() -> Asked {
    Asked(
      Watchdog(
        limit: .seconds(20),
        loops: [
          .init(name: "camera", pulse: camera, patience: Watchdog.devicePatience),
          .init(name: "encoder", pulse: encoder, patience: Watchdog.encoderPatience),
        ]))
  }

  private func at(_ seconds: Double) -> Instant { Instant.zero + .seconds(seconds) }

  @Test func pingsFourTimesWithinTheLimitWhileAllLoopsLive() {
    let watchdog = watchdog()
    var pings: [Int] = []
    for second in 100..<160 {
      camera.beat(at: at(Double(second)))
      encoder.beat(at: at(Double(second)))
      if watchdog.isPingDue(at: at(Double(second))) { pings.append(second) }
    }
    #expect(pings.first == 100)
    #expect(zip(pings, pings.dropFirst()).allSatisfy { $1 - $0 <= 5 })
    #expect(pings.count <= 60 / 4 + 1)
  }

  /// Nobody watches for a whole night: the encoder rests, and that is well.
  @Test func aRestingLoopIsAlive() {
    let watchdog = watchdog()
    encoder.beat(at: at(100))
    encoder.rest()
    camera.beat(at: at(100_000))
    #expect(watchdog.isPingDue(at: at(100_000)))
    #expect(watchdog.stuck(at: at(100_000)).isEmpty)
  }

  @Test func aLoopThatHasNotBegunIsAlive() {
    let watchdog = watchdog()
    #expect(watchdog.isPingDue(at: at(100_000)))
  }

  @Test func aStuckEncoderEndsThePingsUntilItGoesOn() {
    let watchdog = watchdog()
    encoder.beat(at: at(100))
    for second in stride(from: 100.0, through: 120, by: 5) {
      camera.beat(at: at(second))
      #expect(watchdog.isPingDue(at: at(second)))
    }
    for second in stride(from: 125.0, through: 300, by: 5) {
      camera.beat(at: at(second))
      #expect(!watchdog.isPingDue(at: at(second)))
    }
    #expect(watchdog.stuck(at: at(300)) == ["encoder"])
    encoder.beat(at: at(300))
    #expect(watchdog.isPingDue(at: at(300)))
    #expect(watchdog.stuck(at: at(300)).isEmpty)
  }

  /// USB gives a camera 5 s for each answer; several of them in a row are no reason to start anew.
  @Test func aDeviceMayBeSilentForLongerThanAnEncoder() {
    let watchdog = watchdog()
    camera.beat(at: at(100))
    #expect(watchdog.isPingDue(at: at(155)))
    #expect(!watchdog.isPingDue(at: at(161)))
    #expect(watchdog.stuck(at: at(161)) == ["camera"])
  }

  @Test func eachCallerComesALittleEarlyAndTheRateHolds() {
    let watchdog = watchdog()
    let pings = (0..<100).filter { watchdog.isPingDue(at: at(100 + Double($0) * 4.99)) }
    #expect(pings.count == 100)
  }
}
