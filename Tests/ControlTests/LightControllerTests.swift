import Testing
import Wire

@testable import Control

@Suite struct LightControllerTests {
  private var lamp = LightController(id: "nightlight", isDimmable: true)
  private var relay = LightController(id: "relay", isDimmable: false)

  @Test mutating func theDeviceBeginsDark() {
    #expect(lamp.drain() == [0])
  }

  @Test mutating func onOffAndToggleDriveTheDeviceOnceEach() throws {
    _ = lamp.drain()
    try lamp.set(LightSet(state: .on), now: at(0))
    #expect(lamp.drain() == [20])
    try lamp.set(LightSet(state: .on), now: at(1))
    #expect(lamp.drain().isEmpty)
    try lamp.set(LightSet(state: .toggle), now: at(2))
    #expect(lamp.drain() == [0])
    try lamp.set(LightSet(state: .toggle), now: at(3))
    try lamp.set(LightSet(state: .off), now: at(4))
    #expect(lamp.drain().isEmpty)
    #expect(lamp.state.document(now: at(4)).state == .off)
  }

  /// Whoever switches it on at three in the morning has not set a brightness.
  @Test mutating func isDimUntilSomebodySetsABrightness() throws {
    #expect(lamp.state.document(now: at(0)).brightness == 20)
    try lamp.set(LightSet(state: .toggle), now: at(0))
    #expect(lamp.drain() == [20])
    try lamp.set(LightSet(state: .on, brightness: 70), now: at(1))
    try lamp.set(LightSet(state: .off), now: at(2))
    try lamp.set(LightSet(state: .on), now: at(3))
    #expect(lamp.drain() == [70])
    // One that turns out to be a switch has no other level.
    lamp.setPresent(true, isDimmable: false)
    #expect(lamp.drain() == [100])
    lamp.setPresent(true, isDimmable: true)
    #expect(lamp.drain() == [20])
  }

