internal import JSON
public import Signaling

/// The JSON of the rooms, for both ends. INTERFACES.md, "Rooms".
public enum RoomMessages {
  /// The limit for a WebSocket message.
  public static let maximumBytes = 64 * 1024

  private struct Request: Encodable {
    var cmd: String
    var roomid: String?
    var clientid: String?
    var to: String?
    var msg: String?
  }

  private struct Reply: Encodable {
    struct Registered: Encodable {
      var roomid: String
      var clientid: String
      var initiator: Bool
      var challenge: String
      var messages: [Message]
    }

    struct Message: Encodable {
      var from: String
      var msg: String
    }

    struct Problem: Encodable {
      var code: String
      var message: String
    }

    var registered: Registered?
    var from: String?
    var msg: String?
    var error: Problem?
  }

  /// Parses a client's request. Throws `RoomError` with `badMessage`, to be sent back.
  public static func request(_ text: String) throws(RoomError) -> RoomRequest {
    guard let members = object(text) else {
      throw RoomError(.badMessage, "a message is a JSON object with a cmd")
    }
    let text = { (name: String) in members[name]?.string }
    switch (text("cmd"), text("roomid"), text("clientid"), text("to"), text("msg")) {
    case ("register", let room?, let client?, _, _):
      return .register(room: room, client: client)
    case ("send", _, _, let client?, let message?):
      return .send(to: client, message: message)
    case ("register", _, _, _, _):
      throw RoomError(.badMessage, "register has a roomid and a clientid")
    case ("send", _, _, _, _):
      throw RoomError(.badMessage, "send has a to and a msg, both text")
    default:
      throw RoomError(.badMessage, "commands are register and send")
    }
  }

  public static func text(_ request: RoomRequest) -> String {
    switch request {
    case .register(let room, let client):
      JSON.text(Request(cmd: "register", roomid: room, clientid: client))
    case .send(let client, let message):
      JSON.text(Request(cmd: "send", to: client, msg: message))
    }
  }

  /// Parses a message of the server. Throws `RoomError` with `badMessage`; clients ignore such messages.
  public static func reply(_ text: String) throws(RoomError) -> RoomReply {
    guard let members = object(text) else { throw RoomError(.badMessage, "the room's reply is not a JSON object") }
    if let error = members["error"]?.object {
      // Shown to a person, although not authenticated.
      let words = (error["message"] ?? .null).printable(scalars: longestWords).string ?? ""
      return .error(RoomError(error["code"]?.string.flatMap(RoomError.Code.init(rawValue:)) ?? .other, words))
    }
    if let registered = members["registered"]?.object { return .registered(try registration(registered)) }
    return .message(try delivery(members))
  }

  private static func registration(_ members: [String: JSON]) throws(RoomError) -> RoomRegistration {
    guard let room = members["roomid"]?.string, let client = members["clientid"]?.string,
      case .bool(let isInitiator)? = members["initiator"], let challenge = members["challenge"]?.string,
      case .array(let waiting)? = members["messages"]
    else { throw RoomError(.badMessage, "the room's registration is not complete") }
    var registration = RoomRegistration(room: room, client: client, isInitiator: isInitiator, challenge: challenge)
    for message in waiting { registration.messages.append(try delivery(message.object ?? [:])) }
    return registration
  }

  private static func delivery(_ members: [String: JSON]) throws(RoomError) -> RoomDelivery {
    guard let from = members["from"]?.string, let message = members["msg"]?.string else {
      throw RoomError(.badMessage, "a message has a from and a msg")
    }
    return RoomDelivery(from: from, message: message)
  }

  private static let longestWords = 200

  private static func object(_ text: String) -> [String: JSON]? {
    (try? JSON(Array(text.utf8), maximumBytes: maximumBytes, maximumDepth: 4))?.object
  }

  public static func text(_ reply: RoomReply) -> String {
    switch reply {
    case .registered(let registration):
      let messages = registration.messages.map { Reply.Message(from: $0.from, msg: $0.message) }
      return JSON.text(
        Reply(
          registered: Reply.Registered(
            roomid: registration.room, clientid: registration.client, initiator: registration.isInitiator,
            challenge: registration.challenge, messages: messages)))
    case .message(let delivery):
      return JSON.text(Reply(from: delivery.from, msg: delivery.message))
    case .error(let error):
      return JSON.text(Reply(error: Reply.Problem(code: error.code.rawValue, message: error.message)))
    }
  }
}
