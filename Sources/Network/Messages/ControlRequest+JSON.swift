public import Control
internal import JSON
internal import Pairing

// Commands on the wire: `{"id":"7","text":"light.set","parameters":{"state":"on"}}`. interfaces/wire.md, "Data channel".

extension ControlRequest {
  /// Parses a command strictly. Throws the refusal to send: `bad-message`, `unknown-command` or `bad-parameters`.
  public init(json text: String) throws(RefusedRequest) {
    var members = try Self.members(of: text)
    let id = try Self.takeID(&members)
    let text = members.removeValue(forKey: "text")?.string
    let parameters = members.removeValue(forKey: "parameters")
    guard let text, members.isEmpty else {
      throw RefusedRequest(id: id, error: Self.noMessage)
    }
    guard let name = CommandName(rawValue: text) else {
      let shown = String(text.unicodeScalars.prefix(64))
      throw RefusedRequest(
        id: id, error: ControlError(.unknownCommand, "The camera does not know the command \"\(shown)\"."))
    }
    do throws(ControlError) {
      let members = parameters == nil ? [:] : parameters?.object
      guard let members else { throw .badParameter("parameters", "is an object") }
      self.init(id: id, command: try ControlCommand(name, ControlParameters(members)))
    } catch {
      throw RefusedRequest(id: id, error: error)
    }
  }

  /// The refusal of a binary message: commands have to be text.
  public static let binary = RefusedRequest(id: nil, error: noMessage)

  private static let noMessage = ControlError(
    .badMessage, "A message is a JSON object of \"id\", \"text\" and \"parameters\", at most 16 KiB.")

  private static func members(of text: String) throws(RefusedRequest) -> [String: JSON] {
    do throws(JSONError) {
      // Checked before the bytes are copied.
      guard text.utf8.count <= ControlLimits.messageBytes else { throw .tooLong }
      guard let members = try JSON(Array(text.utf8), maximumBytes: ControlLimits.messageBytes).object else {
        throw .malformed(offset: 0)
      }
      return members
    } catch {
      var refusal = noMessage
      switch error {
      case .tooLong, .malformed: break
      case .tooDeep: refusal.message = "The message is nested too deeply."
      case .duplicateMember(let name, _):
        refusal.message = "The message names \"\(String(name.unicodeScalars.prefix(64)))\" twice."
      }
      throw RefusedRequest(id: nil, error: refusal)
    }
  }

  private static func takeID(_ members: inout [String: JSON]) throws(RefusedRequest) -> String? {
    guard let value = members.removeValue(forKey: "id") else { return nil }
    guard let id = value.string, id.unicodeScalars.count <= ControlLimits.idLength else {
      throw RefusedRequest(
        id: nil, error: ControlError(.badMessage, "\"id\" is a text of at most \(ControlLimits.idLength) characters."))
    }
    return id
  }

  /// JSON text for the channel.
  public var json: String {
    var members: [String: JSON] = ["text": .string(command.name.rawValue)]
    if let id { members["id"] = .string(id) }
    let parameters = command.parameters.compactMapValues(\.self)
    if !parameters.isEmpty { members["parameters"] = .object(parameters) }
    return JSON.object(members).text
  }
}

extension ControlCommand {
  fileprivate init(_ name: CommandName, _ given: ControlParameters) throws(ControlError) {
    var given = given
    switch name {
    case .ping: self = .ping
    case .statusGet: self = .statusGet
    case .lightSet: self = .lightSet(try LightSetting(&given))
    case .lightFlash:
      self = .lightFlash(
        LightFlash(
          id: try given.text("id"), times: try given.integer("times", in: ControlLimits.flashTimes),
          milliseconds: try given.integer("milliseconds", in: ControlLimits.flashMilliseconds)))
    case .lullabyList: self = .lullabyList
    case .lullabyPlay:
      self = .lullabyPlay(
        LullabyRequest(
          track: try given.text("track"), volume: try given.integer("volume", in: ControlLimits.volume),
          seconds: try given.integer("seconds", in: ControlLimits.lullabySeconds), loop: try given.flag("loop"),
          fadeSeconds: try given.integer("fadeSeconds", in: ControlLimits.fadeSeconds)))
    case .lullabyStop: self = .lullabyStop
    case .lullabyPause: self = .lullabyPause
    case .lullabyResume: self = .lullabyResume
    case .lullabyNext: self = .lullabyNext
    case .lullabyVolume:
      guard let volume = try given.integer("volume", in: ControlLimits.volume) else {
        throw .badParameter("volume", "is missing")
      }
      self = .lullabyVolume(volume)
    case .cameraList: self = .cameraList
    case .cameraSwitch: self = .cameraSwitch(id: try given.text("id"))
    case .screenshotTake:
      self = .screenshotTake(
        camera: try given.text("camera"), quality: try given.integer("quality", in: ControlLimits.quality))
    case .talkAcquire: self = .talkAcquire(force: try given.flag("force") ?? false)
    case .talkRelease: self = .talkRelease
    case .eventsGet:
      self = .eventsGet(
        since: try given.integer("since", in: ControlLimits.sequence).map { UInt64($0) },
        limit: try given.integer("limit", in: ControlLimits.eventLimit), level: try given.word("level"))
    case .reportGet: self = .reportGet(try ReportRequest(&given))
    case .alarmNote: self = .alarmNote(try AlarmNote(&given))
    case .hearingTest: self = .hearingTest
    case .hearingHeard: self = .hearingHeard(try HearingNote(&given))
    case .drillStart: self = .drillStart(try given.drillStages("stages"))
    case .drillStop: self = .drillStop
    case .pairingOpen: self = .pairingOpen(admin: try given.flag("admin") ?? false)
    case .pairingClose: self = .pairingClose
    case .pairsList: self = .pairsList
    case .pairRemove: self = .pairRemove(id: try given.text("id"))
    case .inviteCreate:
      self = .inviteCreate(
        InviteRequest(
          name: try given.text("name"), seconds: try given.integer("seconds", in: ControlLimits.inviteSeconds),
          allow: try given.guestPermissions("allow")))
    case .recordingsList:
      self = .recordingsList(
        from: try given.number("from", in: ControlLimits.unixSeconds),
        to: try given.number("to", in: ControlLimits.unixSeconds))
    case .recordingsRead:
      guard let id = try given.text("id") else { throw .badParameter("id", "is missing") }
      self = .recordingsRead(id: id, offset: try given.integer("offset", in: ControlLimits.recordingOffset) ?? 0)
    case .recordingsStart: self = .recordingsStart
    case .recordingsStop: self = .recordingsStop
    case .pushKey: self = .pushKey
    case .pushSubscribe: self = .pushSubscribe(try PushSubscribeRequest(&given))
    case .pushUnsubscribe: self = .pushUnsubscribe
    case .pushTest: self = .pushTest
    }
    try given.finish()
  }