  @Test mutating func brightnessIsKeptWhileTheLightIsOff() throws {
    try lamp.set(LightSet(state: .on, brightness: 20), now: at(0))
    #expect(lamp.drain() == [20])
    try lamp.set(LightSet(state: .off), now: at(1))
    try lamp.set(LightSet(state: .on), now: at(2))
    #expect(
      lamp.state.document(now: at(2)) == LightDocument(id: "nightlight", state: .on, brightness: 20, dimmable: true))
    try lamp.set(LightSet(state: .on, brightness: 0), now: at(3))
    #expect(
      lamp.state.document(now: at(3)) == LightDocument(id: "nightlight", state: .off, brightness: 20, dimmable: true))
  }

  @Test mutating func aSwitchCannotBeDimmed() throws {
    #expect(code { try relay.set(LightSet(state: .on, brightness: 50), now: at(0)) } == .unavailable)
    #expect(relay.drain() == [0])
    try relay.set(LightSet(state: .on), now: at(0))
    #expect(relay.drain() == [100])
  }

  @Test mutating func goesOutByItselfAndSaysWhen() throws {
    _ = lamp.drain()
    try lamp.set(LightSet(state: .on, seconds: 600), now: at(0))
    #expect(lamp.state.document(now: at(0)).remainingSeconds == 600)
    #expect(lamp.state.document(now: at(0.5)).remainingSeconds == 600)
    #expect(lamp.state.document(now: at(599.5)).remainingSeconds == 1)
    #expect(lamp.drain() == [20])
    lamp.handleTimeout(now: at(599.999))
    #expect(lamp.drain().isEmpty)
    let seen = lamp.run(to: at(1000))
    #expect(seen.map(\.seconds) == [600] && seen.map(\.effect) == [0])
    #expect(lamp.nextDeadline == nil)
    #expect(lamp.state.document(now: at(1000)).remainingSeconds == nil)
  }

  @Test mutating func aLaterSettingReplacesTheTimer() throws {
    try lamp.set(LightSet(state: .on, seconds: 60), now: at(0))
    try lamp.set(LightSet(state: .on), now: at(10))
    #expect(lamp.nextDeadline == nil)
    try lamp.set(LightSet(state: .on, seconds: 60), now: at(20))
    try lamp.set(LightSet(state: .off), now: at(30))
    #expect(lamp.nextDeadline == nil)
  }

  /// Whoever only dims a light that is to go out does not want it to burn all night.
  @Test mutating func aBrightnessKeepsTheTimerThatRuns() throws {
    try lamp.set(LightSet(state: .on, seconds: 900), now: at(0))
    for second in 1...5 { try lamp.set(LightSet(state: .on, brightness: 10 * second), now: at(Double(second))) }
    let dimmed = lamp.state.document(now: at(10))
    #expect(dimmed.brightness == 50 && dimmed.remainingSeconds == 890 && dimmed.timerSeconds == 900)
    try lamp.set(LightSet(state: .on, brightness: 20, seconds: 60), now: at(10))
    #expect(lamp.nextDeadline == at(70) && lamp.state.document(now: at(10)).timerSeconds == 60)
    try lamp.set(LightSet(state: .toggle, brightness: 30), now: at(20))
    #expect(lamp.nextDeadline == nil && lamp.state.document(now: at(20)).timerSeconds == nil)
    // One that was off has no timer to keep, nor has one whose timer is over.
    try lamp.set(LightSet(state: .on, brightness: 30), now: at(30))
    #expect(lamp.nextDeadline == nil)
    try lamp.set(LightSet(state: .on, seconds: 10), now: at(40))
    try lamp.set(LightSet(state: .on, brightness: 40), now: at(50))
    #expect(lamp.state.document(now: at(50)).state == .on && lamp.nextDeadline == nil)
    try lamp.set(LightSet(state: .on, seconds: 10), now: at(60))
    try lamp.set(LightSet(state: .on, brightness: 0), now: at(61))
    #expect(lamp.nextDeadline == nil && lamp.state.document(now: at(61)).timerSeconds == nil)
  }

  @Test mutating func toggleAfterALateTimerSeesTheLightOff() throws {
    try lamp.set(LightSet(state: .on, seconds: 60), now: at(0))
    try lamp.set(LightSet(state: .toggle), now: at(61))
    #expect(lamp.state.document(now: at(61)).state == .on)
  }

  @Test mutating func flashesFromDarkAndGoesBackToDark() throws {
    _ = lamp.drain()
    try lamp.flash(LightFlash(times: 2, milliseconds: 500), now: at(0))
    #expect(lamp.drain() == [20])
    #expect(lamp.state.document(now: at(0)).state == .flashing)
    let seen = lamp.run(to: at(10))
    #expect(seen.map(\.seconds) == [0.5, 1, 1.5] && seen.map(\.effect) == [0, 20, 0])
    #expect(lamp.state.document(now: at(10)).state == .off)
    #expect(lamp.nextDeadline == nil)
  }

  @Test mutating func flashesFromLitWithItsOwnBrightnessAndTimer() throws {
    try lamp.set(LightSet(state: .on, brightness: 40, seconds: 60), now: at(0))
    #expect(lamp.drain() == [40])
    try lamp.flash(LightFlash(times: 1, milliseconds: 200), now: at(1))
    #expect(lamp.drain() == [0])
    let seen = lamp.run(to: at(100))
    #expect(seen.map(\.seconds) == [1.2, 60] && seen.map(\.effect) == [40, 0])
  }

  @Test mutating func theTimerEndsUnderAFlash() throws {
    try lamp.set(LightSet(state: .on, seconds: 1), now: at(0))
    try lamp.flash(LightFlash(times: 3, milliseconds: 500), now: at(0.5))
    _ = lamp.run(to: at(20))
    #expect(lamp.state.document(now: at(20)).state == .off)
    #expect(lamp.drain().isEmpty)
  }

  @Test mutating func aSecondFlashRestoresWhatWasBeforeTheFirst() throws {
    _ = lamp.drain()
    try lamp.flash(LightFlash(), now: at(0))
    try lamp.flash(LightFlash(times: 1, milliseconds: 300), now: at(0.7))
    #expect(lamp.drain() == [20])
    #expect(lamp.run(to: at(20)).last?.effect == 0)
    #expect(lamp.state.document(now: at(20)).state == .off)
  }

  @Test mutating func aSettingEndsTheFlash() throws {
    try lamp.flash(LightFlash(times: 100, milliseconds: 5000), now: at(0))
    try lamp.set(LightSet(state: .toggle), now: at(6))
    #expect(lamp.drain() == [20])
    #expect(lamp.nextDeadline == nil)
    #expect(lamp.state.document(now: at(6)).state == .on)
  }

  @Test mutating func aLateWakeUpSkipsWhatIsOver() throws {
    _ = lamp.drain()
    try lamp.flash(LightFlash(times: 3, milliseconds: 200), now: at(0))
    _ = lamp.drain()
    lamp.handleTimeout(now: at(0.45))
    #expect(lamp.drain().isEmpty, "lit again, as it was when last driven")
    lamp.handleTimeout(now: .distantFuture)
    #expect(lamp.drain() == [0])
    #expect(lamp.nextDeadline == nil)
  }

  @Test mutating func spuriousTimeoutsChangeNothing() throws {
    try lamp.flash(LightFlash(times: 2, milliseconds: 500), now: at(10))
    let before = (lamp.nextDeadline, lamp.state)
    _ = lamp.drain()
    lamp.handleTimeout(now: at(10))
    lamp.handleTimeout(now: at(9))
    #expect(lamp.drain().isEmpty && before == (lamp.nextDeadline, lamp.state))
  }

  @Test mutating func isLeftDark() throws {
    try lamp.set(LightSet(state: .on, brightness: 80), now: at(0))
    #expect(lamp.drain() == [80])
    try lamp.flash(LightFlash(times: 9), now: at(1))
    lamp.restore()
    #expect(lamp.drain() == [0])
    #expect(lamp.nextDeadline == nil)
  }

  @Test mutating func aLostDeviceIsUnavailableAndGetsItsLevelWhenItIsBack() throws {
    try lamp.set(LightSet(state: .on, seconds: 60), now: at(0))
    _ = lamp.drain()
    lamp.setPresent(false)
    #expect(lamp.state.document(now: at(1)).state == .missing)
    #expect(code { try lamp.set(LightSet(state: .off), now: at(1)) } == .unavailable)
    #expect(code { try lamp.flash(LightFlash(), now: at(1)) } == .unavailable)
    #expect(lamp.drain().isEmpty)
    lamp.setPresent(true)
    #expect(lamp.drain() == [20])
    lamp.setPresent(false)
    _ = lamp.run(to: at(60))
    lamp.setPresent(true)
    #expect(lamp.drain() == [0])
  }
}

