public import Control
public import JSON
import Messages
import Parent

/// What a child says to a parent, with every number that its documents have.
public enum ChildDocuments {
  private static let drill =
    #"{"number":3,"state":"passed","time":9,"seconds":40,"parents":[{"name":"P","link":"rang"}]}"#
  private static let hearing =
    #"{"number":4,"state":"heard","way":"speaker","time":9,"seconds":1.5,"microphone":true,"parents":["P"]}"#
  private static let lullaby =
    #"{"state":"playing","track":"a","volume":40,"loop":true,"positionSeconds":6.5,"remainingSeconds":60}"#
  private static let light = #"{"id":"a","state":"on","brightness":50,"dimmable":true,"remainingSeconds":60}"#
  private static let camera = #"{"id":"cot","name":"C","active":true,"width":640,"height":360,"state":"running"}"#
  private static let event =
    #"{"sequence":7,"kind":"alarm","time":1.5,"name":"P","id":"a","detail":"link","began":1,"acknowledgedAt":2}"#
  private static let state =
    #""lights":[\#(light)],"lullaby":\#(lullaby),"cameras":[\#(camera)],"hearing":\#(hearing),"drill":\#(drill),"#
    + #""viewers":[{"id":"1","name":"P","permissions":["view"],"since":1}]"#