  /// Nil values are omitted.
  fileprivate var parameters: [String: JSON?] {
    switch self {
    case .ping, .statusGet, .lullabyList, .lullabyStop, .lullabyPause, .lullabyResume, .lullabyNext, .cameraList,
      .talkRelease, .hearingTest, .drillStop, .pairingClose, .pairsList, .recordingsStart, .recordingsStop,
      .pushKey, .pushUnsubscribe, .pushTest:
      [:]
    case .lightSet(let setting):
      [
        "id": JSON(setting.id), "state": .string(setting.state.rawValue), "brightness": JSON(setting.brightness),
        "seconds": JSON(setting.seconds),
      ]
    case .lightFlash(let flash):
      ["id": JSON(flash.id), "times": JSON(flash.times), "milliseconds": JSON(flash.milliseconds)]
    case .lullabyPlay(let request):
      [
        "track": JSON(request.track), "volume": JSON(request.volume), "seconds": JSON(request.seconds),
        "loop": request.loop.map { .bool($0) }, "fadeSeconds": JSON(request.fadeSeconds),
      ]
    case .lullabyVolume(let volume): ["volume": JSON(volume)]
    case .cameraSwitch(let id), .pairRemove(let id): ["id": JSON(id)]
    case .recordingsList(let from, let to):
      ["from": from.map { .number($0) }, "to": to.map { .number($0) }]
    case .recordingsRead(let id, let offset): ["id": .string(id), "offset": .number(Double(offset))]
    case .screenshotTake(let camera, let quality): ["camera": JSON(camera), "quality": JSON(quality)]
    case .talkAcquire(let force): ["force": force ? .bool(true) : nil]
    case .pairingOpen(let admin): ["admin": admin ? .bool(true) : nil]
    case .eventsGet(let since, let limit, let level):
      [
        "since": since.map { .number(Double($0)) }, "limit": JSON(limit), "level": JSON(level?.rawValue),
      ]
    case .reportGet(let request):
      [
        "from": .number(request.from), "to": .number(request.to), "noiseDb": request.noiseDb.map { .number($0) },
      ]
    case .alarmNote(let note):
      [
        "kind": .string(note.kind), "level": .string(note.level.rawValue), "began": .number(note.began),
        "acknowledgedAt": note.acknowledgedAt.map { .number($0) },
      ]
    case .hearingHeard(let note):
      [
        "number": JSON(note.number), "share": note.share.map { .number($0) },
        "levelDb": note.levelDb.map { .number($0) },
      ]
    case .drillStart(let stages):
      ["stages": stages == DrillDocument.Stage.allCases ? nil : .array(stages.map { .string($0.rawValue) })]
    case .pushSubscribe(let request):
      [
        "endpoint": .string(request.endpoint), "p256dh": .string(request.p256dh), "auth": .string(request.auth),
        "contact": JSON(request.contact),
        "kinds": request.kinds.map { .array($0.map(\.rawValue).sorted().map { .string($0) }) },
      ]
    case .inviteCreate(let request):
      [
        "name": JSON(request.name), "seconds": JSON(request.seconds),
        "allow": request.allow.map { .array($0.names.map { .string($0) }) },
      ]
    }
  }
}

