public import Wire

/// Relays messages between the clients of rooms, without reading or authenticating them; clients prove who they are to
/// each other, by signatures (see `SignedMessage`). The worst that a server can do is to relay nothing.
///
/// A room's host is the client with the room's own name. A child hosts the one room that it serves, over a connection
/// within this process; nobody else can take that name. In a server that many children share, whoever registers under a
/// room's name is its host once it has proven to hold the key of that name: see `HostProof`.
public struct RoomServer: Sendable {
  struct Member: Sendable {
    var room: String
    var client: String
    var challenge: String

    var isHost: Bool { client == room }
  }

  enum Connection: Sendable {
    case fresh(until: Instant)
    /// Nobody has vouched for it yet.
    case registered(Member, until: Instant?)

    var deadline: Instant? {
      switch self {
      case .fresh(let until): until
      case .registered(_, let until): until
      }
    }
  }

  public let limits: RoomLimits
  /// Who may host a room from elsewhere; nil: nobody.
  private let hosts: RoomHosts?
  /// STUN and TURN servers with credentials for one user; for hosts and for clients that a host has vouched for.
  private let iceServers: @Sendable (_ borrower: RoomBorrower, _ now: Instant) -> [ICEServerDocument]
  private var random: any RandomNumberGenerator & Sendable
  private var rate: RateLimiter<RoomConnectionID>
  /// Of hosts elsewhere that have proven their key.
  private var hostRate: RateLimiter<RoomConnectionID>
  private var connections: [RoomConnectionID: Connection] = [:]
  /// Of all connections from elsewhere. Strangers alone have a deadline.
  private var places: RoomPlaces
  /// Connections of hosts in this process.
  private var permanent: Set<RoomConnectionID> = []
  private var rooms: [String: Room] = [:]
  /// Rooms whose host is here, at another end of a connection.
  private var hosted = 0
  /// Rooms with messages for clients that are not here.
  private var waitingRooms: Set<String> = []
  private var waitingBytes = WaitingBytes()
  /// Rooms with messages in the host's inbox.
  private var inboxRooms: Set<String> = []
  private var acquaintances: HostAcquaintances
  /// When to call `handleTimeout`; not later than the first time-out.
  public private(set) var nextDeadline: Instant?

  /// - Parameter hosts: for a server that many children share.
  public init(
    limits: RoomLimits = RoomLimits(), hosts: RoomHosts? = nil, random: any RandomNumberGenerator & Sendable,
    iceServers: @escaping @Sendable (_ borrower: RoomBorrower, _ now: Instant) -> [ICEServerDocument] = { _, _ in [] }
  ) {
    self.limits = limits
    self.hosts = hosts
    self.iceServers = iceServers
    self.random = random
    rate = RateLimiter(
      burst: limits.burst, interval: limits.messageInterval, maximumKeys: limits.maximumConnections + 1)
    acquaintances = HostAcquaintances(maximum: 2 * limits.maximumRooms, knownAfter: limits.knownAfter)
    places = RoomPlaces(countsNetworks: hosts != nil)
    hostRate = RateLimiter(
      burst: limits.hostBurst, interval: limits.hostMessageInterval, maximumKeys: limits.maximumRooms + 1)
  }

  // MARK: - Calls

  /// Opens a permanent room with its host in this process.
  public mutating func open(room: String, host: RoomConnectionID) {
    precondition(Self.isName(room) && rooms[room] == nil && connections[host] == nil, "a room is opened once")
    let member = Member(room: room, client: room, challenge: makeChallenge())
    connections[host] = .registered(member, until: nil)
    permanent.insert(host)
    rooms[room] = Room(name: room, host: host, isPermanent: true)
  }

  /// A client has connected. When there are too many, the oldest connection without a vouch is closed, of the address that
  /// has the most of them: whoever fills the places loses them first, and a parent, which is vouched for within a second,
  /// still gets in. The new connection itself is closed when all others are vouched for.
  ///
  /// - Parameter address: nil when unknown; all such connections count as one address.
  public mutating func connect(_ id: RoomConnectionID, from address: IPAddress? = nil, now: Instant) -> [RoomAction] {
    var actions: [RoomAction] = []
    if let ours = places.oldestStranger(from: address, maximum: limits.maximumUnvouchedPerAddress) {
      actions = giveWay(ours)
    } else if connections.count - permanent.count >= limits.maximumConnections {
      actions = giveWay(places.oldestStranger)
      guard !actions.isEmpty else {
        return [.close(id, RoomError(.full, "the server's limit of connections is reached"))]
      }
    }
    let deadline = now + limits.registrationTime
    connections[id] = .fresh(until: deadline)
    places.enter(id, from: address)
    wake(at: deadline)
    return actions
  }

