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
  /// This client makes the offers: every client but the room's host, whose name is the room's.
  public var isInitiator: Bool
  /// 128 random bits for this registration, base64url. Offers carry them, so that an offer recorded earlier is recognized
  /// by its other challenge.
  public var challenge: String
  /// Messages that were waiting.
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
  /// The sender's name in the room, to answer to. The message itself proves who the sender is.
  public var from: String
  public var message: String
  /// The challenge of the sender's registration, where the room server is part of this program. Nil for a message from a
  /// remote room server, which could make up any challenge.
  public var challenge: String?

  public init(from: String, message: String, challenge: String? = nil) {
    self.from = from
    self.message = message
    self.challenge = challenge
  }
}

/// What went wrong in a room, for programs and people. It is not signed, so it proves nothing.
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
    /// The room's host rejects this client; the text says why.
    case refused
    /// A code of another version.
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

/// Limits for one client, for one room and for all together.
public struct RoomLimits: Sendable {
  /// Anybody may open a room by registering in it: a rendezvous. Otherwise only `open` makes rooms.
  public var clientsOpenRooms = false
  public var maximumRooms = 1024
  public var maximumConnections = 64
  /// Connections from one address that nobody has vouched for. A household behind one router has fewer; one more closes
  /// the oldest.
  public var maximumUnvouchedPerAddress = 16
  /// Including the host.
  public var maximumClientsPerRoom = 65
  public var maximumMessageBytes = SignedMessage.maximumBytes
  /// For one absent client.
  public var maximumWaitingMessages = 32
  /// Of one room, with waiting messages.
  public var maximumAbsentClients = 16
  /// Of all waiting messages.
  public var maximumWaitingBytes = 4 * 1024 * 1024
  /// Of the waiting messages within `registered`; the rest follow one by one, so that each fits into a frame of 64 KiB.
  public var maximumRegistrationBytes = 32 * 1024
  /// A parent that changes networks is back within seconds, or makes a new offer.
  public var waitingTime: Duration = .seconds(30)
  /// From connecting to `register`.
  public var registrationTime: Duration = .seconds(5)
  /// From `register` to the host's `vouch`; nil where no host vouches.
  public var vouchingTime: Duration? = .seconds(15)
  /// Messages that may come at once: an offer and all its candidates.
  public var burst = 128
  /// The time for one more message.
  public var messageInterval: Duration = .milliseconds(20)

  public init() {}
}
