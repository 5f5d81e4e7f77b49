import Wire

/// One SCTP association inside DTLS: RFC 9260 as profiled by RFC 8261 and RFC 8831. One path, no addresses, and one tag
/// for its whole life, because a restarted peer has a new DTLS association.
struct SCTPAssociation: Sendable {
  /// RFC 9260 section 4, without the states that data channels do not distinguish.
  enum State: Sendable {
    /// Nothing sent yet, but an INIT from the peer is answered.
    case idle
    case cookieWait(attempts: Int)
    case cookieEchoed(Peer, cookie: [UInt8], attempts: Int)
    case open(Peer, Phase)
    case closed
  }

  enum Phase: Hashable, Sendable {
    case established
    case shutdownPending
    case shutdownSent(attempts: Int)
    case shutdownReceived
    case shutdownAckSent(attempts: Int)
  }

  enum Event: Sendable {
    case connected
    case message(ReceivedMessage)
    /// The peer reset its outgoing streams; nil: all of them.
    case incomingReset([UInt16]?)
    /// Our outgoing streams are reset, or the peer refused to.
    case outgoingReset([UInt16])
    case closed(AssociationCloseReason)
  }

  /// T1-init, T1-cookie and T2-shutdown never run together, so they share `handshake`.
  struct Timers: Sendable {
    var handshake: Instant?
    var retransmission: Instant?
    var heartbeat: Instant?
  }

  let configuration: SCTPConfiguration
  let hashes: any Hashes
  var random: any RandomNumberGenerator & Sendable
  let localTag: UInt32
  let localInitialTSN: UInt32
  let cookieKey: [UInt8]
  var state = State.idle
  var timers = Timers()
  var timeout: RetransmissionTimeout
  var sender: DataSender
  var receiver: DataReceiver
  var reset: StreamReset
  /// Consecutive timeouts without a sign of life. RFC 9260 section 8.1.
  var errorCount = 0
  /// Set by any packet for this association; distinguishes a full window from a dead peer.
  var hasHeardSinceTimeout = false
  var heartbeatInFlight: (nonce: UInt64, sentAt: Instant)?
  /// Complete packets, with their own tags.
  var directPackets = FIFO<[UInt8]>()
  /// Chunks that wait for the next packet.
  var control = FIFO<RawChunk>()
  var events = FIFO<Event>()
  /// ERROR chunks that we may still send: enough to tell a peer which extension we lack; after that, garbage is
  /// ignored.
  var errorRepliesLeft = 32
  var nextMessageNumber: UInt64 = 0
  /// The time of the last call, for packets that are built when they are polled.
  var now = Instant.zero
  /// Data packets that may still be sent before the next event.
  var burstLeft = 0
  var packetsSent: UInt64 = 0
  var packetsReceived: UInt64 = 0
  var packetsDiscarded: UInt64 = 0

  static let maximumQueuedPackets = 16
  static let maximumQueuedControl = 32

  init(
    configuration: SCTPConfiguration, hashes: any Hashes, random: any RandomNumberGenerator & Sendable,
    initialTSN: UInt32? = nil
  ) {
    var random = random
    self.configuration = configuration
    self.hashes = hashes
    localTag = UInt32.random(in: 1 ... .max, using: &random)
    localInitialTSN = initialTSN ?? UInt32.random(in: 0 ... .max, using: &random)
    cookieKey = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
    self.random = random
    timeout = RetransmissionTimeout(configuration)
    sender = DataSender(initialTSN: localInitialTSN, configuration: configuration)
    receiver = DataReceiver(initialTSN: 0, configuration: configuration)
    reset = StreamReset(initialTSN: localInitialTSN)
  }

  var peer: Peer? {
    switch state {
    case .cookieEchoed(let peer, _, _), .open(let peer, _): peer
    case .idle, .cookieWait, .closed: nil
    }
  }

  var phase: Phase? {
    if case .open(_, let phase) = state { phase } else { nil }
  }

  var isClosed: Bool {
    if case .closed = state { true } else { false }
  }

  /// Whether new messages are accepted.
  var acceptsMessages: Bool {
    switch state {
    case .idle, .cookieWait, .cookieEchoed, .open(_, .established): true
    case .open, .closed: false
    }
  }

  mutating func setPhase(_ phase: Phase) {
    if case .open(let peer, _) = state { state = .open(peer, phase) }
  }

  /// Called first by every entry point.
  mutating func begin(_ now: Instant) {
    self.now = now
    burstLeft = max(1, configuration.maximumBurst)
  }

  // MARK: - Sending

  mutating func send(
    _ payload: [UInt8], payloadProtocolID: UInt32, on streamID: UInt16, parameters: DataChannelParameters?,
    isUserData: Bool, now: Instant
  ) {
    begin(now)
    var message = OutgoingMessage(
      number: nextMessageNumber, streamID: streamID, payloadProtocolID: payloadProtocolID, payload: payload,
      isOrdered: parameters?.isOrdered ?? true, isUserData: isUserData)
    nextMessageNumber += 1
    switch parameters?.reliability {
    case .maxRetransmits(let count): message.maximumRetransmissions = count
    case .maxPacketLifeTime(let milliseconds): message.expiresAt = now + .milliseconds(Int64(milliseconds))
    case .reliable, nil: break
    }
    sender.queue.append(message)
  }

  /// Resets our outgoing stream once everything queued on it has been sent.
  mutating func resetStream(_ id: UInt16, now: Instant) {
    begin(now)
    if let peer, case .open = state, !peer.supportsReconfiguration {
      events.append(.outgoingReset([id]))
    } else {
      reset.want(id)
    }
  }

  // MARK: - Packets

  mutating func queueDirect(tag: UInt32, _ body: (inout PacketBuilder) -> Void) {
    guard directPackets.count < Self.maximumQueuedPackets else { return }
    var packet = PacketBuilder(
      sourcePort: configuration.localPort, destinationPort: configuration.remotePort, verificationTag: tag,
      maximumSize: configuration.packetSize)
    body(&packet)
    directPackets.append(packet.finish())
  }

  mutating func queueControl(type: UInt8, flags: UInt8 = 0, value: [UInt8] = []) {
    guard control.count < Self.maximumQueuedControl else { return }
    control.append(RawChunk(type: type, flags: flags, value: value[...]))
  }

  /// The peer of an open association, or nil.
  func openPeer() -> Peer? {
    if case .open(let peer, _) = state { peer } else { nil }
  }

  mutating func discardPacket() {
    packetsDiscarded &+= 1
  }
}
