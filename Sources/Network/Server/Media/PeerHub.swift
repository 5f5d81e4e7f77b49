internal import ICE
public import NIOCore
public import PeerConnection
public import SDP
public import TURN
public import Wire

/// Identifies one peer for as long as the program runs.
public struct PeerID: Hashable, Sendable, CustomStringConvertible {
  let number: UInt64
  public var description: String { "peer-\(number)" }
}

/// Why a peer was not accepted.
public enum PeerHubError: Error, Sendable {
  /// The limit of peers is reached.
  case full
  case refused(PeerConnectionError)
}

/// All peer connections on one event loop: finds the peer a datagram belongs to, runs one timer for all, and sends
/// frames to each.
///
/// `@unchecked Sendable` because it is confined to its event loop: every entry checks that it runs there.
public final class PeerHub: @unchecked Sendable {
  public typealias EventHandler = @Sendable (PeerID, PeerConnectionEvent) -> Void
  /// Resolves a `.local` name; `found` may be called on any thread, once per address, or never.
  public typealias NameResolver =
    @Sendable (_ name: String, _ found: @escaping @Sendable (IPAddress) -> Void) -> Void

  public let eventLoop: any EventLoop
  /// Learns from servers how we look from outside.
  public let house = HouseAddresses()
  private let limit: Int
  let now: @Sendable () -> Instant
  private let makeConnection: @Sendable (PeerConnectionConfiguration) -> PeerConnection
  /// Called on the event loop; set it before `bind`.
  public var onEvent: EventHandler = { _, _ in }
  /// Called on the event loop when addresses of this machine have appeared or gone, after every connection knows them.
  public var onAddressesChanged: () -> Void = {}
  /// Called on the event loop when no relay could be had for a peer; the text is for people.
  public var onRelayFailure: (PeerID, String) -> Void = { _, _ in }
  /// The servers of all peers with credentials that have just been made, for relays whose credentials end.
  public var renewedServers: () -> [ICEServer] = { [] }
  /// Resolves the names that browsers use in candidates instead of their addresses
  /// (draft-ietf-mmusic-mdns-ice-candidates). If nil, such candidates are not used. Set it before `bind`.
  public var resolveName: NameResolver?
  private(set) var socket: MediaSocket?
  /// Set by `bind`.
  var marking = MediaMarking.none
  /// Nil where the system does not report its addresses; then each connection has those of its beginning.
  private var monitor: AddressMonitor?
  private var isShutDown = false
  /// Short, because a failed bind is cheap.
  private static let reopeningDelay: TimeAmount = .milliseconds(100)
  /// How soon to retry after the send buffer was full: Wi-Fi sends a packet in a fraction of this.
  private static let fullBufferDelay: TimeAmount = .milliseconds(2)
  private static let timerSlack: Duration = .milliseconds(3)
  private(set) var peers: [PeerID: Peer] = [:]
  private var byFragment: [String: PeerID] = [:]
  private(set) var addresses = PeerAddressTable()
  private var nextNumber: UInt64 = 1
  private let fastPaths: FastPaths
  var spread = BurstSpread()
  private var deadlines = DeadlineQueue<PeerID>()
  private var timer: (any MediaTimer)?
  private var timerDeadline: Instant?
  let writer: DatagramWriter
  private var isWaitingForBuffer = false
  /// Made with the first peer that has servers to ask: in a home there is none.
  var gatherer: CandidateGatherer?
  /// Events are held back until the peer has been drained, because a handler may call the hub again.
  private var events: [(PeerID, PeerConnectionEvent)] = []
  private var isDelivering = false
  /// Datagrams that belong to no peer.
  public private(set) var strayDatagrams: UInt64 = 0
  /// Datagrams that the kernel refused, or that waited too long for room in the send buffer.
  public var lostDatagrams: UInt64 { writer.lostDatagrams }

  final class Peer {
    let id: PeerID
    let connection: PeerConnection
    let fragment: String
    let includingLoopback: Bool
    /// The last destination in NIO's form; most packets go to the same one.
    var destination: (typed: TransportAddress, socket: SocketAddress)?
    /// `.local` names resolved for it so far.
    var lookups = 0

