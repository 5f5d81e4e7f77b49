internal import JSON

// Commands on the wire: `{"id":"7","text":"light.set","parameters":{"state":"on"}}`. interfaces/wire.md, "Data channel".

/// A command as sent to the child.
public struct ControlRequest: Equatable, Sendable {
  /// At most `ControlLimits.idLength` scalars; comes back as `inReplyTo` in the reply.
  public var id: String?
  public var command: any ControlCommand

  public init(id: String?, command: any ControlCommand) {
    self.id = id
    self.command = command
  }

  public static func == (left: ControlRequest, right: ControlRequest) -> Bool {
    left.id == right.id && AnyHashable(left.command) == AnyHashable(right.command)
  }

  /// Parses a command strictly. Throws the refusal to send: `bad-message`, `unknown-command` or `bad-parameters`.
  ///
  /// - Parameter named: the command of a name; nil: there is none.
  public init(
    json text: String, named: (String) -> (any ControlCommand.Type)? = ControlCommands.named
  ) throws(RefusedRequest) {
    var members = try Self.members(of: text)
    let id = try Self.takeID(&members)
    let text = members.removeValue(forKey: "text")?.string
    let parameters = members.removeValue(forKey: "parameters")
    guard let text, members.isEmpty else {
      throw RefusedRequest(id: id, error: Self.noMessage)
    }
    guard let command = named(text) else {
      let shown = String(text.unicodeScalars.prefix(64))
      throw RefusedRequest(
        id: id, error: ControlError(.unknownCommand, "The camera does not know the command \"\(shown)\"."))
    }
    do throws(ControlError) {
      let members = parameters == nil ? [:] : parameters?.object
      guard let members else { throw .badParameter("parameters", "is an object") }
      self.init(id: id, command: try command.init(parameters: members))
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
    var members: [String: JSON] = ["text": .string(type(of: command).name)]
    if let id { members["id"] = .string(id) }
    let parameters = JSON.document(command)
    if parameters != .object([:]) { members["parameters"] = parameters }
    return JSON.object(members).text
  }
}

/// A message that is not a valid command; the reply is `error` with this `id`.
public struct RefusedRequest: Error, Hashable, Sendable {
  /// Nil when the message has no readable id.
  public var id: String?
  public var error: ControlError

  public init(id: String?, error: ControlError) {
    self.id = id
    self.error = error
  }
}
