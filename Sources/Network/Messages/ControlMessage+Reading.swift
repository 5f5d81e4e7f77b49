public import Control
internal import JSON

/// Why a parent cannot use a message.
public enum UnreadableMessage: Error, Hashable, Sendable {
  /// Not a JSON object of the right shape, or too large. The text says which rule it breaks.
  case malformed(String)
  /// A message from a newer child. Not an error; it can be ignored.
  case unknown(text: String)
  /// A reply to a command that was not sent or is no longer pending.
  case unexpectedReply(to: String)
}

extension ControlMessage {
  /// The longest text kept from a message, in scalars.
  private static let textLength = 512

  /// Reads a message of the child. Texts are sanitised for a terminal, numbers are possible ones. Unknown members are skipped, because a newer
  /// child may send more.
  ///
  /// - Parameter expecting: returns the command that was sent with an id; nil if there is none.
  public init(json text: String, expecting: (String) -> CommandName?) throws(UnreadableMessage) {
    let json: JSON
    do throws(JSONError) {
      guard text.utf8.count <= ControlLimits.messageBytes else { throw .tooLong }
      json = try JSON(Array(text.utf8), maximumBytes: ControlLimits.messageBytes)
    } catch {
      throw .malformed("\(error)")
    }
    guard let members = json.printable(scalars: Self.textLength).object, let text = members["text"]?.string else {
      throw .malformed("no object with a \"text\"")
    }
    let parameters = members["parameters"] ?? .object([:])
    do throws(ImpossibleNumber) {
      try parameters.checkNumbers()
    } catch {
      throw .malformed("\(error)")
    }
    let to = members["inReplyTo"]?.string
    let content: Content
    do {
      if text == "error" {
        content = .refusal(to: to, try ControlError(parameters))
      } else if text == "ok" {
        guard let to, let name = expecting(to) else { throw UnreadableMessage.unexpectedReply(to: to ?? "") }
        content = .reply(to: to, try ControlReply(parameters, to: name))
      } else if let name = PushName(rawValue: text) {
        content = .push(try ControlPush(parameters, name))
      } else {
        throw UnreadableMessage.unknown(text: text)
      }
    } catch let error as UnreadableMessage {
      throw error
    } catch {
      throw .malformed("\"\(text)\" has other parameters than it should")
    }
    self.init(id: members["id"]?.string ?? "", content: content)
  }
}

extension ControlError {
  fileprivate init(_ parameters: JSON) throws {
    let members = try parameters.decode([String: String].self)
    guard let code = members["code"] else { throw UnreadableMessage.malformed("an error without a code") }
    // A code from a newer child; its message explains it.
    self.init(Code(rawValue: code) ?? .internal, members["message"] ?? code)
  }
}

extension ControlReply {
  fileprivate init(_ parameters: JSON, to name: CommandName) throws {
    func member<Document: Decodable>(_ member: ReplyMember) throws -> Document {
      guard let json = parameters.object?[member.rawValue] else {
        throw UnreadableMessage.malformed("\"\(name.rawValue)\" is answered without \"\(member.rawValue)\"")
      }
      return try json.decode()
    }
    switch name {
    case .ping: self = .time(try member(.time))
    case .statusGet: self = .status(try parameters.decode())
    case .lightSet, .lightFlash: self = .light(try member(.light))
    case .lullabyList: self = .tracks(try member(.tracks))
    case .lullabyPlay, .lullabyStop, .lullabyPause, .lullabyResume, .lullabyNext, .lullabyVolume:
      self = .lullaby(try member(.lullaby))
    case .cameraList, .cameraSwitch: self = .cameras(try member(.cameras))
    case .screenshotTake, .recordingsRead: self = .transfer(try parameters.decode())
    case .talkAcquire, .talkRelease: self = .talk(try member(.talk))
    case .eventsGet: self = .events(try member(.events))
    case .reportGet:
      let report: ReportDocument = try member(.report)
      guard report.isPossible else { throw UnreadableMessage.malformed("a report whose times cannot be") }
      self = .report(report)
    case .hearingTest: self = .hearing(try member(.hearing))
    case .drillStart: self = .drill(try member(.drill))
    case .pairingOpen: self = .pairing(try member(.pairing))
    case .pairsList: self = .pairs(try member(.pairs))
    case .inviteCreate: self = .invite(try member(.invite))
    case .pushKey: self = .pushKey(try parameters.decode())
    case .pushTest: self = .pushTest(try parameters.decode())
    case .recordingsList: self = .recordings(try member(.recordings))
    case .pairingClose, .pairRemove, .alarmNote, .hearingHeard, .drillStop, .recordingsStart, .recordingsStop,
      .pushSubscribe, .pushUnsubscribe:
      self = .done
    }
  }
}

extension ControlPush {
  fileprivate init(_ parameters: JSON, _ name: PushName) throws {
    switch name {
    case .hello: self = .hello(try parameters.decode())
    case .state: self = .state(try parameters.decode())
    case .event: self = .event(try parameters.decode())
    case .heartbeat: self = .heartbeat(try parameters.decode())
    case .level: self = .level(try LevelDocument(parameters))
    case .goodbye: self = .goodbye(reason: parameters.object?["reason"]?.string ?? "")
    }
  }
}

extension LevelDocument {
  /// Avoids the decoder, which takes ten times as long: five of these arrive each second, all night.
  fileprivate init(_ parameters: JSON) throws {
    guard case .number(let levelDb)? = parameters.object?["levelDb"],
      case .number(let time)? = parameters.object?["time"]
    else { throw UnreadableMessage.malformed("a level without its number or time") }
    self.init(levelDb: levelDb, time: time)
  }
}