    init(id: PeerID, connection: PeerConnection, fragment: String, includingLoopback: Bool) {
      self.id = id
      self.connection = connection
      self.fragment = fragment
      self.includingLoopback = includingLoopback
    }

    /// A browser has one name per network interface and address family.
    static let maximumLookups = 16
  }

  /// - Parameters:
  ///   - limit: concurrent peers.
  ///   - now: the monotonic clock.
  ///   - makeConnection: creates a connection with the secure transports of the outer layer.
  public init(
    eventLoop: any EventLoop, limit: Int, now: @escaping @Sendable () -> Instant, fastPaths: FastPaths = FastPaths(),
    makeConnection: @escaping @Sendable (PeerConnectionConfiguration) -> PeerConnection
  ) {
    self.eventLoop = eventLoop
    self.limit = limit
    self.now = now
    self.makeConnection = makeConnection
    self.fastPaths = fastPaths
    writer = DatagramWriter(usesBatches: fastPaths.usesDatagramBatches && System.supportsUDPSegmentationOffload)
  }

  /// Opens the UDP socket. Call once, before anything else.
  public func bind(ports: ClosedRange<UInt16>, marking: MediaMarking = .none) async throws {
    self.marking = marking
    let socket = try await openSocket(ports: ports)
    let loopTimer =
      fastPaths.usesLoopTimer ? try await LoopTimer.open(on: eventLoop) { [weak self] in self?.fire() } : nil
    let monitor = await AddressMonitor.open(on: eventLoop) { [weak self] in self?.addressesChanged() }
    try await eventLoop.submit {
      self.monitor = monitor
      self.timer = loopTimer ?? DeadlineTimer(on: self.eventLoop, now: self.now) { [weak self] in self?.fire() }
      self.use(socket)
    }.get()
  }

  private func openSocket(ports: ClosedRange<UInt16>) async throws -> MediaSocket {
    try await MediaSocket.bind(ports: ports, marking: marking, on: eventLoop) { [weak self] first, remote in
      self?.isWanted(first, from: remote) ?? false
    } receive: { [weak self] datagram, remote, local in
      self?.receive(datagram, from: remote, to: local)
    } receivedAll: { [weak self] in
      self?.finishTurn()
    }
  }

  private func use(_ socket: MediaSocket) {
    guard !isShutDown else { return socket.channel.close(promise: nil) }
    self.socket = socket
    writer.discard()
    for peer in peers.values { peer.destination = nil }
    socket.channel.closeFuture.whenComplete { [weak self] _ in self?.reopen(port: socket.port) }
  }

  /// NIO closes a socket on a fatal read error. All peers continue on a new one with the same port.
  private func reopen(port: UInt16) {
    eventLoop.scheduleTask(in: Self.reopeningDelay) { [weak self] in
      guard let self, !self.isShutDown else { return }
      Task {
        do {
          let socket = try await self.openSocket(ports: port...port)
          self.eventLoop.execute { self.use(socket) }
        } catch {
          self.eventLoop.execute { self.reopen(port: port) }
        }
      }
    }
  }

  /// The UDP port; 0 before `bind`.
  public var port: UInt16 {
    eventLoop.preconditionInEventLoop()
    return socket?.port ?? 0
  }

  public var count: Int {
    eventLoop.preconditionInEventLoop()
    return peers.count
  }

  // MARK: Peers

  /// Accepts an offer: creates a peer and its answer.
  ///
  /// - Parameter servers: are asked for candidates, which come as `PeerConnectionEvent.localCandidate`.
  public func connect(
    offer: SessionDescription, configuration: PeerConnectionConfiguration, includingLoopback: Bool,
    servers: [ICEServer] = []
  ) throws(PeerHubError) -> (PeerID, SessionDescription) {
    try add(configuration, includingLoopback, servers) { (connection, now) throws(PeerConnectionError) in
      try connection.answer(offer, now: now)
    }
  }

