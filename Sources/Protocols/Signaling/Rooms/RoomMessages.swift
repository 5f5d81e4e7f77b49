public import Wire

/// What a client asks of the room server. interfaces/wire.md, "Rooms".
public enum RoomRequest: Hashable, Sendable {
  case register(room: String, client: String)
  case send(to: String, message: String)
  /// By a host elsewhere: its proof, and the presence for the room's clients, both signed.
  case prove(proof: String, presence: String)
  /// By a host: a newer presence.
  case announce(presence: String)
  /// By a host: this client may stay. Credentials that it is lent last for `lifetime` at most; nil: as long as the server likes.
  case vouch(client: String, lifetime: Duration?)
  /// By a host: this client has to go.
  case dismiss(client: String, reason: String)
}

/// What the room server says to a client.
public enum RoomReply: Hashable, Sendable {
  case registered(RoomRegistration)
  case message(RoomDelivery)
  case error(RoomError)
  /// To a host elsewhere: its proof, or its newer presence, is accepted.
  case proved(iceServers: [ICEServerDocument])
  /// The host's signed presence; nil when the host is not there. Only in rooms whose host is elsewhere.
  case presence(String?)
  /// The host has vouched for this client.
  case vouched(iceServers: [ICEServerDocument])
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
  /// Where the host is.
  public var host: Host

  public enum Host: Hashable, Sendable {
    /// In the server itself: this is the child's own room.
    case here
    /// At the other end of another connection, with its signed presence.
    case elsewhere(presence: String)
    case absent
  }

  public init(
    room: String, client: String, isInitiator: Bool, challenge: String, messages: [RoomDelivery] = [],
    host: Host = .here
  ) {
    self.room = room
    self.client = client
    self.isInitiator = isInitiator
    self.challenge = challenge
    self.messages = messages
    self.host = host
  }
}

/// A message from one client of a room to another.
public struct RoomDelivery: Hashable, Sendable {
  /// The sender's name in the room, to answer to. The message itself proves who the sender is.
  public var from: String
  public var message: String
  /// The challenge of the sender's registration, where the room server is part of this program. Nil for a message from a
  /// meeting place, which could make up any challenge.
  public var challenge: String?
  /// Where it was left; nil for the child's own room.
  public var place: MeetingPlaceID?

  public init(from: String, message: String, challenge: String? = nil, place: MeetingPlaceID? = nil) {
    self.from = from
    self.message = message
    self.challenge = challenge
    self.place = place
  }

  var client: RoomClient { RoomClient(from, at: place) }
}

/// One of the meeting places that a child has configured, in their order.
public struct MeetingPlaceID: Hashable, Sendable {
  public var number: Int

  public init(number: Int) {
    self.number = number
  }
}

/// A client as the child knows it: its name, and the room or meeting place where that name is good.
public struct RoomClient: Hashable, Sendable {
  public var name: String
  /// Nil for the child's own room.
  public var place: MeetingPlaceID?

  public init(_ name: String, at place: MeetingPlaceID? = nil) {
    self.name = name
    self.place = place
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
    /// The room's host rejects this client, or the server this host; the text says why.
    case refused
    /// A meeting place without rooms returns what was sent to the host. No room server says so.
    case undelivered
    /// Only the room's host may do this.
    case notHost = "not-host"
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
  /// Whose host is at another end of a connection.
  public var maximumRooms = 1024
  /// A host that was here for so long goes before those that were not, when not all have a place. It says something once an hour.
  public var knownAfter: Duration = .seconds(1800)
  /// Others: of parents whose child is not here, and of strangers.
  public var maximumRoomsWithoutHost = 4096
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
  /// Of the waiting messages for one client, if there is more than one; of those from one address; of all. With some more for each.
  public var maximumWaitingBytesPerClient = SignedMessage.maximumBytes
  public var maximumWaitingBytesPerAddress = 256 * 1024
  public var maximumWaitingBytes = 4 * 1024 * 1024
  /// Of the waiting messages within `registered`; the rest follow one by one, so that each fits into a frame of 64 KiB.
  public var maximumRegistrationBytes = 32 * 1024
  /// A parent that changes networks is back within seconds, or makes a new offer.
  public var waitingTime: Duration = .seconds(30)
  /// From connecting to `register`.
  public var registrationTime: Duration = .seconds(5)
  /// From `register` to the host's `vouch`; nil where no host vouches.
  public var vouchingTime: Duration? = .seconds(15)
  /// Clients for which a host elsewhere vouches at once: as many as a child takes viewers, and those that are about to leave.
  public var maximumVouchedPerRoom = 48
  /// Clients for which hosts elsewhere vouch, in all rooms. The other connections are strangers', so that newcomers get in.
  public var maximumVouched = 48
  /// Messages that may come at once: an offer and all its candidates.
  public var burst = 128
  /// The time for one more message.
  public var messageInterval: Duration = .milliseconds(20)
  /// Of a host elsewhere, which answers many clients, and dismisses them.
  public var hostBurst = 512
  public var hostMessageInterval: Duration = .milliseconds(5)
  /// Of one client that nobody has vouched for, in the inbox of a host elsewhere: an offer and its candidates.
  public var maximumStrangersMessages = 64
  public var maximumStrangersBytes = SignedMessage.maximumBytes
  /// Of all of them in one inbox.
  public var maximumInboxBytes = 256 * 1024
  /// The time for one more of them, and their bytes in a second: a quarter of what a host may send (it may answer each twice), and
  /// what a slow line carries.
  public var strangersInterval: Duration = .milliseconds(20)
  public var strangersBytesPerSecond = 256 * 1024
  /// As many of them as take this long may come at once.
  public var strangersBurst: Duration = .seconds(1)

  public init() {}
}
