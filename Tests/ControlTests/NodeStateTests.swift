import Control
import Testing

@Suite struct NodeStateTests {
  private var lights = Lights([LightController(id: "nightlight", isDimmable: true)])
  private var lullaby = LullabyDocument(state: .stopped, volume: 40)
  private var cameras = [CameraDocument(id: "cot", name: "Camera", active: true, state: .opening)]

  private func state(at seconds: Double = 0) -> NodeState {
    NodeState(
      time: at(seconds), lights: lights.states, lullaby: lullaby, cameras: cameras, talk: TalkDocument(), viewers: [],
      microphone: DeviceDocument(state: .running, name: "Microphone"),
      speaker: DeviceDocument(state: .off, name: ""))
  }

  @Test mutating func onlyWhatChangedIsTold() throws {
    let before = state()
    #expect(before.changes(since: before) == nil)
    _ = try lights.set(LightSet(state: .on, seconds: 60), now: at(1))
    let change = try #require(state(at: 1).changes(since: before))
    #expect(
      change
        == StateDocument(lights: [
          LightDocument(
            id: "nightlight", state: .on, brightness: 20, dimmable: true, remainingSeconds: 60, timerSeconds: 60)
        ]))
    cameras[0].state = .running
    #expect(state(at: 1).changes(since: before)?.cameras == cameras)
    #expect(state(at: 1).changes(since: before)?.lullaby == nil)
  }

  @Test mutating func timePassingIsNoNews() throws {
    _ = try lights.set(LightSet(state: .on, seconds: 60), now: at(0))
    lullaby = LullabyDocument(state: .playing, track: "song", volume: 40, positionSeconds: 0, remainingSeconds: 90)
    let before = state()
    lights.handleTimeout(now: at(30))
    lullaby.positionSeconds = 30
    lullaby.remainingSeconds = 60
    #expect(state(at: 30).changes(since: before) == nil)
    #expect(state(at: 30).document.lights?.first?.remainingSeconds == 30)
    #expect(state(at: 30).document.lullaby?.positionSeconds == 30)
    // A timer set anew is.
    lullaby.remainingSeconds = 90
    #expect(state(at: 30).changes(since: before)?.lullaby == lullaby)
    _ = try lights.set(LightSet(state: .on, seconds: 60), now: at(30))
    #expect(state(at: 30).changes(since: before) != nil)
  }

  @Test func aCrowdIsNamedInPart() {
    var state = state()
    state.viewers = (0..<100).map { ViewerDocument(id: "\($0)", name: "Phone", permissions: [], since: 0) }
    #expect(state.document.viewers?.count == ControlLimits.viewersInState)
  }
}