  /// Creates a peer and an offer for it; its answer goes to `PeerConnection.accept`.
  public func offer(
    configuration: PeerConnectionConfiguration, wantsDataChannel: Bool, includingLoopback: Bool,
    servers: [ICEServer] = []
  ) throws(PeerHubError) -> (PeerID, SessionDescription) {
    try add(configuration, includingLoopback, servers) { (connection, now) throws(PeerConnectionError) in
      try connection.offer(wantsDataChannel: wantsDataChannel, now: now)
    }
  }

  private func add(
    _ configuration: PeerConnectionConfiguration, _ includingLoopback: Bool, _ servers: [ICEServer],
    describe: (PeerConnection, Instant) throws(PeerConnectionError) -> SessionDescription
  ) throws(PeerHubError) -> (PeerID, SessionDescription) {
    eventLoop.preconditionInEventLoop()
    guard peers.count < limit, let socket else { throw .full }
    var configuration = configuration
    configuration.gathersCandidates = !servers.isEmpty
    let connection = makeConnection(configuration)
    connection.updateLocalAddresses(addresses(of: socket, includingLoopback), now: now())
    let description: SessionDescription
    do {
      description = try describe(connection, now())
    } catch {
      throw .refused(error)
    }
    let id = reserveID()
    let peer = Peer(
      id: id, connection: connection, fragment: connection.localUsernameFragment ?? "",
      includingLoopback: includingLoopback)
    peers[id] = peer
    byFragment[peer.fragment] = id
    drain(peer)
    if !servers.isEmpty {
      // Servers of other peers have their answers already; the caller has to know the peer before they are reported.
      eventLoop.execute { [weak self] in
        guard let self, self.peers[id] != nil else { return }
        self.gather(for: id, from: servers)
        self.finishTurn()
      }
    }
    finishTurn()
    return (id, description)
  }

  /// An id that no peer has or will have, for a viewer that gets its media in another way.
  public func reserveID() -> PeerID {
    eventLoop.preconditionInEventLoop()
    defer { nextNumber += 1 }
    return PeerID(number: nextNumber)
  }

  private func addresses(of socket: MediaSocket, _ includingLoopback: Bool) -> [MachineAddress] {
    MachineAddress.all(monitor?.addresses, socket, includingLoopback: includingLoopback)
  }

  /// The addresses of this machine, as the kernel last reported them. Nil where it does not report them.
  public var ownAddresses: Set<IPAddress>? {
    eventLoop.preconditionInEventLoop()
    return monitor?.addresses.map { Set($0.map(\.ip)) }
  }

  private func addressesChanged() {
    guard let socket, !isShutDown else { return }
    let now = now()
    for peer in peers.values {
      peer.connection.updateLocalAddresses(addresses(of: socket, peer.includingLoopback), now: now)
      drain(peer)
      regather(peer)
    }
    gatherer?.replaceRelays()
    finishTurn()
    onAddressesChanged()
  }

  /// Starts an ICE restart with the current addresses of this machine (another Wi-Fi, a cable). Send the result to the
  /// peer. Nil when the peer is gone.
  public func beginICERestart(_ id: PeerID) throws(PeerConnectionError) -> RestartedICE? {
    eventLoop.preconditionInEventLoop()
    guard let peer = peers[id], let socket else { return nil }
    defer {
      drain(peer)
      finishTurn()
    }
    peer.connection.updateLocalAddresses(addresses(of: socket, peer.includingLoopback), now: now())
    let ours = try peer.connection.beginICERestart(now: now())
    byFragment[ours.ufrag] = id
    return ours
  }

  /// The peer's connection, for reading its state; nil once it is gone.
  public func connection(_ id: PeerID) -> PeerConnection? {
    eventLoop.preconditionInEventLoop()
    return peers[id]?.connection
  }

  /// Runs `body` with a peer's connection and sends the resulting output.
  public func with<Result>(
    _ id: PeerID, _ body: (PeerConnection, Instant) throws -> Result
  ) rethrows -> Result? {
    eventLoop.preconditionInEventLoop()
    guard let peer = peers[id] else { return nil }
    defer {
      drain(peer)
      finishTurn()
    }
    return try body(peer.connection, now())
  }

