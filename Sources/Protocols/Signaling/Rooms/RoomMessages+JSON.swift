internal import JSON
internal import Wire

/// The JSON of the rooms, for both ends. interfaces/wire.md, "Rooms".
public enum RoomMessages {
  /// The limit for a WebSocket message.
  public static let maximumBytes = 64 * 1024

  /// Parses a client's request. Throws `RoomError` with `badMessage`, to be sent back.
  public static func request(_ text: String) throws(RoomError) -> RoomRequest {
    guard let members = object(text) else {
      throw RoomError(.badMessage, "a message is a JSON object with a cmd")
    }
    func member(_ name: String) throws(RoomError) -> String {
      guard let value = members[name]?.string else { throw RoomError(.badMessage, "\(command) has a \(name), a text") }
      return value
    }
    let command = members["cmd"]?.string ?? ""
    switch command {
    case "register": return .register(room: try member("roomid"), client: try member("clientid"))
    case "send": return .send(to: try member("to"), message: try member("msg"))
    case "prove": return .prove(proof: try member("proof"), presence: try member("presence"))
    case "announce": return .announce(presence: try member("presence"))
    case "vouch": return .vouch(client: try member("client"), lifetime: lifetime(members["seconds"]))
    case "dismiss": return .dismiss(client: try member("client"), reason: printable(members["reason"]))
    default: throw RoomError(.badMessage, "commands are register, send, prove, announce, vouch and dismiss")
    }
  }

  /// What is no number lends for the shortest time, not for the longest.
  private static func lifetime(_ seconds: JSON?) -> Duration? {
    guard let seconds else { return nil }
    guard case .number(let number) = seconds, let whole = Int64(exactly: number.rounded()) else { return .zero }
    return .seconds(max(0, whole))
  }

  /// Words for a person, from somebody who has not been authenticated.
  private static func printable(_ words: JSON?) -> String {
    words?.string?.printable(maximum: longestWords) ?? ""
  }

  public static func text(_ request: RoomRequest) -> String {
    switch request {
    case .register(let room, let client): JSON.text(["cmd": "register", "roomid": room, "clientid": client])
    case .send(let client, let message): JSON.text(["cmd": "send", "to": client, "msg": message])
    case .prove(let proof, let presence): JSON.text(["cmd": "prove", "proof": proof, "presence": presence])
    case .announce(let presence): JSON.text(["cmd": "announce", "presence": presence])
    case .vouch(let client, nil): JSON.text(["cmd": "vouch", "client": client])
    case .vouch(let client, let lifetime?):
      JSON.object([
        "cmd": .string("vouch"), "client": .string(client), "seconds": .number(Double(lifetime.components.seconds)),
      ]).text
    case .dismiss(let client, let reason): JSON.text(["cmd": "dismiss", "client": client, "reason": reason])
    }
  }

  /// Parses a message of the server. Throws `RoomError` with `badMessage`; clients ignore such messages.
  public static func reply(_ text: String) throws(RoomError) -> RoomReply {
    guard let members = object(text) else { throw RoomError(.badMessage, "the room's reply is not a JSON object") }
    if let error = members["error"]?.object {
      let code = error["code"]?.string.flatMap(RoomError.Code.init(rawValue:)) ?? .other
      return .error(RoomError(code, printable(error["message"])))
    }
    if let registered = members["registered"]?.object { return .registered(try registration(registered)) }
    if let proved = members["proved"]?.object { return .proved(iceServers: servers(proved)) }
    if let vouched = members["vouched"]?.object { return .vouched(iceServers: servers(vouched)) }
    if let presence = members["present"]?.string { return .presence(presence) }
    if case .bool(true)? = members["absent"] { return .presence(nil) }
    return .message(try delivery(members))
  }

  private static func registration(_ members: [String: JSON]) throws(RoomError) -> RoomRegistration {
    guard let room = members["roomid"]?.string, let client = members["clientid"]?.string,
      case .bool(let isInitiator)? = members["initiator"], let challenge = members["challenge"]?.string,
      case .array(let waiting)? = members["messages"]
    else { throw RoomError(.badMessage, "the room's registration is not complete") }
    var registration = RoomRegistration(room: room, client: client, isInitiator: isInitiator, challenge: challenge)
    if let presence = members["present"]?.string {
      registration.host = .elsewhere(presence: presence)
    } else if case .bool(true)? = members["absent"] {
      registration.host = .absent
    }
    for message in waiting { registration.messages.append(try delivery(message.object ?? [:])) }
    return registration
  }

  /// What cannot be read of them is left out: a server helps, but is not needed.
  private static func servers(_ members: [String: JSON]) -> [ICEServerDocument] {
    guard case .array(let list)? = members["iceServers"] else { return [] }
    return list.prefix(mostServers).compactMap { server in
      guard let server = server.object, case .array(let urls)? = server["urls"] else { return nil }
      return ICEServerDocument(
        urls: urls.prefix(mostServers).compactMap(\.string), username: server["username"]?.string,
        credential: server["credential"]?.string)
    }
  }

  private static func delivery(_ members: [String: JSON]) throws(RoomError) -> RoomDelivery {
    guard let from = members["from"]?.string, let message = members["msg"]?.string else {
      throw RoomError(.badMessage, "a message has a from and a msg")
    }
    return RoomDelivery(from: from, message: message)
  }

  private static let longestWords = 200
  private static let mostServers = 8

  private static func object(_ text: String) -> [String: JSON]? {
    (try? JSON(Array(text.utf8), maximumBytes: maximumBytes, maximumDepth: 6))?.object
  }

  public static func text(_ reply: RoomReply) -> String {
    switch reply {
    case .registered(let registration): JSON.object(["registered": .object(members(of: registration))]).text
    case .message(let delivery): JSON.object(members(of: delivery)).text
    case .error(let error): JSON.text(["error": ["code": error.code.rawValue, "message": error.message]])
    case .proved(let servers): JSON.text(["proved": ["iceServers": servers]])
    case .vouched(let servers): JSON.text(["vouched": ["iceServers": servers]])
    case .presence(let presence?): JSON.text(["present": presence])
    case .presence(nil): JSON.text(["absent": true])
    }
  }

  private static func members(of registration: RoomRegistration) -> [String: JSON] {
    var members: [String: JSON] = [
      "roomid": .string(registration.room), "clientid": .string(registration.client),
      "initiator": .bool(registration.isInitiator), "challenge": .string(registration.challenge),
      "messages": .array(registration.messages.map { .object(Self.members(of: $0)) }),
    ]
    switch registration.host {
    case .here: break
    case .elsewhere(let presence): members["present"] = .string(presence)
    case .absent: members["absent"] = .bool(true)
    }
    return members
  }

  private static func members(of delivery: RoomDelivery) -> [String: JSON] {
    ["from": .string(delivery.from), "msg": .string(delivery.message)]
  }
}
