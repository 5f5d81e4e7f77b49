import Control
import Messages
import Pairing
import Testing

@Suite struct ControlRequestTests {
  private static func refusal(_ json: String) -> RefusedRequest? {
    do throws(RefusedRequest) {
      _ = try ControlRequest(json: json)
      return nil
    } catch {
      return error
    }
  }

  static let wellFormed: [(String, any ControlCommand)] = [
    (#"{"text":"ping"}"#, Ping()),
    (#"{"text":"ping","parameters":{}}"#, Ping()),
    (#"{"text":"status.get"}"#, StatusGet()),
    (#"{"text":"light.set","parameters":{"state":"on"}}"#, LightSet(state: .on)),
    (
      #"{"text":"light.set","parameters":{"state":"toggle","id":"ir","brightness":0,"seconds":86400}}"#,
      LightSet(id: "ir", state: .toggle, brightness: 0, seconds: 86400)
    ),
    (#"{"text":"light.set","parameters":{"state":"off"}}"#, LightSet(state: .off)),
    (#"{"text":"light.flash"}"#, LightFlash()),
    (
      #"{"text":"light.flash","parameters":{"times":2,"milliseconds":2e2,"id":"a"}}"#,
      LightFlash(id: "a", times: 2, milliseconds: 200)
    ),
    (#"{"text":"lullaby.list"}"#, LullabyList()),
    (#"{"text":"lullaby.play"}"#, LullabyPlay()),
    (
      #"{"text":"lullaby.play","parameters":{"track":"x","volume":100,"seconds":0,"loop":true,"fadeSeconds":600}}"#,
      LullabyPlay(track: "x", volume: 100, seconds: 0, loop: true, fadeSeconds: 600)
    ),
    (#"{"text":"lullaby.stop"}"#, LullabyStop()),
    (#"{"text":"lullaby.pause"}"#, LullabyPause()),
    (#"{"text":"lullaby.resume"}"#, LullabyResume()),
    (#"{"text":"lullaby.next"}"#, LullabyNext()),
    (#"{"text":"lullaby.volume","parameters":{"volume":30}}"#, LullabyVolume(30)),
    (#"{"text":"camera.list"}"#, CameraList()),
    (#"{"text":"camera.switch"}"#, CameraSwitch()),
    (#"{"text":"camera.pause"}"#, CameraPause()),
    (#"{"text":"camera.resume"}"#, CameraResume()),
    (#"{"text":"camera.switch","parameters":{"id":"cot"}}"#, CameraSwitch(id: "cot")),
    (#"{"text":"camera.name","parameters":{"id":"cot"}}"#, CameraName(id: "cot")),
    (#"{"text":"camera.name","parameters":{"id":"cot","title":"Bed"}}"#, CameraName(id: "cot", title: "Bed")),
    (#"{"text":"screenshot.take"}"#, ScreenshotTake()),
    (
      #"{"text":"screenshot.take","parameters":{"camera":"cot","quality":100}}"#,
      ScreenshotTake(camera: "cot", quality: 100)
    ),
    (#"{"text":"talk.acquire"}"#, TalkAcquire()),
    (#"{"text":"talk.acquire","parameters":{"force":true}}"#, TalkAcquire(force: true)),
    (#"{"text":"talk.release"}"#, TalkRelease()),
    (#"{"text":"events.get"}"#, EventsGet()),
    (
      #"{"text":"events.get","parameters":{"level":"warning"}}"#, EventsGet(level: .warning)
    ),
    (
      #"{"text":"report.get","parameters":{"from":60,"to":120.5,"noiseDb":-30}}"#,
      ReportGet(from: 60, to: 120.5, noiseDb: -30)
    ),
    (#"{"text":"hearing.test"}"#, HearingTestStart()),
    (#"{"text":"drill.start"}"#, DrillStart()),
    (#"{"text":"drill.start","parameters":{"stages":["microphone","link"]}}"#, DrillStart([.link, .microphone])),
    (#"{"text":"drill.stop"}"#, DrillStop()),
    (
      #"{"text":"hearing.heard","parameters":{"number":1,"share":0.5}}"#,
      HearingHeard(number: 1, share: 0.5)
    ),
    (
      #"{"text":"hearing.heard","parameters":{"number":2,"levelDb":-70.5}}"#,
      HearingHeard(number: 2, levelDb: -70.5)
    ),
    (
      #"{"text":"alarm.note","parameters":{"kind":"own-sound","level":"warning","began":1.5}}"#,
      AlarmNote(kind: "own-sound", level: .warning, began: 1.5)
    ),
    (
      #"{"text":"alarm.note","parameters":{"kind":"link","level":"alarm","began":1,"acknowledgedAt":2}}"#,
      AlarmNote(kind: "link", level: .alarm, began: 1, acknowledgedAt: 2)
    ),
    (
      #"{"text":"events.get","parameters":{"since":9007199254740992,"limit":200}}"#,
      EventsGet(since: 9_007_199_254_740_992, limit: 200)
    ),
    (#"{"text":"pairing.open"}"#, PairingOpen()),
    (#"{"text":"pairing.open","parameters":{"admin":true}}"#, PairingOpen(admin: true)),
    (#"{"text":"pairing.close"}"#, PairingClose()),
    (#"{"text":"pairs.list"}"#, PairsList()),
    (#"{"text":"pair.remove"}"#, PairRemove()),
    (#"{"text":"pair.remove","parameters":{"id":"00ff"}}"#, PairRemove(id: "00ff")),
    (#"{"text":"recordings.list"}"#, RecordingsList()),
    (#"{"text":"recordings.list","parameters":{"from":1.5,"to":2}}"#, RecordingsList(from: 1.5, to: 2)),
    (#"{"text":"push.key"}"#, PushKeyGet()),
    (
      #"{"text":"push.subscribe","parameters":{"endpoint":"https://a.b/c","p256dh":"BA","auth":"AA"}}"#,
      PushSubscribe(endpoint: "https://a.b/c", p256dh: "BA", auth: "AA")
    ),
    (
      #"{"text":"push.subscribe","parameters":{"endpoint":"https://a.b/c","p256dh":"BA","auth":"AA","kinds":["stuck"]}}"#,
      PushSubscribe(endpoint: "https://a.b/c", p256dh: "BA", auth: "AA", kinds: [.stuck])
    ),
    (#"{"text":"push.unsubscribe"}"#, PushUnsubscribe()),
    (#"{"text":"push.test"}"#, PushTest()),
    (#"{"text":"recordings.read","parameters":{"id":"a","offset":0}}"#, RecordingsRead(id: "a", offset: 0)),
    (
      #"{"text":"recordings.read","parameters":{"id":"a","offset":1048576}}"#,
      RecordingsRead(id: "a", offset: 1_048_576)
    ),
    (#"{"text":"recordings.start"}"#, RecordingsStart()), (#"{"text":"recordings.stop"}"#, RecordingsStop()),
    (#"{"text":"invite.create"}"#, InviteCreate()),
    (
      #"{"text":"invite.create","parameters":{"name":"Sitter","seconds":3600,"allow":["view","talk"]}}"#,
      InviteCreate(name: "Sitter", seconds: 3600, allow: [.view, .talk])
    ),
  ]

  @Test(arguments: wellFormed)
  func readsEachCommandAndWritesItAgain(json: String, command: any ControlCommand) throws {
    let request = try ControlRequest(json: json)
    #expect(request == ControlRequest(id: nil, command: command))
    let named = ControlRequest(id: "7 \u{1}\"ä", command: command)
    #expect(try ControlRequest(json: named.json) == named)
  }

  @Test func everyCommandOfTheTableIsReadHere() {
    #expect(Set(Self.wellFormed.map { type(of: $0.1).name }) == Set(ControlCommands.all.map { $0.name }))
  }

  @Test func writesCommandsAsTheInterfaceSays() {
    #expect(
      ControlRequest(id: "7", command: LightSet(state: .on)).json
        == #"{"id":"7","parameters":{"state":"on"},"text":"light.set"}"#)
    #expect(ControlRequest(id: nil, command: Ping()).json == #"{"text":"ping"}"#)
  }

  @Test(arguments: [
    "", "ping", "[]", "\"ping\"", "{}", "null", "7", #"{"text":3}"#, #"{"text":null}"#, #"{"id":"7"}"#,
    #"{"text":"ping","text":"ping"}"#, #"{"text":"ping","parameters":{"a":1,"a":1}}"#, #"{"text":"ping"} x"#,
    #"{"text":"ping","extra":1}"#, #"{"id":7,"text":"ping"}"#, #"{"id":null,"text":"ping"}"#, #"{"text":"ping""#,
  ])
  func whatIsNoMessageIsABadMessage(json: String) {
    #expect(Self.refusal(json)?.error.code == .badMessage)
  }

  @Test func nestingBombsAreBadMessages() {
    for opening in ["[", #"{"a":"#] {
      let bomb = String(repeating: opening, count: 3000)
      #expect(Self.refusal(#"{"text":"ping","parameters":\#(bomb)}"#)?.error.code == .badMessage)
    }
  }

  @Test func sixteenKiBAreReadAndOneMoreIsNot() throws {
    let frame = #"{"text":"ping"}"#
    let full = frame + String(repeating: " ", count: ControlLimits.messageBytes - frame.utf8.count)
    #expect(try ControlRequest(json: full).command is Ping)
    #expect(Self.refusal(full + " ")?.error.code == .badMessage)
    #expect(Self.refusal(String(repeating: "x", count: 1 << 20))?.error.code == .badMessage)
  }

  @Test func theIDComesBackWithEveryRefusalThatHasOne() {
    #expect(Self.refusal(#"{"id":"7","text":"dance"}"#)?.id == "7")
    #expect(Self.refusal(#"{"id":"7","text":"ping","parameters":[]}"#)?.id == "7")
    #expect(Self.refusal(#"{"id":"7","text":3}"#)?.id == "7")
    let longest = String(repeating: "ä", count: 64)
    #expect(Self.refusal(#"{"id":"\#(longest)","text":"dance"}"#)?.id == longest)
    let long = Self.refusal(#"{"id":"\#(longest)x","text":"ping"}"#)
    #expect(long?.error.code == .badMessage && long?.id == nil)
    #expect(ControlRequest.binary.error.code == .badMessage)
  }

  @Test(arguments: ["dance", "", "Ping", "light", "ping ", "light.set\u{0}"])
  func unknownCommandsAreNamed(text: String) {
    let refusal = Self.refusal(#"{"text":"\#(text == "light.set\u{0}" ? "light.set\\u0000" : text)"}"#)
    #expect(refusal?.error.code == .unknownCommand)
    #expect(refusal?.error.message.contains(text) == true)
  }

  @Test func aLongUnknownCommandIsCitedInPart() {
    let text = String(repeating: "x", count: 9000)
    #expect(Self.refusal(#"{"text":"\#(text)"}"#)?.error.message.utf8.count ?? 0 < 200)
    let unknown = Self.refusal(#"{"text":"ping","parameters":{"\#(text)":1}}"#)
    #expect(unknown?.error.code == .badParameters)
    #expect(unknown?.error.message.utf8.count ?? 0 < 200)
  }

  @Test(arguments: [
    ("ping", #"{"a":1}"#, "a"), ("light.set", "{}", "state"), ("light.set", #"{"state":"dim"}"#, "state"),
    ("light.set", #"{"state":true}"#, "state"), ("light.set", #"{"state":"on","brightness":101}"#, "brightness"),
    ("light.set", #"{"state":"on","brightness":-1}"#, "brightness"),
    ("light.set", #"{"state":"on","brightness":50.5}"#, "brightness"),
    ("light.set", #"{"state":"on","brightness":"50"}"#, "brightness"),
    ("light.set", #"{"state":"on","brightness":null}"#, "brightness"),
    ("light.set", #"{"state":"on","brightness":1e300}"#, "brightness"),
    ("light.set", #"{"state":"on","seconds":0}"#, "seconds"),
    ("light.set", #"{"state":"on","seconds":86401}"#, "seconds"),
    ("light.set", #"{"state":"off","seconds":5}"#, "seconds"),
    ("light.set", #"{"state":"off","brightness":5}"#, "brightness"),
    ("light.set", #"{"state":"on","id":""}"#, "id"), ("light.set", #"{"state":"on","id":5}"#, "id"),
    ("light.set", #"{"state":"on","second":5}"#, "second"),
    ("light.flash", #"{"times":0}"#, "times"), ("light.flash", #"{"times":101}"#, "times"),
    ("light.flash", #"{"milliseconds":199}"#, "milliseconds"), ("light.flash", #"{"state":"on"}"#, "state"),
    ("lullaby.play", #"{"track":["a"]}"#, "track"), ("lullaby.play", #"{"volume":101}"#, "volume"),
    ("lullaby.play", #"{"seconds":86401}"#, "seconds"), ("lullaby.play", #"{"loop":"yes"}"#, "loop"),
    ("lullaby.play", #"{"loop":1}"#, "loop"), ("lullaby.play", #"{"fadeSeconds":-1}"#, "fadeSeconds"),
    ("lullaby.volume", "{}", "volume"), ("lullaby.volume", #"{"volume":true}"#, "volume"),
    ("lullaby.stop", #"{"volume":1}"#, "volume"), ("camera.switch", #"{"id":null}"#, "id"),
    ("camera.name", "{}", "id"), ("camera.name", #"{"id":"cot","title":""}"#, "title"),
    ("camera.name", #"{"id":"cot","title":"a\u001b[2J"}"#, "title"),
    ("screenshot.take", #"{"quality":0}"#, "quality"), ("screenshot.take", #"{"camera":1}"#, "camera"),
    ("talk.acquire", #"{"force":"true"}"#, "force"), ("talk.release", #"{"force":true}"#, "force"),
    ("events.get", #"{"since":-1}"#, "since"), ("events.get", #"{"since":9007199254740994}"#, "since"),
    ("events.get", #"{"level":"grave"}"#, "level"), ("report.get", "{}", "from"), ("report.get", #"{"from":1}"#, "to"),
    ("report.get", #"{"from":1,"to":60}"#, "to"), ("report.get", #"{"from":0,"to":31708800}"#, "to"),
    ("report.get", #"{"from":-1,"to":60}"#, "from"), ("report.get", #"{"from":1e300,"to":60}"#, "from"),
    ("report.get", #"{"from":0,"to":60,"noiseDb":1}"#, "noiseDb"),
    ("alarm.note", #"{"level":"alarm","began":1}"#, "kind"),
    ("alarm.note", #"{"kind":"Link!","level":"alarm","began":1}"#, "kind"),
    ("alarm.note", #"{"kind":"link","began":1}"#, "level"),
    ("alarm.note", #"{"kind":"link","level":"alarm"}"#, "began"),
    ("drill.start", #"{"stages":[]}"#, "stages"), ("drill.start", #"{"stages":["fire"]}"#, "stages"),
    ("drill.start", #"{"stages":"link"}"#, "stages"),
    ("hearing.heard", #"{"share":0.5}"#, "number"),
    ("hearing.heard", #"{"number":1}"#, "share"),
    ("hearing.heard", #"{"number":1,"share":1.5}"#, "share"),
    ("hearing.heard", #"{"number":1,"share":0.5,"levelDb":-70}"#, "share"),
    ("alarm.note", #"{"kind":"link","level":"alarm","began":"now"}"#, "began"),
    ("alarm.note", #"{"kind":"link","level":"alarm","began":1,"acknowledgedAt":-1}"#, "acknowledgedAt"),
    ("events.get", #"{"limit":0}"#, "limit"), ("events.get", #"{"limit":201}"#, "limit"),
    ("pair.remove", #"{"id":{}}"#, "id"), ("invite.create", #"{"seconds":59}"#, "seconds"),
    ("invite.create", #"{"allow":["admin"]}"#, "allow"), ("invite.create", #"{"allow":[]}"#, "allow"),
    ("invite.create", #"{"allow":"view"}"#, "allow"), ("invite.create", #"{"allow":["view",1]}"#, "allow"),
    ("invite.create", #"{"allow":["fly"]}"#, "allow"), ("ping", "[]", "parameters"), ("ping", "null", "parameters"),
  ])
  func badParametersAreNamed(text: String, parameters: String, name: String) {
    let refusal = Self.refusal(#"{"id":"1","text":"\#(text)","parameters":\#(parameters)}"#)
    #expect(refusal?.error.code == .badParameters)
    #expect(refusal?.error.message.hasPrefix("\"\(name)\" ") == true, "\(refusal?.error.message ?? "read")")
  }

  /// Whoever shows them relies on the words, and on which of several faults comes first.
  @Test(arguments: [
    ("ping", #"{"b":1,"a":1}"#, "\"a\" is not a parameter of this command."),
    ("light.set", "{}", "\"state\" is missing; it is on, off or toggle."),
    ("light.set", #"{"state":"dim"}"#, "\"state\" is one of on, off, toggle."),
    ("light.set", #"{"state":"on","id":""}"#, "\"id\" is a text of 1 to 128 bytes."),
    ("light.set", #"{"state":"on","brightness":null}"#, "\"brightness\" is a whole number from 0 to 100."),
    ("light.set", #"{"state":"off","seconds":5,"second":1}"#, "\"seconds\" cannot be given with off."),
    ("lullaby.volume", #"{"x":1}"#, "\"volume\" is missing."),
    ("lullaby.play", #"{"loop":1}"#, "\"loop\" is true or false."),
    ("report.get", #"{"from":0,"to":60,"noiseDb":1}"#, "\"noiseDb\" is a number from -100.0 to 0.0."),
    ("report.get", #"{"from":0,"to":6}"#, "\"to\" is a minute to 366 days after \"from\"."),
    ("events.get", #"{"level":"grave"}"#, "\"level\" is one of notice, warning, alarm."),
    ("alarm.note", #"{"kind":"Link!","level":"alarm","began":1}"#, "\"kind\" is of lower case letters and -."),
    ("hearing.heard", #"{"number":1}"#, "\"share\" or \"levelDb\" is given, not both."),
    ("drill.start", #"{"stages":[]}"#, "\"stages\" is a list of 1 to 3 texts."),
    ("drill.start", #"{"stages":[1]}"#, "\"stages\" is a list of texts."),
    ("drill.start", #"{"stages":["fire"]}"#, "\"stages\" is a list of link, camera, microphone."),
    ("invite.create", #"{"allow":["admin"]}"#, "\"allow\" is a list of view, listen, talk, control."),
    ("invite.create", #"{"allow":[]}"#, "\"allow\" is a list of 1 to 6 texts."),
    ("push.subscribe", "{}", "\"endpoint\" is missing; the browser's subscription has it."),
    ("ping", "[]", "\"parameters\" is an object."),
  ])
  func refusalsKeepTheirWords(text: String, parameters: String, words: String) {
    let refusal = Self.refusal(#"{"text":"\#(text)","parameters":\#(parameters)}"#)
    #expect(refusal?.error == ControlError(.badParameters, words))
  }

  @Test func namesHaveALargestSize() throws {
    let longest = String(repeating: "n", count: 128)
    #expect(
      try ControlRequest(json: #"{"text":"camera.switch","parameters":{"id":"\#(longest)"}}"#)
        == ControlRequest(id: nil, command: CameraSwitch(id: longest)))
    let refusal = Self.refusal(#"{"text":"camera.switch","parameters":{"id":"\#(longest)n"}}"#)
    #expect(refusal?.error.code == .badParameters)
  }
}
