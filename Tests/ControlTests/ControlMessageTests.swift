import Control
import Messages
import Testing

@Suite struct ControlMessageTests {
  private static let state = StateDocument(
    lights: [
      LightDocument(id: "nightlight", state: .on, brightness: 20, dimmable: true, remainingSeconds: 5),
      LightDocument(id: "ir", state: .missing, brightness: 100, dimmable: false),
    ],
    lullaby: LullabyDocument(
      state: .paused, track: "song", volume: 40, loop: true, positionSeconds: 10.2, remainingSeconds: 1790),
    cameras: [
      CameraDocument(
        id: "cot", name: "Camera", title: "Bed", active: true, width: 1280, height: 720, state: .running, night: true,
        infrared: .on),
      CameraDocument(id: "door", name: "no such device", active: false, state: .missing),
    ], talk: TalkDocument(holder: "Phone", viewer: "3"),
    viewers: [ViewerDocument(id: "3", name: "Phone", permissions: ["view", "talk"], since: 1.5)],
    microphone: DeviceDocument(state: .running, name: "Microphone"), speaker: DeviceDocument(state: .off, name: ""))

  private static let event = EventDocument(
    sequence: 9_007_199_254_740_991, kind: "light", time: 2.25, name: "Phone", id: "ir", detail: "on")

  private static let report = ReportDocument(
    from: 1, to: 121, minutes: 2, recordedMinutes: 2, monitoredMinutes: 1, parents: [.init(name: "Phone", minutes: 1)],
    longestGap: .init(from: 60, to: 120, causes: ["link"]), gaps: [.init(from: 60, to: 120, causes: ["link"])],
    noise: .init(minutes: 1, thresholdDb: -45, loudestDb: -12.5),
    losses: [.init(device: "camera", id: "cot", from: 3)],
    alarms: [.init(name: "Phone", kind: "link", level: "alarm", began: 3.5, acknowledgedAt: 4)],
    proofs: [.init(kind: "hearing", time: 5, level: "notice", name: "Phone", detail: "heard")], restarts: 1,
    reconnects: 2, timeline: .init(levels: [12, -1], listeners: [.init(name: "Phone", runs: [0, 1, 1])]))

  private static let status = StatusDocument(
    name: "Nursery", id: "0011223344556677", version: "1", time: 3, uptimeSeconds: 4, alarms: ["Camera"], state: state)

  static let replies = [
    ControlAnswer(Ping.self, Ping.Reply(time: 1.5)),
    ControlAnswer(StatusGet.self, status),
    ControlAnswer(LightSet.self, state.lights![0]),
    ControlAnswer(LightFlash.self, state.lights![1]),
    ControlAnswer(
      LullabyList.self, [TrackDocument(id: "a", title: "A", seconds: 1.5), TrackDocument(id: "b", title: "B")]),
    ControlAnswer(LullabyPlay.self, state.lullaby!),
    ControlAnswer(LullabyStop.self, LullabyDocument(state: .stopped, volume: 3)),
    ControlAnswer(LullabyPause.self, state.lullaby!),
    ControlAnswer(LullabyResume.self, state.lullaby!),
    ControlAnswer(LullabyNext.self, state.lullaby!),
    ControlAnswer(LullabyVolume.self, state.lullaby!),
    ControlAnswer(CameraList.self, state.cameras!),
    ControlAnswer(CameraSwitch.self, state.cameras!),
    ControlAnswer(CameraName.self, state.cameras!),
    ControlAnswer(CameraPause.self, state.cameras!),
    ControlAnswer(CameraResume.self, state.cameras!),
    ControlAnswer(
      ScreenshotTake.self, TransferDocument(transfer: .max, size: 5, type: "image/jpeg", width: 1280, height: 720)),
    ControlAnswer(TalkAcquire.self, state.talk!),
    ControlAnswer(TalkRelease.self, TalkDocument()),
    ControlAnswer(EventsGet.self, [event]),
    ControlAnswer(ReportGet.self, report),
    ControlAnswer(AlarmNote.self, Done()),
    ControlAnswer(HearingHeard.self, Done()),
    ControlAnswer(DrillStop.self, Done()),
    ControlAnswer(
      DrillStart.self,
      DrillDocument(
        number: 2, state: .failed, stage: .camera, time: 7, seconds: 100,
        parents: [.init(name: "Mum", link: .acknowledged, camera: .silent), .init(name: "Dad", microphone: .left)])),
    ControlAnswer(
      HearingTestStart.self,
      HearingDocument(number: 1, state: .running, way: "chirp", time: 7, seconds: 12, microphone: true)),
    ControlAnswer(
      PairingOpen.self, PairingDocument(code: "1234-5678", link: "https://h/#pair=x", expiresAt: 9, allow: ["view"])),
    ControlAnswer(PairingClose.self, Done()),
    ControlAnswer(PairRemove.self, Done()),
    ControlAnswer(
      PairsList.self,
      [
        PairDocument(
          id: "00", name: "Phone", permissions: ["view"], createdAt: 1, lastSeenAt: 2, expiresAt: 3, words: "a b c d"),
        PairDocument(id: "01", name: "Phone", permissions: [], createdAt: 1),
      ]),
    ControlAnswer(
      RecordingsList.self,
      RecordingsDocument(
        mode: "always", state: "paused", reason: "the disk is full",
        parts: [.init(id: "2026-11-21T22-00-00Z-cot", time: 1.5, seconds: 300, bytes: 5)])),
    ControlAnswer(RecordingsRead.self, TransferDocument(transfer: 1, size: 5, type: "video/webm", total: 70_000_000)),
    ControlAnswer(RecordingsStart.self, Done()),
    ControlAnswer(RecordingsStop.self, Done()),
    ControlAnswer(PushKeyGet.self, PushKeyDocument(publicKey: "BA", endpoint: "https://a.b/c")),
    ControlAnswer(PushKeyGet.self, PushKeyDocument(publicKey: "BA")),
    ControlAnswer(PushTest.self, PushTestDocument(delivered: false, detail: "the server answered 401")),
    ControlAnswer(PushSubscribe.self, Done()),
    ControlAnswer(PushUnsubscribe.self, Done()),
    ControlAnswer(
      InviteCreate.self, InviteDocument(name: "Sitter", link: "https://h/#pair=x", allow: ["view"], expiresAt: 9)),
  ]