extension LightSetting {
  fileprivate init(_ given: inout ControlParameters) throws(ControlError) {
    guard let state: Switch = try given.word("state") else {
      throw .badParameter("state", "is missing; it is on, off or toggle")
    }
    self.init(
      id: try given.text("id"), state: state, brightness: try given.integer("brightness", in: ControlLimits.brightness),
      seconds: try given.integer("seconds", in: ControlLimits.lightSeconds))
    guard state == .off else { return }
    if brightness != nil { throw .badParameter("brightness", "cannot be given with off") }
    if seconds != nil { throw .badParameter("seconds", "cannot be given with off") }
  }
}

extension ReportRequest {
  fileprivate init(_ given: inout ControlParameters) throws(ControlError) {
    guard let from = try given.number("from", in: ControlLimits.unixSeconds) else {
      throw .badParameter("from", "is missing; it is a time in seconds since 1970")
    }
    guard let to = try given.number("to", in: ControlLimits.unixSeconds) else {
      throw .badParameter("to", "is missing; it is a time in seconds since 1970")
    }
    guard ControlLimits.reportSeconds.contains(to - from) else {
      throw .badParameter("to", "is a minute to 366 days after \"from\"")
    }
    self.init(from: from, to: to, noiseDb: try given.number("noiseDb", in: ControlLimits.noiseDb))
  }
}

extension AlarmNote {
  fileprivate init(_ given: inout ControlParameters) throws(ControlError) {
    guard let kind = try given.text("kind", bytes: ControlLimits.alarmKindBytes) else {
      throw .badParameter("kind", "is missing; it says what was wrong")
    }
    guard kind.utf8.allSatisfy({ (97...122).contains($0) || $0 == UInt8(ascii: "-") }) else {
      throw .badParameter("kind", "is of lower case letters and -")
    }
    guard let level: EventLevel = try given.word("level") else {
      throw .badParameter("level", "is missing; it is notice, warning or alarm")
    }
    guard let began = try given.number("began", in: ControlLimits.unixSeconds) else {
      throw .badParameter("began", "is missing; it is a time in seconds since 1970")
    }
    self.init(
      kind: kind, level: level, began: began,
      acknowledgedAt: try given.number("acknowledgedAt", in: ControlLimits.unixSeconds))
  }
}

extension HearingNote {
  fileprivate init(_ given: inout ControlParameters) throws(ControlError) {
    guard let number = try given.integer("number", in: ControlLimits.hearingNumber) else {
      throw .badParameter("number", "is missing; it is that of the test")
    }
    self.init(
      number: number, share: try given.number("share", in: ControlLimits.hearingShare),
      levelDb: try given.number("levelDb", in: ControlLimits.noiseDb))
    guard (share == nil) != (levelDb == nil) else {
      throw .badParameter("share", "or \"levelDb\" is given, not both")
    }
  }
}

extension PushSubscribeRequest {
  fileprivate init(_ given: inout ControlParameters) throws(ControlError) {
    func required(_ name: String, _ bytes: ClosedRange<Int>) throws(ControlError) -> String {
      guard let text = try given.text(name, bytes: bytes) else {
        throw .badParameter(name, "is missing; the browser's subscription has it")
      }
      return text
    }
    self.init(
      endpoint: try required("endpoint", ControlLimits.pushEndpointBytes),
      p256dh: try required("p256dh", ControlLimits.pushKeyBytes), auth: try required("auth", ControlLimits.pushKeyBytes)
    )
    contact = try given.text("contact", bytes: ControlLimits.pushContactBytes)
    let all = EventKind.allCases
    guard let names = try given.texts("kinds", most: all.count) else { return }
    let known = names.compactMap(EventKind.init)
    guard known.count == names.count else {
      throw .badParameter("kinds", "is a list of \(all.map(\.rawValue).joined(separator: ", "))")
    }
    kinds = Set(known)
  }
}

extension ControlParameters {
  fileprivate mutating func guestPermissions(_ name: String) throws(ControlError) -> Permissions? {
    guard let names = try texts(name, most: Permissions.allNames.count) else { return nil }
    guard let permissions = Permissions(names: names), permissions.isSubset(of: .allowedForTokens) else {
      throw .badParameter(name, "is a list of \(Permissions.allowedForTokens.names.joined(separator: ", "))")
    }
    return permissions
  }
}

extension ControlParameters {
  /// In the order of a drill, each once.
  fileprivate mutating func drillStages(_ name: String) throws(ControlError) -> [DrillDocument.Stage] {
    let all = DrillDocument.Stage.allCases
    guard let names = try texts(name, most: all.count) else { return all }
    guard !names.isEmpty, names.allSatisfy({ DrillDocument.Stage(rawValue: $0) != nil }) else {
      throw .badParameter(name, "is a list of \(all.map(\.rawValue).joined(separator: ", "))")
    }
    return all.filter { names.contains($0.rawValue) }
  }
}

extension JSON {
  fileprivate init?(_ text: String?) {
    guard let text else { return nil }
    self = .string(text)
  }

  fileprivate init?(_ integer: Int?) {
    guard let integer else { return nil }
    self = .number(Double(integer))
  }
}