  private mutating func giveWay(_ oldest: RoomConnectionID?) -> [RoomAction] {
    guard let oldest else { return [] }
    return close(oldest, RoomError(.full, "nobody has vouched for this client, and others need its place"))
  }

  /// The connection is gone. Unknown ones are ignored.
  @discardableResult
  public mutating func disconnect(_ id: RoomConnectionID) -> [RoomAction] {
    guard !permanent.contains(id), let connection = connections.removeValue(forKey: id) else { return [] }
    places.leave(id)
    rate.forgive(id)
    hostRate.forgive(id)
    // A host that was not accepted has no place in its room.
    guard case .registered(let member, _) = connection, rooms[member.room]?[member.client] == id else {
      return []
    }
    rooms[member.room]?[member.client] = nil
    // Nobody is there for an answer.
    _ = rooms[member.room]?.inbox.remove(id)
    var actions: [RoomAction] = []
    if member.isHost {
      hosted -= 1
      acquaintances.leave(member.room)
      rooms[member.room]?.presence = nil
      rooms[member.room]?.inbox = HostInbox()
      actions = notifyClients(member.room, .presence(nil))
    }
    removeIfEmpty(member.room)
    return actions
  }

  public mutating func receive(_ request: RoomRequest, from id: RoomConnectionID, now: Instant) -> [RoomAction] {
    guard let connection = connections[id] else { return [] }
    if !permanent.contains(id), case .refused = admit(id, connection, now: now) {
      return close(id, RoomError(.tooManyMessages, "too many messages in a short time"))
    }
    switch (request, connection) {
    case (.register(let room, let client), .fresh):
      return register(id, room: room, client: client, now: now)
    case (.register(let room, let client), .registered(let member, _))
    where member.room == room && member.client == client && !permanent.contains(id):
      return register(id, room: room, client: client, now: now)
    case (.register, .registered):
      return [.send(id, .error(RoomError(.alreadyRegistered, "a connection is for one client of one room")))]
    case (.send, .fresh):
      return [.send(id, .error(RoomError(.notRegistered, "register first")))]
    case (.send(let client, let message), .registered(let member, _)):
      return send(message, to: client, from: member, id, now: now)
    case (.prove(let proof, let presence), .registered(let member, _)):
      return prove(proof, presence, member, id, now: now)
    case (.announce, _), (.vouch, _), (.dismiss, _), (.prove, .fresh):
      return command(request, id, now: now)
    }
  }

  private mutating func admit(
    _ id: RoomConnectionID, _ connection: Connection, now: Instant
  ) -> RateLimiter<RoomConnectionID>.Verdict {
    guard case .registered(let member, _) = connection, member.isHost, rooms[member.room]?.host == id else {
      return rate.admit(id, now: now)
    }
    let wasKnown = acquaintances.isKnown(member.room)
    acquaintances.see(member.room, now: now)
    if !wasKnown, acquaintances.isKnown(member.room) { places.raise(id, to: .host(isKnown: true), in: member.room) }
    return hostRate.admit(id, now: now)
  }

  /// What only a host may do.
  private mutating func command(_ request: RoomRequest, _ id: RoomConnectionID, now: Instant) -> [RoomAction] {
    guard case .registered(let member, _)? = connections[id], member.isHost,
      rooms[member.room]?.host == id
    else { return [.send(id, .error(RoomError(.notHost, "only the room's host may do this")))] }
    switch request {
    case .announce(let presence):
      guard presence.utf8.count <= Presence.maximumBytes else { return [.send(id, .error(Self.longPresence))] }
      rooms[member.room]?.presence = presence
      // With credentials that count from now on.
      return [.send(id, .proved(iceServers: servers(for: member.room, in: member.room, now: now)))]
        + notifyClients(member.room, .presence(presence))
    case .vouch(let client, let lifetime):
      guard let vouched = vouch(for: client, in: member.room) else { return [] }
      // What else it has sent need not wait any more, and its next messages come after that.
      let rest = rooms[member.room]?.inbox.remove(vouched) ?? []
      let lent = servers(for: client, in: member.room, lifetime: lifetime, now: now)
      return [.send(vouched, .vouched(iceServers: lent))] + rest.map { .send(id, .message($0)) }
        + makeWay(for: vouched, in: member.room)
    case .dismiss(let client, let reason):
      return client == member.room ? [] : dismiss(client, from: member.room, reason: reason)
    case .register, .send, .prove:
      return []
    }
  }