  private static let replies: [(any ControlCommand.Type, String)] = [
    (Ping.self, #""time":1.5"#),
    (StatusGet.self, #""name":"N","id":"0","version":"1","time":1,"uptimeSeconds":2,"alarms":["x"],\#(state)"#),
    (LightSet.self, #""light":\#(light)"#),
    (LullabyList.self, #""tracks":[{"id":"a","title":"A","seconds":90.5}]"#),
    (LullabyPlay.self, #""lullaby":\#(lullaby)"#),
    (CameraList.self, #""cameras":[\#(camera)]"#),
    (ScreenshotTake.self, #""transfer":1,"size":9,"type":"image/jpeg","width":2,"height":2,"total":9"#),
    (EventsGet.self, #""events":[\#(event)]"#),
    (
      ReportGet.self,
      #""report":{"from":3600,"to":4200,"minutes":10,"recordedMinutes":8,"monitoredMinutes":6,"#
        + #""parents":[{"name":"P","minutes":6}],"longestGap":{"from":3600,"to":3720,"causes":["link"]},"#
        + #""gaps":[{"from":3600,"to":3720,"causes":["link"]}],"#
        + #""noise":{"minutes":1,"thresholdDb":-45,"loudestDb":-12.5},"#
        + #""losses":[{"device":"camera","id":"cot","from":3660,"to":3700}],"#
        + #""alarms":[{"name":"P","kind":"link","level":"alarm","began":3660,"acknowledgedAt":3670}],"#
        + #""proofs":[{"kind":"hearing","time":3700}],"restarts":1,"reconnects":2,"#
        + #""timeline":{"levels":[20,-1,-2],"listeners":[{"name":"P","runs":[2,6,2]}]}}"#
    ),
    (HearingTestStart.self, #""hearing":\#(hearing)"#),
    (DrillStart.self, #""drill":\#(drill)"#),
    (PairingOpen.self, #""pairing":{"code":"1","link":"l","expiresAt":9,"allow":[]}"#),
    (
      PairsList.self,
      #""pairs":[{"id":"1","name":"P","permissions":[],"createdAt":1,"lastSeenAt":2,"expiresAt":3}]"#
    ),
    (InviteCreate.self, #""invite":{"name":"P","link":"l","allow":[],"expiresAt":9}"#),
    (
      RecordingsList.self,
      #""recordings":{"mode":"always","state":"idle","parts":[{"id":"a","time":1,"seconds":300,"bytes":9}]}"#
    ),
  ]
  private static let pushes: [(String, String)] = [
    ("state", state), ("event", #""sequence":1,"kind":"light","time":1,"began":1,"acknowledgedAt":1"#),
    ("level", #""levelDb":-20,"time":1"#),
    (
      "hello",
      #""name":"N","id":"0","version":"1","capabilities":[],"permissions":[],"viewer":"1","state":{\#(state)},"#
        + #""away":{"iceServers":[],"meetings":[{"kind":"xmpp","host":"h","port":5222}]}"#
    ),
    (
      "heartbeat",
      #""time":1,"uptimeSeconds":2,"audio":{"state":"running","captured":1,"encoded":1,"sent":1,"levelDb":-20.5},"#
        + #""video":{"state":"running","captured":1,"encoded":1,"keyFrames":1,"sent":1,"targetKbps":500,"#
        + #""rtpTimestamp":1,"captureTimestamp":1.5},"path":{"estimateKbps":1,"targetKbps":1,"queueMs":1,"#
        + #""probesSent":1,"probesSucceeded":1,"roundTripMs":1,"lossPercent":1,"soundCopies":1,"#
        + #""isCongested":false}"#
    ),
  ]

  /// Each reply names its command as what it replies to.
  public static let messages: [JSON] =
    replies.map { message(#""text":"ok","inReplyTo":"\#($0.name)""#, $1) }
    + pushes.map { message(#""text":"\#($0)""#, $1) }

  private static func message(_ head: String, _ parameters: String) -> JSON {
    guard let json = try? JSON(Array("{\(head),\"parameters\":{\(parameters)}}".utf8), maximumBytes: 16_384) else {
      preconditionFailure("a sample is JSON")
    }
    return json
  }

  /// The names of the members that hold numbers, in a fixed order; of elements, the array's.
  public static func numbers(_ json: JSON, in name: String = "") -> [String] {
    switch json {
    case .null, .bool, .string: []
    case .number: [name]
    case .array(let elements): elements.flatMap { numbers($0, in: name) }
    case .object(let members): members.sorted { $0.key < $1.key }.flatMap { numbers($0.value, in: $0.key) }
    }
  }

  /// The same with another number at `index` of `numbers`.
  public static func replacing(_ index: Int, of json: JSON, with number: Double) -> JSON {
    var index = index
    return replacing(&index, json, number)
  }

  private static func replacing(_ index: inout Int, _ json: JSON, _ number: Double) -> JSON {
    switch json {
    case .null, .bool, .string: return json
    case .number:
      index -= 1
      return index == -1 ? .number(number) : json
    case .array(let elements): return .array(elements.map { replacing(&index, $0, number) })
    case .object(var members):
      for name in members.keys.sorted() { members[name] = members[name].map { replacing(&index, $0, number) } }
      return .object(members)
    }
  }

  /// Reads it as a parent does; nil if it is refused.
  public static func read(_ json: JSON) -> ControlMessage? {
    try? ControlMessage(json: json.text, expecting: ControlCommands.named)
  }

  /// Everything that is shown of it.
  public static func show(_ message: ControlMessage, draws: Bool) -> String {
    switch message.content {
    case .refusal: ""
    case .reply(_, let answer): show(answer.reply, draws: draws)
    case .push(.hello(let hello)): show(hello.state)
    case .push(.state(let state)): show(state)
    case .push(.event(let event)): event.text
    case .push(let push): "\(push)"
    }
  }

  private static func show(_ reply: any ControlReply, draws: Bool) -> String {
    switch reply {
    case let status as StatusDocument: status.rows.joined().joined() + show(status.state)
    case let light as LightDocument: light.text
    case let tracks as [TrackDocument]: tracks.map(\.row).joined().joined()
    case let lullaby as LullabyDocument: lullaby.text
    case let cameras as [CameraDocument]: cameras.map(\.row).joined().joined()
    case let events as [EventDocument]: events.map(\.text).joined()
    case let report as ReportDocument:
      report.rows.joined().joined() + (draws ? "\((try? ReportPicture.png(report))?.count ?? 0)" : "")
    case let hearing as HearingDocument: hearing.text
    case let drill as DrillDocument: drill.text
    case let recordings as RecordingsDocument: recordings.rows.joined().joined()
    default: "\(reply)"
    }
  }

  private static func show(_ state: StateDocument) -> String {
    let parts: [[String]?] = [
      state.lights?.map(\.text), state.cameras.map { $0.map(\.row).joined() + [] }, [state.lullaby?.text ?? ""],
      [state.hearing?.text ?? "", state.drill?.text ?? "", state.drill?.announcement ?? ""],
    ]
    return parts.compactMap(\.self).joined().joined()
  }
}