  static let pushes: [ControlPush] = [
    .hello(
      HelloDocument(
        name: "Nursery", id: "0011223344556677", version: "1", capabilities: ["ping"], permissions: ["view"],
        viewer: "3", state: state)),
    .state(StateDocument(talk: TalkDocument())), .event(event),
    .heartbeat(
      HeartbeatDocument(
        time: 1, uptimeSeconds: 2,
        video: .init(state: .running, captured: 5, encoded: 4, keyFrames: 3, sent: 2, targetKbps: 1),
        audio: .init(state: .missing, captured: 5, encoded: 4, sent: 3, levelDb: -90.5))),
    .heartbeat(HeartbeatDocument(time: 1, uptimeSeconds: 2, video: nil, audio: nil)),
    .heartbeat(
      HeartbeatDocument(
        time: 1, uptimeSeconds: 2, video: nil, audio: nil,
        path: .init(
          estimateKbps: 900, targetKbps: 800, queueMs: 2.5, probesSent: 3, probesSucceeded: 2, roundTripMs: nil,
          lossPercent: 0.25, soundCopies: 1, isCongested: true))),
    .level(LevelDocument(levelDb: -20.5, time: 7)), .goodbye(reason: "The child is stopping."),
  ]

  @Test(arguments: replies)
  func repliesArriveAsTheyWereSent(answer: ControlAnswer) throws {
    let message = ControlMessage(id: "c41", content: .reply(to: "7", answer))
    #expect(try ControlMessage(json: message.json) { $0 == "7" ? answer.command : nil } == message)
  }

  @Test func everyCommandHasItsReply() {
    #expect(Set(Self.replies.map { $0.command.name }) == Set(ControlCommands.all.map { $0.name }))
  }