  private static let longPresence = RoomError(.messageTooLarge, "a presence has at most \(Presence.maximumBytes) bytes")

  /// The host knows this client; it may stay.
  ///
  /// - Returns: its connection; nil when it is not here or was vouched for before.
  @discardableResult
  public mutating func vouch(for client: String, in room: String) -> RoomConnectionID? {
    guard let id = rooms[room]?[client], case .registered(let member, .some)? = connections[id] else {
      return nil
    }
    connections[id] = .registered(member, until: nil)
    places.raise(id, to: .vouched, in: room)
    return id
  }

  /// A host that vouches for everybody has no more clients for it: the oldest goes. Nor have many hosts: of all clients, one of
  /// the address with most goes.
  private mutating func makeWay(for newest: RoomConnectionID, in room: String) -> [RoomAction] {
    let vouched = rooms[room]?.others.filter { !places.isStranger($0) } ?? []
    if vouched.count > limits.maximumVouchedPerRoom,
      let oldest = vouched.filter({ $0 != newest }).min(by: { $0.number < $1.number })
    {
      return close(oldest, RoomError(.full, "the child has vouched for others since"))
    }
    guard let surplus = places.surplusVouched(maximum: limits.maximumVouched) else { return [] }
    return close(surplus, RoomError(.full, "the server has too many clients, and most are from this address"))
  }

  /// The room of a client or host; nil before it has registered.
  public func room(of id: RoomConnectionID) -> String? {
    if case .registered(let member, _)? = connections[id] { member.room } else { nil }
  }

  /// The host that the room has at another end of a connection; nil without one.
  public func remoteHost(of room: String) -> RoomConnectionID? {
    rooms[room].flatMap { $0.isPermanent ? nil : $0.host }
  }

  /// How many rooms have their host, how many connections and rooms there are.
  public var occupancy: (hosts: Int, connections: Int, rooms: Int) {
    (hosted + permanent.count, connections.count, rooms.count)
  }

  /// A client that is registered in this room; nil once it is gone.
  public func connection(of client: String, in room: String) -> RoomConnectionID? { rooms[room]?[client] }

  /// The host rejects this client.
  public mutating func dismiss(_ client: String, from room: String, reason: String) -> [RoomAction] {
    guard let id = rooms[room]?[client], !permanent.contains(id) else { return [] }
    return close(id, RoomError(.refused, reason))
  }

  /// Ends everything whose time is over.
  public mutating func handleTimeout(now: Instant) -> [RoomAction] {
    guard let due = nextDeadline, due <= now else { return [] }
    var actions: [RoomAction] = []
    for id in Array(places.allStrangers) {
      guard let connection = connections[id], let deadline = connection.deadline, deadline <= now else { continue }
      if case .fresh = connection {
        actions += close(id, RoomError(.timeout, "no registration in time"))
      } else {
        actions += close(id, RoomError(.timeout, "no valid offer in time"))
      }
    }
    for name in waitingRooms {
      waitingBytes.remove(rooms[name]?.expire(now: now) ?? [])
      if rooms[name]?.isWaiting != true { waitingRooms.remove(name) }
      removeIfEmpty(name)
    }
    let left = places.allStrangers.compactMap { connections[$0]?.deadline }
    nextDeadline = (left + waitingRooms.compactMap { rooms[$0]?.deadline }).min()
    for name in inboxRooms.sorted() { actions += deliverNext(in: name, now: now) }
    return actions
  }

  // MARK: - Registering

