public import NIOCore
public import Signaling
public import Wire

/// A room server whose clients connect by WebSocket, and whose hosts may be in this process.
///
/// `@unchecked Sendable` because it is confined to its event loop: every entry checks that it runs there.
public final class WebSocketRooms: @unchecked Sendable {
  private let eventLoop: any EventLoop
  private let now: () -> Instant
  private var rooms: RoomServer
  private var sockets: [RoomConnectionID: WebSocketConnection] = [:]
  private var hosts: [RoomConnectionID: (RoomReply) -> Void] = [:]
  private var lastNumber: UInt64 = 0
  private lazy var timer = DeadlineTimer(on: eventLoop, now: now) { [weak self] in
    guard let self else { return }
    perform { $0.handleTimeout(now: self.now()) }
  }

  public init(
    limits: RoomLimits = RoomLimits(), random: any RandomNumberGenerator & Sendable, eventLoop: any EventLoop,
    now: @escaping () -> Instant
  ) {
    self.eventLoop = eventLoop
    self.now = now
    rooms = RoomServer(limits: limits, random: random)
  }

  /// Rooms whose hosts are elsewhere.
  public init(_ rooms: RoomServer, eventLoop: any EventLoop, now: @escaping () -> Instant) {
    self.eventLoop = eventLoop
    self.now = now
    self.rooms = rooms
  }

  /// How many children are there, how many connections and rooms.
  public var occupancy: (hosts: Int, connections: Int, rooms: Int) {
    eventLoop.preconditionInEventLoop()
    return rooms.occupancy
  }

  /// The host of a room, in this process.
  ///
  /// Confined to the event loop, like the rooms.
  public struct Host {
    private let rooms: WebSocketRooms
    private let room: String
    private let id: RoomConnectionID

    fileprivate init(rooms: WebSocketRooms, room: String, id: RoomConnectionID) {
      self.rooms = rooms
      self.room = room
      self.id = id
    }

    public func send(to client: String, message: String) {
      rooms.perform { $0.receive(.send(to: client, message: message), from: id, now: rooms.now()) }
    }

    /// The client holds this credential; it may stay.
    public func vouch(for client: String, of credential: ConnectionCredential) {
      rooms.perform { server in
        if let id = server.vouch(for: client, in: room) { rooms.sockets[id]?.vouch(of: credential) }
        return []
      }
    }

    /// Where the client is; nil once it is gone.
    public func reach(of client: String) -> NetworkReach? {
      let socket = rooms.rooms.connection(of: client, in: room).flatMap { rooms.sockets[$0] }
      return socket.map { NetworkReach(local: $0.localAddress?.ip, remote: $0.remoteAddress?.ip) }
    }

    /// Sends the reason and closes the client's connection.
    public func dismiss(_ client: String, reason: String) {
      rooms.perform { $0.dismiss(client, from: room, reason: reason) }
    }
  }

  /// Opens a permanent room. `receive` is called with messages to the host, on the event loop and never from within a
  /// call to the host.
  public func open(room: String, receive: @escaping (RoomDelivery) -> Void) -> Host {
    eventLoop.preconditionInEventLoop()
    let id = makeID()
    hosts[id] = { reply in
      // Errors only concern messages to clients that have just left.
      if case .message(let delivery) = reply { receive(delivery) }
    }
    rooms.open(room: room, host: id)
    return Host(rooms: self, room: room, id: id)
  }

  /// Accepts a new connection; for `WebSocketEndpoint`.
  public func accept(_ socket: WebSocketConnection) {
    eventLoop.preconditionInEventLoop()
    let id = makeID()
    sockets[id] = socket
    socket.onText = { [weak self] text in self?.receive(text, from: id) }
    socket.onClose = { [weak self] _ in
      guard let self, self.sockets.removeValue(forKey: id) != nil else { return }
      perform { $0.disconnect(id) }
    }
    perform { $0.connect(id, from: socket.remoteAddress?.ip, now: now()) }
  }

  /// Closes all connections when the program stops.
  public func shutDown() {
    eventLoop.preconditionInEventLoop()
    timer.cancel()
    for (id, socket) in sockets {
      rooms.disconnect(id)
      socket.close(.goingAway)
    }
    sockets = [:]
  }

  private func makeID() -> RoomConnectionID {
    lastNumber += 1
    return RoomConnectionID(number: lastNumber)
  }

  private func receive(_ text: String, from id: RoomConnectionID) {
    do throws(RoomError) {
      let request = try RoomMessages.request(text)
      perform { $0.receive(request, from: id, now: now()) }
      if case .register(let room, _) = request { lookAfterHost(of: room) }
    } catch {
      // A client that sends anything else is not one of ours.
      perform { rooms in [.close(id, error)] + rooms.disconnect(id) }
    }
  }

  /// Somebody has come to meet the host. One whose network is gone does not know yet that it is absent; it is asked for a
  /// sign of life.
  private func lookAfterHost(of room: String) {
    guard let host = rooms.remoteHost(of: room) else { return }
    sockets[host]?.verify(within: Self.signOfLife)
  }

  /// Over a mobile network an answer takes up to a second.
  private static let signOfLife: TimeAmount = .seconds(3)

  private func credential(of room: String) -> ConnectionCredential {
    ConnectionCredential(id: room, isParent: true, maximumConnections: 1 + rooms.limits.maximumVouchedPerRoom)
  }

  private func perform(_ call: (inout RoomServer) -> [RoomAction]) {
    eventLoop.preconditionInEventLoop()
    for action in call(&rooms) {
      switch action {
      case .send(let id, let reply):
        // Whoever has a place here is no stranger to the HTTP server either; a child and its parents share the child's.
        switch reply {
        case .proved, .vouched:
          if let room = rooms.room(of: id) { sockets[id]?.vouch(of: credential(of: room)) }
        case .registered, .message, .error, .presence: break
        }
        if let host = hosts[id] {
          let bound = NIOLoopBound(host, eventLoop: eventLoop)
          eventLoop.execute { bound.value(reply) }
        } else {
          sockets[id]?.send(RoomMessages.text(reply))
        }
      case .deliver(let id, let reply):
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        sockets[id]?.send(RoomMessages.text(reply)) {
          // Not from within: a connection that takes all at once would be called ever deeper.
          bound.eventLoop.execute { bound.value.perform { $0.delivered(to: id, now: bound.value.now()) } }
        }
      case .close(let id, let error):
        let socket = sockets.removeValue(forKey: id)
        socket?.send(RoomMessages.text(.error(error)))
        socket?.close(.policyViolation, reason: error.message)
      }
    }
    timer.set(rooms.nextDeadline)
  }
}