  /// A restart gave the peer a new ufrag; the old one remains valid until the peer is gone.
  public func updateFragment(of id: PeerID) {
    guard let fragment = peers[id]?.connection.localUsernameFragment else { return }
    byFragment[fragment] = id
  }

  /// Says goodbye to a peer and removes it.
  public func close(_ id: PeerID) {
    _ = with(id) { connection, now in connection.close(now: now) }
  }

  /// Returns when connected peers have acknowledged all messages, at the latest after `limit`: what is said last is lost
  /// with its datagram otherwise, as closing ends retransmission.
  public func settle(within limit: Duration) async {
    let deadline = now() + limit
    let interval = TimeAmount.milliseconds(20)
    while now() < deadline {
      let isSettled = try? await eventLoop.scheduleTask(in: interval) {
        self.peers.values.allSatisfy { $0.connection.state != .connected || $0.connection.isAllAcknowledged }
      }.futureResult.get()
      if isSettled ?? true { return }
    }
  }

  /// Ends all peers and closes the socket; without a goodbye, peers notice when consent expires (RFC 7675).
  public func shutDown(sayingGoodbye: Bool = true) async {
    let socket = try? await eventLoop.submit {
      self.isShutDown = true
      for peer in self.peers.values {
        if sayingGoodbye { self.close(peer.id) } else { self.forget(peer) }
      }
      self.gatherer?.close()
      self.timer?.close()
      self.monitor?.close()
      return self.socket
    }.get()
    await socket?.close()
  }

  /// Sets the wall clock for every peer's sender reports; see `PeerConnection.setWallClock`.
  public func setWallClock(_ reference: WallClockReference) {
    eventLoop.preconditionInEventLoop()
    let now = now()
    for peer in peers.values {
      peer.connection.setWallClock(reference, now: now)
      drain(peer)
    }
    finishTurn()
  }

  // MARK: Datagrams and time

  /// Accepts STUN from anywhere while there are peers, and everything else only from addresses we have sent to.
  private func isWanted(_ first: UInt8, from remote: TransportAddress) -> Bool {
    if addresses.owner(of: remote) != nil || first < 4 && !peers.isEmpty { return true }
    strayDatagrams &+= 1
    return false
  }

  func receive(_ datagram: [UInt8], from remote: TransportAddress, to local: TransportAddress) {
    var isRequest = false
    let id: PeerID?
    // A binding request names its peer; everything else is identified by its source address.
    if let first = datagram.first, first < 4, let fragments = ICEUsername(ofBindingRequest: datagram) {
      isRequest = true
      id = byFragment[fragments.local]
    } else {
      if let gatherer, datagram.first.map({ $0 < 4 }) ?? false, gatherer.takes(datagram, from: remote, to: local) {
        return
      }
      if datagram.first.map({ $0 < 4 }) ?? false, claimantTakes(datagram, from: remote, to: local) { return }
      id = addresses.owner(of: remote)
    }
    guard let id, let peer = peers[id] else {
      strayDatagrams &+= 1
      return
    }
    peer.connection.handle(datagram: datagram, from: remote, to: local, now: now())
    drain(peer, authenticating: isRequest ? remote : nil)
  }

  /// A STUN response from an address that another peer owns may be the proof that the claimant is waiting for. Once its
  /// check has succeeded there, it owns the address. False: the datagram is for the owner.
  private func claimantTakes(
    _ datagram: [UInt8], from remote: TransportAddress, to local: TransportAddress
  ) -> Bool {
    guard let id = addresses.claimant(of: remote), let peer = peers[id] else { return false }
    peer.connection.handle(datagram: datagram, from: remote, to: local, now: now())
    let isProven = peer.connection.hasValidPair(with: remote)
    if isProven { remember(remote, of: peer) }
    drain(peer)
    return isProven
  }

