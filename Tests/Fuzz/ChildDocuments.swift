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

  private static let replies: [(CommandName, String)] = [
    (.ping, #""time":1.5"#),
    (.statusGet, #""name":"N","id":"0","version":"1","time":1,"uptimeSeconds":2,"alarms":["x"],\#(state)"#),
    (.lightSet, #""light":\#(light)"#),
    (.lullabyList, #""tracks":[{"id":"a","title":"A","seconds":90.5}]"#),
    (.lullabyPlay, #""lullaby":\#(lullaby)"#),
    (.cameraList, #""cameras":[\#(camera)]"#),
    (.screenshotTake, #""transfer":1,"size":9,"type":"image/jpeg","width":2,"height":2,"total":9"#),
    (.eventsGet, #""events":[\#(event)]"#),
    (
      .reportGet,
      #""report":{"from":3600,"to":4200,"minutes":10,"recordedMinutes":8,"monitoredMinutes":6,"#
        + #""parents":[{"name":"P","minutes":6}],"longestGap":{"from":3600,"to":3720,"causes":["link"]},"#
        + #""gaps":[{"from":3600,"to":3720,"causes":["link"]}],"#
        + #""noise":{"minutes":1,"thresholdDb":-45,"loudestDb":-12.5},"#
        + #""losses":[{"device":"camera","id":"cot","from":3660,"to":3700}],"#
        + #""alarms":[{"name":"P","kind":"link","level":"alarm","began":3660,"acknowledgedAt":3670}],"#
        + #""proofs":[{"kind":"hearing","time":3700}],"restarts":1,"reconnects":2,"#
        + #""timeline":{"levels":[20,-1,-2],"listeners":[{"name":"P","runs":[2,6,2]}]}}"#
    ),
    (.hearingTest, #""hearing":\#(hearing)"#),
    (.drillStart, #""drill":\#(drill)"#),
    (.pairingOpen, #""pairing":{"code":"1","link":"l","expiresAt":9,"allow":[]}"#),
    (
      .pairsList,
      #""pairs":[{"id":"1","name":"P","permissions":[],"createdAt":1,"lastSeenAt":2,"expiresAt":3}]"#
    ),
    (.inviteCreate, #""invite":{"name":"P","link":"l","allow":[],"expiresAt":9}"#),
    (
      .recordingsList,
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
    replies.map { message(#""text":"ok","inReplyTo":"\#($0.rawValue)""#, $1) }
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
    try? ControlMessage(json: json.text) { CommandName(rawValue: $0) }
  }

  /// Everything that is shown of it.
  public static func show(_ message: ControlMessage, draws: Bool) -> String {
    switch message.content {
    case .refusal: ""
    case .reply(_, let reply): show(reply, draws: draws)
    case .push(.hello(let hello)): show(hello.state)
    case .push(.state(let state)): show(state)
    case .push(.event(let event)): event.text
    case .push(let push): "\(push)"
    }
  }

  private static func show(_ reply: ControlReply, draws: Bool) -> String {
    switch reply {
    case .status(let status): status.rows.joined().joined() + show(status.state)
    case .light(let light): light.text
    case .tracks(let tracks): tracks.map(\.row).joined().joined()
    case .lullaby(let lullaby): lullaby.text
    case .cameras(let cameras): cameras.map(\.row).joined().joined()
    case .events(let events): events.map(\.text).joined()
    case .report(let report):
      report.rows.joined().joined() + (draws ? "\((try? ReportPicture.png(report))?.count ?? 0)" : "")
    case .hearing(let hearing): hearing.text
    case .drill(let drill): drill.text
    case .recordings(let recordings): recordings.rows.joined().joined()
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
