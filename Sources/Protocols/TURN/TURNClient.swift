internal import STUN
public import Wire

/// One allocation of a TURN server, on one 5-tuple: a relayed address, and the peers that reach us through it. RFC 8656.
///
/// It owns no socket and no clock. The shell passes in what comes from the server and the time, drains `poll` after every
/// call, and calls `handleTimeout` at `nextDeadline`. An allocation lasts until `close` or `ended`: it refreshes itself, its
/// permissions and its channels, and takes new nonces as the server hands them out.
public struct TURNClient: Sendable {
  public let configuration: TURNClientConfiguration
  let hashes: any Hashes
  var random: any RandomNumberGenerator & Sendable

  enum State: Sendable {
    case idle
    case allocating
    case allocated(Allocation)
    /// REFRESH with lifetime 0 is under way.
    case closing
    case ended
  }

  struct Allocation: Sendable {
    var relayed: TransportAddress
    var mapped: TransportAddress
    var expiresAt: Instant
    /// Nil while it is being refreshed.
    var refreshAt: Instant?
    /// Over UDP.
    var keepaliveAt: Instant?
  }

  /// What the server has sent for authenticating requests. RFC 8489 section 9.2.
  struct Challenge: Sendable {
    let realm: String
    var nonce: [UInt8]
    /// MD5 over name, realm and password.
    let key: [UInt8]
  }

  var state = State.idle
  var challenge: Challenge?
  /// In the order in which they were first sent.
  var requests: [Request] = []
  var permissions = PermissionTable()
  var peers = PeerTable()
  var lastSentAt = Instant.zero
  /// When `renewalDue` is reported.
  var renewalAt: Instant?
  private var stream = MessageStream()
  private var outputs = FIFO<TURNOutput>()

  /// When `handleTimeout` is due; nil while no timer runs. May be early, never late.
  public private(set) var nextDeadline: Instant?
  /// Datagrams from the server that were none of its business: malformed, unauthentic, or from peers that are not
  /// permitted. And payloads of ours that could not wait any longer, or not be sent.
  public internal(set) var droppedCount: UInt64 = 0

  /// - Parameter random: must be unpredictable to others outside tests: transaction ids come from it.
  public init(
    configuration: TURNClientConfiguration, hashes: any Hashes, random: any RandomNumberGenerator & Sendable
  ) {
    self.configuration = configuration
    self.hashes = hashes
    self.random = random
  }

  // MARK: - What it is

  /// The address at which peers reach us; nil without an allocation.
  public var relayedAddress: TransportAddress? {
    if case .allocated(let allocation) = state { allocation.relayed } else { nil }
  }

  /// Our own address as the server sees it; nil without an allocation.
  public var mappedAddress: TransportAddress? {
    if case .allocated(let allocation) = state { allocation.mapped } else { nil }
  }

  /// The peers that are permitted or being asked for, to be permitted in another allocation, too.
  public var peersInUse: [TransportAddress] {
    let addressed = peers.all.filter { !$0.isRefused }.map(\.address)
    let others = permissions.all.filter { permission in
      !permission.isRefused && !addressed.contains { $0.ip == permission.ip }
    }
    return addressed + others.map(\.peer)
  }

  /// Whether what is sent to the peer goes through a channel.
  public func hasChannel(to peer: TransportAddress) -> Bool {
    if case .bound? = peers[peer]?.route { true } else { false }
  }

  // MARK: - Orders

  /// Asks for the allocation. Once.
  public mutating func allocate(now: Instant) {
    guard case .idle = state else { return }
    if let expiresAt = configuration.credentials.expiresAt {
      guard expiresAt > now else { return end(.credentialsExpired) }
      renewalAt = now + (expiresAt - now) / 2
    }
    state = .allocating
    start(.allocate, now: now)
    reschedule()
  }

  /// Gives the allocation up. `ended` follows when the server has heard of it, or after 2.5 s.
  public mutating func close(now: Instant) {
    switch state {
    case .closing, .ended: return
    case .idle: end(.closed)
    case .allocating, .allocated:
      // Before the first challenge there can be no allocation yet.
      guard challenge != nil else { return end(.closed) }
      state = .closing
      requests = []
      start(.close, now: now)
      reschedule()
    }
  }

  /// The socket or connection to the server is gone: the allocation belongs to it (RFC 8656 section 3.1).
  ///
  /// - Parameter reason: for people.
  public mutating func transportLost(_ reason: String) {
    if case .ended = state { return }
    end(.transportLost(reason))
  }

  /// Input from the server: one datagram, or any piece of the stream.
  public mutating func handle(_ bytes: [UInt8], now: Instant) {
    switch state {
    case .idle, .ended: return
    case .allocating, .allocated, .closing: break
    }
    guard configuration.server.transport.isStream else { return handleMessage(bytes[...], whole: bytes, now: now) }
    stream.append(bytes)
    do {
      while let message = try stream.next() {
        handleMessage(message, whole: nil, now: now)
        if case .ended = state { return }
      }
    } catch {
      end(.serverMisbehaved("its stream is neither STUN nor ChannelData"))
    }
  }

  /// - Parameter whole: the same, if it is all of an array.
  private mutating func handleMessage(_ message: ArraySlice<UInt8>, whole: [UInt8]?, now: Instant) {
    // RFC 8656 section 12: the first two bits tell.
    if let first = message.first, first >> 6 == 1 {
      receiveChannelData(message, now: now)
    } else if let decoded = try? STUNMessage(decoding: whole ?? Array(message)) {
      handle(decoded, now: now)
    } else {
      droppedCount &+= 1
    }
  }

  /// Runs the timers due at `now`. Does nothing if called early.
  public mutating func handleTimeout(now: Instant) {
    guard nextDeadline.isDue(at: now) else { return }
    runRequests(now: now)
    if case .allocated = state {
      if renewalAt.isDue(at: now) {
        renewalAt = nil
        emit(.renewalDue)
      }
      maintainAllocation(now: now)
      maintainPermissions(now: now)
      maintainChannels(now: now)
    }
    reschedule()
  }

  /// The next output; nil when there is none.
  public mutating func poll() -> TURNOutput? {
    outputs.popFirst()
  }

  // MARK: - Common to all files

  mutating func emit(_ output: TURNOutput) {
    outputs.append(output)
  }

  mutating func transmit(_ bytes: [UInt8], now: Instant) {
    lastSentAt = now
    outputs.append(.transmit(bytes))
  }

  mutating func end(_ failure: TURNFailure) {
    state = .ended
    requests = []
    permissions = PermissionTable()
    peers = PeerTable()
    stream = MessageStream()
    nextDeadline = nil
    emit(.ended(failure))
  }

  /// After every change but a mere datagram.
  mutating func reschedule() {
    nextDeadline = nil
    for request in requests { nextDeadline.bringForward(to: request.transaction.deadline) }
    guard case .allocated(let allocation) = state else { return }
    nextDeadline.bringForward(to: allocation.expiresAt)
    nextDeadline.bringForward(to: allocation.refreshAt)
    nextDeadline.bringForward(to: allocation.keepaliveAt)
    nextDeadline.bringForward(to: renewalAt)
    for permission in permissions.all { nextDeadline.bringForward(to: permission.deadline) }
    for peer in peers.all { nextDeadline.bringForward(to: peer.deadline) }
  }
}
