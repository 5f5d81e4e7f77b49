public import NIOCore
internal import SecureTransport
public import TURN
public import Wire

/// One allocation of a TURN server, with a socket or connection of its own to it: drives a `TURNClient` on an event loop.
///
/// It starts again by itself when the server sends it elsewhere (300), and from another port when the server takes its
/// port for somebody else's (437), both before there is an allocation. Afterwards an allocation that ends is over: its
/// relayed address is gone, and the owner makes another.
///
/// `@unchecked Sendable` because it is confined to its event loop: every entry checks that it runs there.
public final class RelayAllocation: @unchecked Sendable {
  public enum Event: Sendable {
    /// `mapped` is our own address as the server sees it; a server-reflexive candidate over UDP only.
    case allocated(relayed: TransportAddress, mapped: TransportAddress)
    case received([UInt8], from: TransportAddress)
    /// The server does not relay to this peer.
    case peerRefused(TransportAddress, code: Int)
    /// Half of the credentials' time is over: see `TURNOutput.renewalDue`.
    case renewalDue
    /// Nothing follows.
    case ended(TURNFailure)
  }

  private enum State {
    case fresh
    /// The socket or the connection is being opened.
    case opening
    case open(any RelayLink)
    case ended
  }

  public let eventLoop: any EventLoop
  public let server: RelayServer
  private let lender: LendingPlace?
  private let marking: MediaMarking
  private let now: @Sendable () -> Instant
  private let onEvent: (Event) -> Void
  private var configuration: TURNClientConfiguration
  private var client: TURNClient
  private var redirections: TURNRedirections
  private var state = State.fresh
  /// Of the link, so that news of an abandoned one is ignored.
  private var generation: UInt64 = 0
  private var wasAllocated = false
  /// From which address the link reaches the server.
  private var source: IPAddress?
  /// Tests have routes of their own.
  var sourceToward: (TransportAddress) -> IPAddress? = SourceAddress.toward
  private var hasChangedPort = false
  private var isDraining = false
  private var timerDeadline: Instant?
  private lazy var timer = DeadlineTimer(on: eventLoop, now: now) { [weak self] in self?.fire() }
  /// Datagrams that were left out because the connection did not take them in time.
  public private(set) var congestionDrops: UInt64 = 0

  /// - Parameters:
  ///   - lender: who lends the server; it may redirect to no address that this one may not name.
  ///   - now: the monotonic clock, also of the credentials' `expiresAt`.
  ///   - onEvent: called on the event loop; it may call the allocation.
  public init(
    server: RelayServer, credentials: TURNCredentials, wantsIPv6: Bool = false, lender: LendingPlace? = nil,
    marking: MediaMarking = .none, eventLoop: any EventLoop, now: @escaping @Sendable () -> Instant,
    onEvent: @escaping (Event) -> Void
  ) {
    self.server = server
    self.lender = lender
    self.marking = marking
    self.eventLoop = eventLoop
    self.now = now
    self.onEvent = onEvent
    configuration = TURNClientConfiguration(server: server.server, credentials: credentials, wantsIPv6: wantsIPv6)
    redirections = TURNRedirections(first: server.server.address)
    client = Self.makeClient(configuration)
  }

  deinit {
    if case .open(let link) = state { eventLoop.execute { link.close() } }
  }

  private static func makeClient(_ configuration: TURNClientConfiguration) -> TURNClient {
    TURNClient(configuration: configuration, hashes: CryptoHashes(), random: SystemRandomNumberGenerator())
  }

  // MARK: - What it is

  /// Nil without an allocation.
  public var relayedAddress: TransportAddress? {
    eventLoop.preconditionInEventLoop()
    return client.relayedAddress
  }

  /// Whether what is sent to the peer goes through a channel: the cheap way, and the only one for long datagrams.
  public func hasChannel(to peer: TransportAddress) -> Bool {
    eventLoop.preconditionInEventLoop()
    return client.hasChannel(to: peer)
  }

  // MARK: - Orders

  /// Opens the socket or connection and asks for the allocation. Call it once.
  public func open() {
    eventLoop.preconditionInEventLoop()
    guard case .fresh = state else { preconditionFailure("an allocation is opened once") }
    connect()
  }

  /// Lets a peer send to us; may be called before `allocated`.
  public func permit(_ peer: TransportAddress) {
    eventLoop.preconditionInEventLoop()
    client.permit(peer, now: now())
    drain()
  }

  /// Sends a datagram to a peer, which is permitted by it. Dropped before `allocated`, and while the connection to the
  /// server is congested.
  public func send(_ payload: [UInt8], to peer: TransportAddress) {
    eventLoop.preconditionInEventLoop()
    if case .open(let link) = state, !link.hasRoom {
      congestionDrops &+= 1
      return
    }
    client.send(payload, to: peer, now: now())
    drain()
  }

