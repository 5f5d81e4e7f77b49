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
  /// Reads a message of the child. Texts are sanitised for a terminal, numbers are possible ones. Unknown members are skipped, because a newer
  /// child may send more.
  ///
  /// - Parameters:
  ///   - textLength: the longest text that is kept, in scalars; nil: texts stay as they are.
  ///   - expecting: returns the command that was sent with an id; nil if there is none.
  public init(
    json text: String, maximumBytes: Int = ControlLimits.messageBytes, textLength: Int? = 512,
    expecting: (String) -> (any ControlCommand.Type)?
  ) throws(UnreadableMessage) {
    let json: JSON
    do throws(JSONError) {
      guard text.utf8.count <= maximumBytes else { throw .tooLong }
      let read = try JSON(Array(text.utf8), maximumBytes: maximumBytes)
      json = textLength.map { read.printable(scalars: $0) } ?? read
    } catch {
      throw .malformed("\(error)")
    }
    guard let members = json.object, let text = members["text"]?.string else {
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
        guard let to, let command = expecting(to) else { throw UnreadableMessage.unexpectedReply(to: to ?? "") }
        content = .reply(to: to, try ControlAnswer.read(parameters, to: command))
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

extension ControlAnswer {
  fileprivate static func read<Command: ControlCommand>(_ parameters: JSON, to command: Command.Type) throws -> Self {
    var json = parameters
    if let member = Command.Reply.member {
      guard let inner = parameters.object?[member] else {
        throw UnreadableMessage.malformed("\"\(Command.name)\" is answered without \"\(member)\"")
      }
      json = inner
    }
    let reply = try json.decode(Command.Reply.self)
    guard reply.isPossible else { throw UnreadableMessage.malformed("a reply whose numbers cannot be") }
    return ControlAnswer(command, reply)
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