  /// Sends a peer's pending output. A response to `authenticating` proves that the request from there was authentic,
  /// unless it is an error response, which anybody can provoke.
  func drain(_ peer: Peer, authenticating requester: TransportAddress? = nil) {
    while let output = peer.connection.poll() {
      switch output {
      case .transmit(let datagram, let from, let to):
        if addresses.owner(of: to) == nil || to == requester, !Self.isErrorResponse(datagram) {
          remember(to, of: peer)
        }
        if let gatherer, gatherer.send(datagram, from: from, to: to) { continue }
        write(datagram, to: to, of: peer)
      case .event(.resolve(let name)):
        resolve(name, for: peer)
      case .event(let event):
        events.append((peer.id, event))
      }
    }
    if peer.connection.state.isOver { forget(peer) } else { deadlines.set(peer.connection.nextDeadline, for: peer.id) }
  }

  /// RFC 8489 section 5: class and method are the first two bytes.
  private static func isErrorResponse(_ datagram: [UInt8]) -> Bool {
    datagram.count > 1 && datagram[0] == 0x01 && datagram[1] == 0x11
  }

  /// An address that carries another peer's media changes owner only once this peer's own check has succeeded there.
  private func remember(_ address: TransportAddress, of peer: Peer) {
    if let owner = addresses.owner(of: address), owner != peer.id,
      peers[owner]?.connection.selectedPair?.remoteAddress == address, !peer.connection.hasValidPair(with: address)
    {
      addresses.claim(address, by: peer.id)
    } else {
      addresses.assign(address, to: peer.id, keeping: peer.connection.selectedPair?.remoteAddress)
    }
  }

  private func forget(_ peer: Peer) {
    guard peers.removeValue(forKey: peer.id) != nil else { return }
    gatherer?.forget(peer.id)
    byFragment = byFragment.filter { $0.value != peer.id }
    addresses.forget(peer.id)
    deadlines.set(nil, for: peer.id)
  }

  private func write(_ datagram: [UInt8], to address: TransportAddress, of peer: Peer) {
    guard let socket else { return }
    let destination: SocketAddress
    if let known = peer.destination, known.typed == address {
      destination = known.socket
    } else {
      guard let made = SocketAddress(address, forIPv6Socket: socket.isIPv6) else { return }
      destination = made
      peer.destination = (address, made)
    }
    writer.write(datagram, to: address, at: destination, through: socket)
  }

  private func resolve(_ name: String, for peer: Peer) {
    guard let resolveName, peer.lookups < Peer.maximumLookups else { return }
    peer.lookups += 1
    let id = peer.id
    resolveName(name) { [weak self] address in
      guard let self else { return }
      eventLoop.execute {
        self.with(id) { connection, now in connection.addResolved(name: name, address: address, now: now) }
      }
    }
  }

  /// Writes everything; retries shortly afterwards if the send buffer is full.
  func flush() {
    guard let socket else { return }
    writer.flush(through: socket)
    guard writer.isWaiting, !isWaitingForBuffer else { return }
    isWaitingForBuffer = true
    eventLoop.scheduleTask(in: Self.fullBufferDelay) { [weak self] in
      self?.isWaitingForBuffer = false
      self?.flush()
    }
  }

  /// Flushes once, sets the timer and delivers the events of this turn.
  func finishTurn() {
    flush()
    schedule()
    guard !isDelivering else { return }
    isDelivering = true
    while !events.isEmpty {
      let batch = events
      events.removeAll(keepingCapacity: true)
      for (id, event) in batch { onEvent(id, event) }
    }
    isDelivering = false
  }

  /// One timer for all peers. If it is set only slightly early, it is left as it is.
  private func schedule() {
    guard let deadline = deadlines.first else { return }
    if let timerDeadline, timerDeadline <= deadline, deadline < timerDeadline + Self.timerSlack { return }
    timerDeadline = deadline
    timer?.set(deadline - now())
  }

  private func fire() {
    timerDeadline = nil
    let now = now()
    for id in deadlines.due(at: now) {
      guard let peer = peers[id] else { continue }
      peer.connection.handleTimeout(now: now)
      drain(peer)
    }
    finishTurn()
  }
}
