internal import JSON
public import Signaling

/// The JSON of the rooms, for both ends. interfaces/wire.md, "Rooms".
public enum RoomMessages {
  /// The limit for a WebSocket message.
  public static let maximumBytes = 64 * 1024

  private struct Request: Encodable {
    var cmd: String
    var roomid: String?
    var clientid: String?
    var to: String?
    var msg: String?
    var proof: String?
    var presence: String?
    var client: String?
    var seconds: Int64?
    var reason: String?
  }

  private struct Reply: Encodable {
    struct Registered: Encodable {
      var roomid: String
      var clientid: String
      var initiator: Bool
      var challenge: String
      var messages: [Message]
      var present: String?
      var absent: Bool?
    }

    struct Message: Encodable {
      var from: String
      var msg: String
    }

    struct Problem: Encodable {
      var code: String
      var message: String
    }

    struct Servers: Encodable {
      var iceServers: [RoomICEServer]
    }

    var registered: Registered?
    var from: String?
    var msg: String?
    var error: Problem?
    var proved: Servers?
    var vouched: Servers?
    var present: String?
    var absent: Bool?
  }

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
    (words ?? .null).printable(scalars: longestWords).string ?? ""
  }

  public static func text(_ request: RoomRequest) -> String {
    switch request {
    case .register(let room, let client):
      JSON.text(Request(cmd: "register", roomid: room, clientid: client))
    case .send(let client, let message):
      JSON.text(Request(cmd: "send", to: client, msg: message))
    case .prove(let proof, let presence):
      JSON.text(Request(cmd: "prove", proof: proof, presence: presence))
    case .announce(let presence):
      JSON.text(Request(cmd: "announce", presence: presence))
    case .vouch(let client, let lifetime):
      JSON.text(Request(cmd: "vouch", client: client, seconds: lifetime?.components.seconds))
    case .dismiss(let client, let reason):
      JSON.text(Request(cmd: "dismiss", client: client, reason: reason))
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
  private static func servers(_ members: [String: JSON]) -> [RoomICEServer] {
    guard case .array(let list)? = members["iceServers"] else { return [] }
    return list.prefix(mostServers).compactMap { server in
      guard let server = server.object, case .array(let urls)? = server["urls"] else { return nil }
      return RoomICEServer(
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
    case .registered(let registration):
      let messages = registration.messages.map { Reply.Message(from: $0.from, msg: $0.message) }
      return JSON.text(
        Reply(
          registered: Reply.Registered(
            roomid: registration.room, clientid: registration.client, initiator: registration.isInitiator,
            challenge: registration.challenge, messages: messages, present: registration.presence,
            absent: registration.host == .absent ? true : nil)))
    case .message(let delivery):
      return JSON.text(Reply(from: delivery.from, msg: delivery.message))
    case .error(let error):
      return JSON.text(Reply(error: Reply.Problem(code: error.code.rawValue, message: error.message)))
    case .proved(let servers):
      return JSON.text(Reply(proved: Reply.Servers(iceServers: servers)))
    case .vouched(let servers):
      return JSON.text(Reply(vouched: Reply.Servers(iceServers: servers)))
    case .presence(let presence):
      return JSON.text(Reply(present: presence, absent: presence == nil ? true : nil))
    }
  }
}

extension RoomRegistration {
  /// The signed presence of a host elsewhere.
  fileprivate var presence: String? {
    if case .elsewhere(let presence) = host { presence } else { nil }
  }
}