  private mutating func register(
    _ id: RoomConnectionID, room name: String, client: String, now: Instant
  ) -> [RoomAction] {
    guard Self.isName(name), Self.isName(client) else {
      return [.send(id, .error(RoomError(.badName, "names are 1 to 64 letters, digits, hyphens and underscores")))]
    }
    guard rooms[name] != nil || hosts?.mayHost(name) ?? false else {
      return [.send(id, .error(RoomError(.noSuchRoom, "there is no room of this name here")))]
    }
    // Whoever names itself as the room does has no place in it before it has proven to be the host.
    if client == name, rooms[name]?.isPermanent != true { return registerHost(id, room: name, now: now) }
    // Rooms without a host are not counted against those with one, or strangers could keep a child out.
    guard rooms[name] != nil || rooms.count - hosted < limits.maximumRoomsWithoutHost else {
      return close(id, RoomError(.full, "too many rooms"))
    }
    var room = rooms[name] ?? Room(name: name)
    var actions: [RoomAction] = []
    if let older = room[client], older != id {
      guard !permanent.contains(older) else {
        return [.send(id, .error(RoomError(.nameTaken, "this is the host's name")))]
      }
      // The older connection is probably dead: its client has changed networks.
      actions = close(older, RoomError(.replaced, "the client has registered again"))
      // With its last client the room may have gone.
      room = rooms[name] ?? Room(name: name)
    }
    if room[client] != id, room.count >= limits.maximumClientsPerRoom {
      // As with connections: the newest, which may be a parent's, is the last to go.
      let strangers = room.others.filter { places.isStranger($0) }
      guard let oldest = strangers.min(by: { $0.number < $1.number }) else {
        return actions + close(id, RoomError(.full, "the room is full"))
      }
      actions += giveWay(oldest)
      room = rooms[name] ?? Room(name: name)
    }
    room[client] = id
    let waiting = room.takeWaiting(for: client)
    rooms[name] = room
    waitingBytes.remove(waiting)

    let challenge = makeChallenge()
    // Registering again buys no time, and a client that was vouched for stays so.
    let deadline: Instant? =
      if case .registered(_, let until)? = connections[id] { until } else { limits.vouchingTime.map { now + $0 } }
    connections[id] = .registered(Member(room: name, client: client, challenge: challenge), until: deadline)
    // Where no host vouches, registering is enough.
    if let deadline { wake(at: deadline) } else { places.raise(id, to: .vouched, in: name) }
    var registration = RoomRegistration(
      room: name, client: client, isInitiator: client != name, challenge: challenge,
      host: room.isPermanent ? .here : room.presence.map { .elsewhere(presence: $0) } ?? .absent)
    var bytes = 0
    let messages = waiting.filter { $0.until > now }
    let fitting = messages.prefix { message in
      bytes += message.delivery.message.utf8.count
      return bytes <= limits.maximumRegistrationBytes
    }
    registration.messages = fitting.map(\.delivery)
    actions.append(.send(id, .registered(registration)))
    return actions + messages.dropFirst(fitting.count).map { .send(id, .message($0.delivery)) }
  }

  /// A host from elsewhere; it has until the end of its registration to prove what it is.
  private mutating func registerHost(_ id: RoomConnectionID, room: String, now: Instant) -> [RoomAction] {
    guard rooms[room]?.host != id else {
      return [.send(id, .error(RoomError(.alreadyRegistered, "this is the room's host already")))]
    }
    let member = Member(room: room, client: room, challenge: makeChallenge())
    let until = now + limits.registrationTime
    connections[id] = .registered(member, until: until)
    wake(at: until)
    let registration = RoomRegistration(
      room: room, client: room, isInitiator: false, challenge: member.challenge,
      host: rooms[room]?.presence.map { .elsewhere(presence: $0) } ?? .absent)
    return [.send(id, .registered(registration))]
  }

  private mutating func prove(
    _ proof: String, _ presence: String, _ member: Member, _ id: RoomConnectionID, now: Instant
  ) -> [RoomAction] {
    guard let hosts, member.isHost, !permanent.contains(id), rooms[member.room]?.host != id else {
      return [.send(id, .error(RoomError(.notHost, "only the room's host may do this")))]
    }
    do throws(RoomError) {
      guard presence.utf8.count <= Presence.maximumBytes else { throw Self.longPresence }
      try hosts.check(proof, room: member.room, challenge: member.challenge)
    } catch {
      return close(id, error)
    }
    var actions: [RoomAction] = []
    if let older = rooms[member.room]?.host {
      // It is probably dead: its child has changed networks.
      actions = close(older, RoomError(.replaced, "the child has registered again"))
    }
    let isKnown = acquaintances.isKnown(member.room)
    if hosted >= limits.maximumRooms {
      guard let other = places.hostGivingWay(to: id, isKnown: isKnown) else {
        return actions + close(id, RoomError(.full, "too many rooms"))
      }
      actions += close(other, RoomError(.full, "too many rooms, and most are from this address"))
    }
    hosted += 1
    acquaintances.arrive(member.room, now: now)
    connections[id] = .registered(member, until: nil)
    places.raise(id, to: .host(isKnown: isKnown), in: member.room)
    rooms[member.room, default: Room(name: member.room)].host = id
    rooms[member.room]?.presence = presence
    actions.append(.send(id, .proved(iceServers: servers(for: member.room, in: member.room, now: now))))
    actions += notifyClients(member.room, .presence(presence))
    guard let waiting = rooms[member.room]?.takeWaiting(for: member.room) else { return actions }
    waitingBytes.remove(waiting)
    let limits = limits
    for message in waiting where message.until > now {
      _ = rooms[member.room]?.inbox.add(message.delivery, from: message.source, at: message.address, limits: limits)
    }
    return actions + deliverNext(in: member.room, now: now)
  }