@Suite struct LightsTests {
  private var lights = Lights([
    LightController(id: "nightlight", isDimmable: true), LightController(id: "infrared", isDimmable: false),
  ])

  @Test mutating func withoutAnIDTheFirstIsMeant() throws {
    while lights.poll() != nil {}
    #expect(try lights.set(LightSet(state: .on, seconds: 5), now: at(0)).id == "nightlight")
    #expect(try lights.flash(LightFlash(id: "infrared", times: 1), now: at(0)).state == .flashing)
    var driven: [String: Int] = [:]
    while let next = lights.poll() { driven[next.id] = next.level }
    #expect(driven == ["nightlight": 20, "infrared": 100])
    #expect(lights.nextDeadline == at(0.5))
    lights.handleTimeout(now: at(0.5))
    #expect(lights.poll()?.id == "infrared")
    #expect(lights.nextDeadline == at(5))
    lights.restore()
    #expect(lights.poll()?.id == "nightlight")
    #expect(lights.nextDeadline == nil)
  }

  @Test mutating func anUnknownLightIsABadParameterAndNoLightIsUnavailable() {
    #expect(code { try lights.set(LightSet(id: "x", state: .on), now: at(0)) } == .badParameters)
    var none = Lights([])
    #expect(code { try none.flash(LightFlash(), now: at(0)) } == .unavailable)
    lights.setPresent(false, id: "infrared")
    lights.setPresent(false, id: "x")
    #expect(lights.states.map { $0.document(now: at(0)).state } == [.off, .missing])
  }
}
