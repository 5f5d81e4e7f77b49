/// What a client asks of the room server. INTERFACES.md, "Rooms".
public enum RoomRequest: Hashable, Sendable {
  case register(room: String, client: String)
  case send(to: String, message: String)
}

/// What the room server says to a client.
public enum RoomReply: Hashable, Sendable {
  case registered(RoomRegistration)
  case message(RoomDelivery)
  case error(RoomError)
}

/// The answer to `register`.
public struct RoomRegistration: Hashable, Sendable {
  public var room: String
  public var client: String
  /// This client is to make the offers: every one but the room's host, whose name is the room's.
  public var isInitiator: Bool
  /// 128 random bits for this registration, base64url. Offers made through it carry them, which dates them: an offer
  /// that was recorded earlier has another challenge.
  public var challenge: String
  /// What was already waiting.
  public var messages: [RoomDelivery]

  public init(room: String, client: String, isInitiator: Bool, challenge: String, messages: [RoomDelivery] = []) {
    self.room = room
    self.client = client
    self.isInitiator = isInitiator
    self.challenge = challenge
    self.messages = messages
  }
}

/// A message from one client of a room to another.
public struct RoomDelivery: Hashable, Sendable {
  /// The sender's name in the room: where answers go. Who the sender is, the message itself proves.
  public var from: String
  public var message: String
  /// The challenge of the sender's registration, as long as the room server is part of the program; nil for what came
  /// over the network, because a room server elsewhere may say what it likes.
  public var challenge: String?

  public init(from: String, message: String, challenge: String? = nil) {
    self.from = from
    self.message = message
    self.challenge = challenge
  }
}

/// What went wrong in a room, for programs and people. Nobody signs it: it explains, and proves nothing.
public struct RoomError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Code: String, Hashable, Sendable {
    case badMessage = "bad-message"
    case badName = "bad-name"
    case messageTooLarge = "message-too-large"
    case notRegistered = "not-registered"
    case alreadyRegistered = "already-registered"
    case noSuchRoom = "no-such-room"
    case nameTaken = "name-taken"
    case full
    case tooManyWaiting = "too-many-waiting"
    case tooManyMessages = "too-many-messages"
    /// The same client registered again, over another connection.
    case replaced
    case timeout
    /// The room's host does not speak with this client; the text says why.
    case refused
    /// What another version says.
    case other
  }

  public var code: Code
  public var message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message.isEmpty ? code.rawValue : message }
}

/// What one client, one room and all of them together may take.
public struct RoomLimits: Sendable {
  /// Anybody may open a room by registering in it: a rendezvous. Otherwise rooms are those that `open` made.
  public var clientsOpenRooms = false
  public var maximumRooms = 1024
  public var maximumConnections = 64
  /// Connections from one address that nobody has vouched for. A household behind one router has fewer; one more of them
  /// ends the oldest.
  public var maximumUnvouchedPerAddress = 16
  /// Its host is one.
  public var maximumClientsPerRoom = 65
  public var maximumMessageBytes = SignedMessage.maximumBytes
  /// For one client that is not there.
  public var maximumWaitingMessages = 32
  /// Of a room, that messages wait for.
  public var maximumAbsentClients = 16
  /// Of all messages that wait.
  public var maximumWaitingBytes = 4 * 1024 * 1024
  /// What `registered` carries of them; the rest follows one by one, so that each fits into a frame of 64 KiB.
  public var maximumRegistrationBytes = 32 * 1024
  /// A parent that crosses a change of networks is back within seconds, or makes a new offer.
  public var waitingTime: Duration = .seconds(30)
  /// From connecting to `register`.
  public var registrationTime: Duration = .seconds(5)
  /// From `register` to the host's `vouch`; nil where no host vouches.
  public var vouchingTime: Duration? = .seconds(15)
  /// An offer and all its candidates come in a burst.
  public var burst = 128
  /// For one message more.
  public var messageInterval: Duration = .milliseconds(20)

  public init() {}
}