  @Test(
    arguments: ["c41", #"a "name"\"#, "é", "<`>", String(repeating: "c", count: 65)],
    [-20.5, 0, -0.1, 1e-7, 123.456])
  func levelsAreWrittenAsTheEncoderWould(id: String, level: Double) throws {
    let message = ControlMessage(id: id, content: .push(.level(LevelDocument(levelDb: level, time: 1_795_000_000.125))))
    #expect(try ControlMessage(json: message.json) { _ in nil } == message)
  }

  @Test(arguments: pushes)
  func pushesArriveAsTheyWereSent(push: ControlPush) throws {
    let message = ControlMessage(id: "c41", content: .push(push))
    #expect(try ControlMessage(json: message.json) { _ in nil } == message)
  }

  @Test(arguments: ControlError.Code.allCases)
  func errorsArriveAsTheyWereSent(code: ControlError.Code) throws {
    for to in ["7", nil] {
      let message = ControlMessage(id: "c41", content: .refusal(to: to, ControlError(code, "Why.")))
      #expect(try ControlMessage(json: message.json) { _ in nil } == message)
    }
  }

  @Test func writesMessagesAsTheInterfaceSays() {
    #expect(
      ControlMessage(id: "c41", content: .reply(to: "7", ControlAnswer(LightSet.self, Self.state.lights![0]))).json
        == #"{"id":"c41","inReplyTo":"7","parameters":{"light":{"brightness":20,"dimmable":true,"#
        + #""id":"nightlight","remainingSeconds":5,"state":"on"}},"text":"ok"}"#)
    #expect(
      ControlMessage(id: "c2", content: .refusal(to: nil, ControlError(.badMessage, "no"))).json
        == #"{"id":"c2","parameters":{"code":"bad-message","message":"no"},"text":"error"}"#)
    #expect(
      ControlMessage(id: "c3", content: .reply(to: "1", ControlAnswer(DrillStop.self, Done()))).json
        == #"{"id":"c3","inReplyTo":"1","parameters":{},"text":"ok"}"#)
    let status = ControlMessage(id: "c4", content: .reply(to: "1", ControlAnswer(StatusGet.self, Self.status))).json
    #expect(status.contains(#""parameters":{"alarms":["Camera"],"cameras":[{"#))
  }

  @Test func listsThatDoNotFitAreCut() throws {
    let long = String(repeating: "\"", count: 100)
    let tracks = (0..<500).map { TrackDocument(id: "\($0)", title: long) }
    let text = ControlMessage(id: "c1", content: .reply(to: "1", ControlAnswer(LullabyList.self, tracks))).json
    #expect(text.utf8.count <= ControlLimits.messageBytes)
    guard case .reply(_, let answer) = try ControlMessage(json: text, expecting: { _ in LullabyList.self }).content,
      let kept = answer.reply as? [TrackDocument]
    else { return #expect(Bool(false), "\(text.prefix(200))") }
    #expect(kept.count > 30 && kept == Array(tracks.prefix(kept.count)))

    var hello = Self.state
    hello.viewers = (0..<500).map { ViewerDocument(id: "\($0)", name: long, permissions: ["view"], since: 1) }
    let push = ControlMessage(id: "c2", content: .push(.state(hello))).json
    #expect(push.utf8.count <= ControlLimits.messageBytes && push.contains(#""viewers":[{"#))
  }

  @Test func whatCannotBeCutIsAnInternalError() throws {
    var light = Self.state.lights![0]
    light.id = String(repeating: "x", count: 20_000)
    let text = ControlMessage(id: "c1", content: .reply(to: "1", ControlAnswer(LightSet.self, light))).json
    guard case .refusal("1", let error) = try ControlMessage(json: text, expecting: { _ in nil }).content else {
      return #expect(Bool(false))
    }
    #expect(error.code == .internal)
    let shouted = ControlError(.badParameters, String(repeating: "\u{1}", count: 16_000))
    #expect(
      ControlMessage(id: "c1", content: .refusal(to: "1", shouted)).json.utf8.count <= ControlLimits.messageBytes)
    let absurd = ControlMessage(id: "c1", content: .refusal(to: String(repeating: "x", count: 20_000), shouted))
    #expect(absurd.json.utf8.count <= ControlLimits.messageBytes)
  }
}

@Suite struct UnusableMessageTests {
  private static func failure(_ json: String, expecting: (any ControlCommand.Type)? = nil) -> UnreadableMessage? {
    do throws(UnreadableMessage) {
      _ = try ControlMessage(json: json) { _ in expecting }
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"text":1}"#, #"{"text":"hello"}"#, #"{"text":"hello","parameters":{"name":"x"}}"#,
    #"{"text":"level","parameters":{"levelDb":"loud","time":1}}"#, #"{"text":"error"}"#,
    #"{"text":"error","parameters":{"message":"x"}}"#, #"{"text":"state","parameters":{"lights":{}}}"#,
    #"{"text":"state","parameters":[]}"#, #"{"text":"goodbye","text":"goodbye"}"#,
    #"{"text":"event","parameters":{"sequence":-1,"kind":"light","time":1}}"#,
    #"{"text":"ok","inReplyTo":"1","parameters":{"light":{"id":"x"}}}"#,
    #"{"text":"ok","inReplyTo":"1","parameters":{"lullaby":{}}}"#, #"{"text":"ok","inReplyTo":"1"}"#,
  ])
  func malformedOnesAreRefused(json: String) {
    guard case .malformed = Self.failure(json, expecting: LightSet.self) else { return #expect(Bool(false), "\(json)") }
  }

  @Test func sizeIsBounded() {
    let long = #"{"text":"goodbye"}"# + String(repeating: " ", count: ControlLimits.messageBytes)
    #expect(Self.failure(long) == .malformed("tooLong"))
  }

  @Test func newsOfANewerChildAreNoMistake() throws {
    #expect(Self.failure(#"{"text":"cry","parameters":{"confidence":0.9}}"#) == .unknown(text: "cry"))
    let level = #"{"text":"level","more":1,"parameters":{"levelDb":-3,"time":1,"peakDb":-1}}"#
    #expect(
      try ControlMessage(json: level) { _ in nil }.content == .push(.level(LevelDocument(levelDb: -3, time: 1))))
    let error = #"{"text":"error","inReplyTo":"1","parameters":{"code":"asleep","message":"zzz"}}"#
    #expect(
      try ControlMessage(json: error) { _ in nil }.content == .refusal(to: "1", ControlError(.internal, "zzz")))
  }

  @Test func repliesThatNobodyWaitsForAreKnownAsSuch() {
    #expect(Self.failure(#"{"text":"ok","inReplyTo":"9","parameters":{}}"#) == .unexpectedReply(to: "9"))
    #expect(Self.failure(#"{"text":"ok","parameters":{}}"#, expecting: Ping.self) == .unexpectedReply(to: ""))
  }

  @Test func aNameIsFitForATerminal() throws {
    let json = #"{"text":"goodbye","parameters":{"reason":"\u001b[2J\u009b\u202egone\n"}}"#
    #expect(try ControlMessage(json: json) { _ in nil }.content == .push(.goodbye(reason: "[2Jgone ")))
  }
}
