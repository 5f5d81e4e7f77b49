import Control
import Pairing
import Testing

@Suite struct PermissionTests {
  /// Each command, and the sets of permissions that are just enough for it; none: a session is.
  static let table: [(ControlCommand, [Permissions])] = [
    (.ping, []),
    (.statusGet, [.view, .listen, .control, .admin]),
    (.lightSet(LightSetting(state: .on)), [.control]),
    (.lightFlash(LightFlash()), [.control]),
    (.lullabyList, [.control]),
    (.lullabyPlay(LullabyRequest()), [.control]),
    (.lullabyStop, [.control]),
    (.lullabyPause, [.control]),
    (.lullabyResume, [.control]),
    (.lullabyNext, [.control]),
    (.lullabyVolume(1), [.control]),
    (.cameraList, [.view, .control]),
    (.cameraSwitch(id: nil), [.control]),
    (.screenshotTake(camera: nil, quality: nil), [[.view, .control]]),
    (.talkAcquire(force: false), [.talk]),
    (.talkAcquire(force: true), [[.talk, .admin]]),
    (.talkRelease, [.talk]),
    (.eventsGet(since: nil, limit: nil), [.view, .listen, .control, .admin]),
    (.reportGet(ReportRequest(from: 0, to: 60)), [.view, .listen, .control, .admin]),
    (.alarmNote(AlarmNote(kind: "link", level: .alarm, began: 1)), [.view, .listen]),
    (.hearingTest, [[.listen, .control]]),
    (.drillStart([.link]), [.control]), (.drillStop, []),
    (.hearingHeard(HearingNote(number: 1, share: 0.5)), [.listen]),
    (.pairingOpen(admin: false), [.admin]),
    (.pairingOpen(admin: true), [.admin]),
    (.pairingClose, [.admin]),
    (.pairsList, [.admin]),
    (.pairRemove(id: "x"), [.admin]),
    (.pairRemove(id: nil), []),
    (.inviteCreate(InviteRequest()), [.admin]),
    (.recordingsList(from: nil, to: nil), [.recordings, .admin]),
    (.recordingsRead(id: "x", offset: 0), [.recordings, .admin]),
    (.recordingsStart, [.recordings, .admin]),
    (.recordingsStop, [.recordings, .admin]),
    (.pushKey, [.view, .listen]),
    (.pushSubscribe(PushSubscribeRequest(endpoint: "", p256dh: "", auth: "")), [.view, .listen]),
    (.pushUnsubscribe, []),
    (.pushTest, [.view, .listen]),
  ]

  @Test(arguments: table)
  func eachCommandTakesItsPermissionsAndNoLess(command: ControlCommand, enough: [Permissions]) {
    for bits in UInt8(0)..<64 {
      let permissions = Permissions(rawValue: bits)
      let expected = enough.isEmpty || enough.contains { permissions.isSuperset(of: $0) }
      #expect(code { try command.check(permissions) } == (expected ? nil : .notPermitted), "\(permissions.names)")
    }
  }

  @Test func everyCommandHasItsLine() {
    #expect(Set(Self.table.map(\.0.name)) == Set(CommandName.allCases))
  }

  @Test func theRefusalNamesWhatIsMissing() {
    #expect {
      try ControlCommand.screenshotTake(camera: nil, quality: nil).check(.view)
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
    #expect(
      CommandName.capabilities(lights: true, speaker: true, cameras: true, recordings: true) == CommandName.allCases)
    let bare = CommandName.capabilities(lights: false, speaker: false, cameras: false, recordings: false)
    #expect(bare.contains(.ping) && bare.contains(.pairingOpen))
    for name in [CommandName.lightSet, .lullabyPlay, .talkAcquire, .screenshotTake, .recordingsList] {
      #expect(!bare.contains(name))
    }
  }
}