  /// Call it when addresses of this machine have come or gone. An allocation belongs to the address from which it was made
  /// (RFC 8656 section 3.1). Over UDP it is over when the server is reached from another one now; while there is no way at
  /// all, nothing is decided. A connection keeps its address, and is over when that is gone.
  ///
  /// - Parameter own: the addresses that this machine has now.
  public func addressesChanged(_ own: Set<IPAddress>) {
    eventLoop.preconditionInEventLoop()
    guard case .open = state, let source else { return }
    let isOver =
      if server.server.transport.isStream {
        !own.contains(source)
      } else {
        sourceToward(configuration.server.address).map { $0 != source } ?? false
      }
    guard isOver else { return }
    client.transportLost("this machine has another address now")
    drain()
  }

  /// Gives the allocation up; `ended` follows at once, or when the server has heard of it.
  public func close() {
    eventLoop.preconditionInEventLoop()
    switch state {
    case .open:
      client.close(now: now())
      drain()
    case .fresh, .opening: finish(.closed)
    case .ended: break
    }
  }

  // MARK: - The link

  private func connect() {
    state = .opening
    generation += 1
    let (number, server, marking, loop) = (generation, server, marking, eventLoop)
    let address = configuration.server.address
    let receiver = RelayLinkReceiver { [weak self] bytes in
      self?.receive(bytes, number)
    } lost: { [weak self] reason in
      self?.lost(reason, number)
    }
    let opened = loop.makePromise(of: (any RelayLink).self)
    opened.completeWithTask {
      switch server.server.transport {
      case .udp: try await RelayDatagramLink.open(to: address, marking: marking, on: loop, receiver: receiver)
      case .tcp, .tls: try await RelayStreamLink.open(to: server, address: address, on: loop, receiver: receiver)
      }
    }
    opened.futureResult.whenComplete { [weak self] result in
      guard let self, number == generation, case .opening = state else {
        if case .success(let link) = result { link.close() }
        return
      }
      switch result {
      case .success(let link):
        state = .open(link)
        source = sourceToward(configuration.server.address)
        client.allocate(now: now())
        drain()
      case .failure(let error):
        finish(error as? TURNFailure ?? .transportLost("\(HTTPClientError(connecting: error))"))
      }
    }
  }

  private func receive(_ bytes: [UInt8], _ number: UInt64) {
    guard number == generation, case .open = state else { return }
    client.handle(bytes, now: now())
    drain()
  }

  private func lost(_ reason: String, _ number: UInt64) {
    guard number == generation, case .open = state else { return }
    client.transportLost(reason)
    drain()
  }

  private func fire() {
    timerDeadline = nil
    client.handleTimeout(now: now())
    drain()
  }

  /// Carries out what the client has decided. Events may lead back here; the first call goes on then.
  private func drain() {
    guard !isDraining else { return }
    isDraining = true
    while let output = client.poll() { carryOut(output) }
    isDraining = false
    guard client.nextDeadline != timerDeadline else { return }
    timerDeadline = client.nextDeadline
    timer.set(timerDeadline)
  }

  private func carryOut(_ output: TURNOutput) {
    switch output {
    case .transmit(let bytes):
      if case .open(let link) = state { link.send(bytes) }
    case .received(let payload, let peer): onEvent(.received(payload, from: peer))
    case .allocated(let relayed, let mapped):
      wasAllocated = true
      onEvent(.allocated(relayed: relayed, mapped: mapped))
    case .peerRefused(let peer, let code): onEvent(.peerRefused(peer, code: code))
    case .renewalDue: onEvent(.renewalDue)
    case .ended(let failure): ended(failure)
    }
  }

  // MARK: - The end

  private func ended(_ failure: TURNFailure) {
    guard !wasAllocated else { return finish(failure) }
    switch failure.remedy {
    case .elsewhere(let address) where isAllowed(address.ip) && redirections.follow(to: address):
      configuration.server.address = address
      startAgain()
    case .newSocket where !hasChangedPort:
      hasChangedPort = true
      startAgain()
    default: finish(failure)
    }
  }

  private func isAllowed(_ address: IPAddress) -> Bool {
    lender?.mayName(address, own: LocalAddresses.current(includingLoopback: false)) ?? true
  }

  private func startAgain() {
    if case .open(let link) = state { link.close() }
    let peers = client.peersInUse
    client = Self.makeClient(configuration)
    for peer in peers { client.permit(peer, now: now()) }
    connect()
  }

  private func finish(_ failure: TURNFailure) {
    if case .open(let link) = state { link.close() }
    state = .ended
    generation += 1
    timer.cancel()
    onEvent(.ended(failure))
  }
}
