import Testing
import Wire

@testable import Child

@Suite struct RTSPPathTests {
  /// Half with each drop, and back after a while without one.
  @Test func aPathThatIsTooSlowGetsLess() {
    var path = RTSPPath(maximumKbps: 3000)
    var now = Instant.zero
    func wait(_ seconds: Int) {
      for _ in 0..<seconds {
        now = now + .seconds(1)
        path.update(now: now)
      }
    }
    wait(100)
    #expect(path.kbps == 3000)
    path.recordDrop(now: now)
    #expect(path.kbps == 1500)
    wait(19)
    #expect(path.kbps == 1500)
    path.recordDrop(now: now)
    wait(19)
    #expect(path.kbps == 750)
    wait(1)
    #expect(path.kbps == 937)
    wait(20 * 6)
    #expect(path.kbps == 3000)
    for _ in 0..<20 { path.recordDrop(now: now) }
    #expect(path.kbps == 100)
  }
}
