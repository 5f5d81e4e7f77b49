import Control
import Pairing
import Testing

@Suite struct PermissionTests {
  /// Each command, and the sets of permissions that are just enough for it; none: a session is.
  static let table: [(any ControlCommand, [Permissions])] = [
    (Ping(), []),
    (StatusGet(), [.view, .listen, .control, .admin]),
    (LightSet(state: .on), [.control]),
    (LightFlash(), [.control]),
    (LullabyList(), [.control]),
    (LullabyPlay(), [.control]),
    (LullabyStop(), [.control]),
    (LullabyPause(), [.control]),
    (LullabyResume(), [.control]),
    (LullabyNext(), [.control]),
    (LullabyVolume(1), [.control]),
    (CameraList(), [.view, .control]),
    (CameraSwitch(), [.control]),
    (CameraName(id: "cot"), [.admin]),
    (CameraPause(), [.control]),
    (CameraResume(), [.control]),
    (ScreenshotTake(), [[.view, .control]]),
    (TalkAcquire(), [.talk]),
    (TalkAcquire(force: true), [[.talk, .admin]]),
    (TalkRelease(), [.talk]),
    (EventsGet(), [.view, .listen, .control, .admin]),
    (ReportGet(from: 0, to: 60), [.listen, .admin]),
    (AlarmNote(kind: "link", level: .alarm, began: 1), [.view, .listen]),
    (HearingTestStart(), [[.listen, .control]]),
    (DrillStart([.link]), [.control]), (DrillStop(), []),
    (HearingHeard(number: 1, share: 0.5), [.listen]),
    (PairingOpen(), [.admin]),
    (PairingOpen(admin: true), [.admin]),
    (PairingClose(), [.admin]),
    (PairsList(), [.admin]),
    (PairRemove(id: "x"), [.admin]),
    (PairRemove(), []),
    (InviteCreate(), [.admin]),
    (RecordingsList(), [.recordings, .admin]),
    (RecordingsRead(id: "x", offset: 0), [.recordings, .admin]),
    (RecordingsStart(), [.recordings, .admin]),
    (RecordingsStop(), [.recordings, .admin]),
    (PushKeyGet(), [.view, .listen]),
    (PushSubscribe(endpoint: "", p256dh: "", auth: ""), [.view, .listen]),
    (PushUnsubscribe(), []),
    (PushTest(), [.view, .listen]),
  ]

  @Test(arguments: table)
  func eachCommandTakesItsPermissionsAndNoLess(command: any ControlCommand, enough: [Permissions]) {
    for bits in UInt8(0)..<64 {
      let permissions = Permissions(rawValue: bits)
      let expected = enough.isEmpty || enough.contains { permissions.isSuperset(of: $0) }
      #expect(code { try command.check(permissions) } == (expected ? nil : .notPermitted), "\(permissions.names)")
    }
  }

  @Test func everyCommandHasItsLine() {
    #expect(Set(Self.table.map { type(of: $0.0).name }) == Set(ControlCommands.all.map { $0.name }))
  }

  @Test func theRefusalNamesWhatIsMissing() {
    #expect {
      try ScreenshotTake().check(.view)
    } throws: { error in
      (error as? ControlError)?.message.contains("view and control") == true
    }
  }

  @Test func pushesHideWhatMayNotBeHeardOrSeen() {
    let level = ControlPush.level(LevelDocument(levelDb: -20, time: 1))
    #expect(level.visible(to: .view) == nil && level.visible(to: .listen) == level)
    let video = HeartbeatDocument.Video(
      state: .running, captured: 1, encoded: 1, keyFrames: 1, sent: 1, targetKbps: 1)
    let audio = HeartbeatDocument.Audio(state: .running, captured: 1, encoded: 1, sent: 1, levelDb: -20)
    let beat = HeartbeatDocument(time: 1, uptimeSeconds: 1, video: video, audio: audio)
    #expect(ControlPush.heartbeat(beat).visible(to: [.view, .listen]) == .heartbeat(beat))
    #expect(
      ControlPush.heartbeat(beat).visible(to: .control)
        == .heartbeat(HeartbeatDocument(time: 1, uptimeSeconds: 1, video: nil, audio: nil)))
    #expect(ControlPush.goodbye(reason: "").visible(to: []) != nil)
  }

  /// Whoever may not ask for the state is not told it either.
  @Test func whoMayOnlyTalkIsToldOfTheFloorAlone() {
    let talk = TalkDocument(holder: "Mother", viewer: "peer-1")
    let viewers = [ViewerDocument(id: "peer-1", name: "Mother", permissions: ["view"], since: 1)]
    let whole = StateDocument(lights: [], cameras: [], talk: talk, viewers: viewers)
    let hello = HelloDocument(
      name: "Nursery", id: "0", version: "1", capabilities: [], permissions: ["talk"], viewer: "peer-2", state: whole)
    var bare = hello
    bare.state = StateDocument(talk: talk)
    #expect(ControlPush.hello(hello).visible(to: .talk) == .hello(bare))
    #expect(ControlPush.state(whole).visible(to: .talk) == .state(StateDocument(talk: talk)))
    #expect(ControlPush.state(StateDocument(viewers: viewers)).visible(to: .talk) == nil)
    #expect(ControlPush.state(whole).visible(to: []) == nil)
    let event = ControlPush.event(EventDocument(sequence: 1, kind: "light", time: 1))
    #expect(event.visible(to: .talk) == nil)
    for permission: Permissions in [.view, .listen, .control, .admin] {
      #expect(ControlPush.hello(hello).visible(to: permission) == .hello(hello))
      #expect(ControlPush.state(whole).visible(to: permission) == .state(whole))
      #expect(event.visible(to: permission) == event)
    }
  }

  @Test func capabilitiesFollowTheDevices() {
    let all = ControlCommands.capabilities(Set(ControlDevice.allCases))
    #expect(all == ControlCommands.all.map { $0.name })
    let bare = ControlCommands.capabilities([])
    #expect(bare.contains("ping") && bare.contains("pairing.open"))
    for name in ["light.set", "lullaby.play", "talk.acquire", "screenshot.take", "recordings.list"] {
      #expect(!bare.contains(name))
    }
    #expect(ControlCommands.capabilities([.light]) == all.filter { bare.contains($0) || $0.hasPrefix("light.") })
  }
}