  private func servers(
    for user: String, in room: String, lifetime: Duration? = nil, now: Instant
  ) -> [ICEServerDocument] {
    iceServers(
      RoomBorrower(user: user, room: room, lifetime: lifetime, hostKnownFor: acquaintances.age(of: room, now: now)), now
    )
  }

  /// To every client of the room but its host.
  private func notifyClients(_ name: String, _ reply: RoomReply) -> [RoomAction] {
    let clients = rooms[name]?.others.sorted { $0.number < $1.number } ?? []
    return clients.map { .send($0, reply) }
  }

  private mutating func makeChallenge() -> String {
    RandomName.make(from: &random)
  }

  // MARK: - Sending

  private mutating func send(
    _ message: String, to client: String, from member: Member, _ id: RoomConnectionID, now: Instant
  ) -> [RoomAction] {
    guard Self.isName(client) else { return [.send(id, .error(RoomError(.badName, "no client can have this name")))] }
    let bytes = message.utf8.count
    guard bytes <= limits.maximumMessageBytes else {
      return [.send(id, .error(RoomError(.messageTooLarge, "over \(limits.maximumMessageBytes) bytes")))]
    }
    // A stranger's messages are for the host alone, which finds out who it is. Two strangers of whom one writes and the other
    // does not read would fill memory here.
    guard !places.isStranger(id) || client == member.room else {
      return [.send(id, .error(RoomError(.tooManyWaiting, "the other side is not here")))]
    }
    let delivery = RoomDelivery(from: member.client, message: message, challenge: member.challenge)
    if let recipient = rooms[member.room]?[client] {
      // Those of a client that was vouched for do not overtake what it has sent before.
      let waits = places.isStranger(id) || rooms[member.room]?.inbox.holds(id) ?? false
      guard waits, remoteHost(of: member.room) == recipient else { return [.send(recipient, .message(delivery))] }
      return enqueue(delivery, from: id, in: member.room, now: now)
    }
    let (limits, deadline) = (limits, now + limits.waitingTime)
    let waiting = Room.Waiting(delivery: delivery, source: id, address: places.address(of: id), until: deadline)
    guard waitingBytes.canTake(waiting, limits: limits),
      rooms[member.room]?.wait(waiting, for: client, limits: limits) == true
    else { return [.send(id, .error(RoomError(.tooManyWaiting, "the other side is not here")))] }
    waitingBytes.add(waiting)
    waitingRooms.insert(member.room)
    wake(at: deadline)
    return []
  }

  private mutating func enqueue(
    _ delivery: RoomDelivery, from id: RoomConnectionID, in room: String, now: Instant
  ) -> [RoomAction] {
    let limits = limits
    let outcome = rooms[room]?.inbox.add(delivery, from: id, at: places.address(of: id), limits: limits)
    let dropped = (outcome?.displaced ?? []) + (outcome?.isTaken == true ? [] : [id])
    let error = RoomError(.tooManyWaiting, "the other side has too much to read")
    return dropped.map { .send($0, .error(error)) } + deliverNext(in: room, now: now)
  }

  /// The connection has taken what `deliver` gave it.
  public mutating func delivered(to id: RoomConnectionID, now: Instant) -> [RoomAction] {
    guard case .registered(let member, _)? = connections[id], rooms[member.room]?.host == id else { return [] }
    rooms[member.room]?.inbox.delivered()
    return deliverNext(in: member.room, now: now)
  }

  /// To the host of a room, if it is time.
  private mutating func deliverNext(in name: String, now: Instant) -> [RoomAction] {
    let limits = limits
    let delivery = rooms[name]?.inbox.next(now: now, limits: limits)
    if let due = rooms[name]?.inbox.deadline(limits) {
      inboxRooms.insert(name)
      wake(at: due)
    } else {
      inboxRooms.remove(name)
    }
    guard let delivery, let host = rooms[name]?.host else { return [] }
    return [.deliver(host, .message(delivery))]
  }

  // MARK: - Helpers

  private mutating func close(_ id: RoomConnectionID, _ error: RoomError) -> [RoomAction] {
    [.close(id, error)] + disconnect(id)
  }

  private mutating func removeIfEmpty(_ name: String) {
    if rooms[name]?.isEmpty == true { rooms[name] = nil }
  }

  private mutating func wake(at deadline: Instant) {
    nextDeadline = min(nextDeadline ?? deadline, deadline)
  }

  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        byte.isDigit || byte.isLetter || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }
}
