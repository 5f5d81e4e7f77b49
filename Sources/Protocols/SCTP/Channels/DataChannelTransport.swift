public import Wire

/// All data channels of one peer: an SCTP association inside DTLS (RFC 8261) and the protocol that opens channels
/// over it (RFC 8831, RFC 8832).
///
/// Sans-IO: calls take packets and `now`; `poll` returns the outputs, and must be drained after every call, before
/// `nextDeadline` is read. Packets are built when they are polled, so messages sent in one go share packets.
public struct DataChannelTransport: Sendable {
  var association: SCTPAssociation
  private(set) var channels: [UInt16: DataChannel] = [:]
  private var outputs = FIFO<DataChannelOutput>()
  /// Messages in `outputs`, for the receive window; in the same order.
  private var undelivered = FIFO<ReceivedMessage>()
  private let configuration: SCTPConfiguration
  /// RFC 8832 section 6: the DTLS client opens even streams, the server odd ones.
  private let isDTLSClient: Bool

  /// `hashes` and `random` seal the state cookie and choose tag and TSN, so `random` has to be unpredictable.
  public init(
    configuration: SCTPConfiguration, isDTLSClient: Bool, hashes: any Hashes,
    random: any RandomNumberGenerator & Sendable
  ) {
    self.init(
      configuration: configuration, isDTLSClient: isDTLSClient, hashes: hashes, random: random, initialTSN: nil)
  }

  /// `initialTSN` lets a test begin right before the counter wraps.
  init(
    configuration: SCTPConfiguration, isDTLSClient: Bool, hashes: any Hashes,
    random: any RandomNumberGenerator & Sendable, initialTSN: UInt32?
  ) {
    self.configuration = configuration
    self.isDTLSClient = isDTLSClient
    association = SCTPAssociation(
      configuration: configuration, hashes: hashes, random: random, initialTSN: initialTSN)
  }

  // MARK: - Association

  /// DTLS is up: sends INIT. Both ends do so (RFC 8841 section 9.3); the collision resolves itself. A later call has no
  /// effect.
  public mutating func connect(now: Instant) {
    association.connect(now: now)
    collect()
  }

  /// Handles one SCTP packet from DTLS. Any input is safe; invalid packets are counted and dropped.
  public mutating func handle(packet: [UInt8], now: Instant) {
    association.handle(packet: packet, now: now)
    collect()
  }

  /// Ends the association once everything queued has been delivered. RFC 9260 section 9.2.
  public mutating func shutdown(now: Instant) {
    association.shutdown(now: now)
    collect()
  }

  /// Aborts the association and notifies the peer. RFC 9260 section 9.1.
  public mutating func abort(now: Instant) {
    association.abort(now: now)
    collect()
  }

  /// Runs the timers due at `now`; harmless if none are.
  public mutating func handleTimeout(now: Instant) {
    association.handleTimeout(now: now)
    collect()
  }

  /// When `handleTimeout` is due; nil while no timer runs. Valid after `poll` was drained.
  public var nextDeadline: Instant? { association.nextDeadline }

  /// Whether the association is up.
  public var isConnected: Bool { association.state.openPeer != nil }

  /// The next output; nil when there is none.
  public mutating func poll() -> DataChannelOutput? {
    if let packet = association.nextDirectPacket() { return .transmit(packet) }
    if let output = takeOutput() { return output }
    if let packet = association.nextPacket() {
      collect()
      return .transmit(packet)
    }
    collect()
    return takeOutput()
  }

  private mutating func takeOutput() -> DataChannelOutput? {
    let output = outputs.popFirst()
    if case .message = output, let message = undelivered.popFirst() { association.delivered(message) }
    return output
  }

  // MARK: - Channels

  /// Opens a channel and returns its stream id. Messages may be sent on it at once, also before the association is up.
  public mutating func open(
    _ parameters: DataChannelParameters, now: Instant
  ) throws(DataChannelError) -> UInt16 {
    guard association.state.acceptsMessages else { throw .associationClosed }
    guard parameters.label.utf8.count <= 65535, parameters.protocolName.utf8.count <= 65535 else { throw .nameTooLong }
    let id: UInt16
    if let negotiated = parameters.negotiatedID {
      guard negotiated < streamLimit else { throw .idOutOfRange(negotiated) }
      guard channels[negotiated] == nil else { throw .idInUse(negotiated) }
      id = negotiated
      channels[id] = DataChannel(parameters: parameters, state: .connecting, mustSendOrdered: false)
      if isConnected { becomeOpen(id, byPeer: false) }
    } else {
      let message = DCEPMessage.open(parameters).bytes
      guard configuration.remoteMaximumMessageSize == 0 || message.count <= configuration.remoteMaximumMessageSize
      else {
        throw .nameTooLong
      }
      guard let free = stride(from: isDTLSClient ? 0 : 1, to: streamLimit, by: 2).first(where: { channels[$0] == nil })
      else { throw .tooManyChannels }
      guard association.sender.bufferedBytes + message.count <= configuration.sendBufferSize else { throw .bufferFull }
      id = free
      channels[id] = DataChannel(parameters: parameters, state: .connecting, mustSendOrdered: true)
      sendDCEP(message, on: id, now: now)
    }
    association.sender.queue.setPriority(parameters.priority, of: id)
    return id
  }

  /// Queues a message. A refused message changes nothing.
  public mutating func send(
    _ message: DataChannelMessage, on id: UInt16, now: Instant
  ) throws(DataChannelError) {
    guard association.state.acceptsMessages else { throw .associationClosed }
    guard var channel = channels[id] else { throw .noSuchChannel(id) }
    guard !channel.isClosing else { throw .channelClosing(id) }
    let size = message.byteCount
    let limit = configuration.remoteMaximumMessageSize
    guard limit == 0 || size <= limit else { throw .messageTooLarge(limit: limit) }
    guard size <= configuration.sendBufferSize else { throw .messageTooLarge(limit: configuration.sendBufferSize) }
    guard association.sender.bufferedBytes + size <= configuration.sendBufferSize else { throw .bufferFull }
    var parameters = channel.parameters
    if channel.mustSendOrdered { parameters.isOrdered = true }
    let (payloadProtocolID, payload) = message.encoded
    channel.messagesSent &+= 1
    channel.bytesSent &+= UInt64(size)
    channels[id] = channel
    association.send(
      payload, payloadProtocolID: payloadProtocolID, on: id, parameters: parameters, isUserData: true, now: now)
  }

  /// Closes a channel after everything queued on it was sent. `closed` follows when the peer has closed it too. Unknown
  /// and closing ids have no effect.
  public mutating func close(_ id: UInt16, now: Instant) {
    guard let channel = channels[id], !channel.isClosing else { return }
    if association.state.peer == nil {
      // Nothing has been sent yet, so the peer needs no notice.
      association.sender.queue.discardUnstarted(on: id)
      remove(id)
      return
    }
    startClosing(id, incomingReset: false, now: now)
    collect()
  }

  /// Bytes of messages that have not been sent for the first time. W3C webrtc `bufferedAmount`.
  public func bufferedAmount(of id: UInt16) -> Int {
    association.sender.queue.bufferedAmount(of: id)
  }

  /// Whether the peer has acknowledged every message (RFC 9260 section 6.2).
  public var isAllAcknowledged: Bool { association.sender.isDone }

  /// Channels in the order of their ids, and the association.
  public var statistics: DataChannelTransportStatistics {
    let sender = association.sender
    var transport = SCTPTransportStatistics(
      smoothedRoundTripTime: association.path.smoothedRoundTrip?.inSeconds,
      congestionWindow: sender.congestion.window, receiverWindow: sender.advertisedWindow,
      mtu: configuration.packetSize, unackData: sender.outstanding.count,
      chunksRetransmitted: sender.chunksRetransmitted,
      messagesAbandoned: sender.messagesAbandoned &+ sender.queue.expiredMessages)
    transport.packetsSent = association.packetsSent
    transport.packetsReceived = association.packetsReceived
    transport.packetsDiscarded = association.packetsDiscarded
    return DataChannelTransportStatistics(
      channels: channels.sorted { $0.key < $1.key }.map { $0.value.statistics(id: $0.key) }, transport: transport)
  }

  // MARK: - Inside

  /// 65535 is not a stream of data channels (RFC 8831 section 6.2); the peer may allow fewer than we do.
  private var streamLimit: UInt16 {
    min(configuration.maximumStreams, association.state.peer?.outgoingStreams ?? .max, 65534)
  }

  private mutating func sendDCEP(_ message: [UInt8], on id: UInt16, now: Instant) {
    association.send(
      message, payloadProtocolID: PayloadProtocolID.dcep, on: id, parameters: nil, isUserData: false, now: now)
  }

  private mutating func becomeOpen(_ id: UInt16, byPeer: Bool) {
    guard var channel = channels[id], channel.state == .connecting else { return }
    channel.state = .open
    channel.mustSendOrdered = false
    channels[id] = channel
    outputs.append(.opened(id: id, channel.parameters, byPeer: byPeer))
  }

  private mutating func startClosing(_ id: UInt16, incomingReset: Bool, now: Instant) {
    channels[id]?.state = .closing(outgoingReset: false, incomingReset: incomingReset)
    association.resetStream(id, now: now)
  }

  private mutating func remove(_ id: UInt16) {
    guard let channel = channels.removeValue(forKey: id) else { return }
    association.sender.queue.forgetPriority(of: id)
    if channel.isAnnounced { outputs.append(.closed(id: id)) }
  }

  /// Turns the association's events into outputs.
  private mutating func collect() {
    while let event = association.events.popFirst() {
      switch event {
      case .connected: didConnect()
      case .message(let message): handle(message)
      case .incomingReset(let ids):
        for id in ids ?? channels.keys.sorted() { didResetIncoming(id) }
      case .outgoingReset(let ids):
        for id in ids { didResetOutgoing(id) }
      case .closed(let reason):
        for id in channels.keys.sorted() { remove(id) }
        outputs.append(.associationClosed(reason))
      }
    }
  }

  private mutating func didConnect() {
    outputs.append(.associationConnected)
    for id in channels.keys.sorted() {
      if id >= streamLimit {
        // The peer allows fewer streams than we assumed.
        association.sender.queue.discardUnstarted(on: id)
        remove(id)
      } else if channels[id]?.parameters.negotiatedID != nil {
        becomeOpen(id, byPeer: false)
      }
    }
  }

  private mutating func didResetIncoming(_ id: UInt16) {
    guard let channel = channels[id] else { return }
    switch channel.state {
    case .connecting, .open:
      // The peer no longer reads, so unsent messages are dropped; then our direction is reset, too.
      association.sender.queue.discardUnstarted(on: id)
      startClosing(id, incomingReset: true, now: association.now)
    case .closing(outgoingReset: true, _): remove(id)
    case .closing(outgoingReset: false, _):
      channels[id]?.state = .closing(outgoingReset: false, incomingReset: true)
    }
  }

  private mutating func didResetOutgoing(_ id: UInt16) {
    guard case .closing(_, let incomingReset) = channels[id]?.state else { return }
    let supported = association.state.openPeer?.supportsReconfiguration ?? false
    if incomingReset || !supported {
      remove(id)
    } else {
      channels[id]?.state = .closing(outgoingReset: true, incomingReset: false)
    }
  }

  private mutating func handle(_ message: ReceivedMessage) {
    let id = message.streamID
    if message.payloadProtocolID == PayloadProtocolID.dcep {
      association.delivered(message)
      handleDCEP(message)
      return
    }
    guard var channel = channels[id], !channel.isClosing, let content = DataChannelMessage(message) else {
      association.delivered(message)
      return
    }
    // RFC 8832 section 6: a message from the peer shows that it has our OPEN.
    becomeOpen(id, byPeer: false)
    channel = channels[id] ?? channel
    channel.messagesReceived &+= 1
    channel.bytesReceived &+= UInt64(content.byteCount)
    channels[id] = channel
    undelivered.append(message)
    outputs.append(.message(id: id, content))
  }

  private mutating func handleDCEP(_ message: ReceivedMessage) {
    let id = message.streamID
    switch try? DCEPMessage(message.payload) {
    case .acknowledgement: becomeOpen(id, byPeer: false)
    case .open(let parameters): handleOpen(parameters, on: id)
    case nil: refuse(id)
    }
  }

  private mutating func handleOpen(_ parameters: DataChannelParameters, on id: UInt16) {
    if case .closing(outgoingReset: false, incomingReset: true) = channels[id]?.state,
      association.reset.isKnownPerformed(id)
    {
      // For the peer both directions are reset; only its response is still in flight.
      association.sender.queue.setNextSequenceNumber(0, of: id)
      remove(id)
    }
    // RFC 8832 section 6: an OPEN on a used stream, or one of our parity, closes the channel and is not acknowledged.
    guard channels[id] == nil, id < streamLimit, isRemote(id), association.state.acceptsMessages, isWelcome(parameters)
    else {
      refuse(id)
      return
    }
    channels[id] = DataChannel(parameters: parameters, state: .connecting, mustSendOrdered: false)
    association.sender.queue.setPriority(parameters.priority, of: id)
    sendDCEP(DCEPMessage.acknowledgement.bytes, on: id, now: association.now)
    becomeOpen(id, byPeer: true)
  }

  /// Whether the id is of the peer's parity. RFC 8832 section 6.
  private func isRemote(_ id: UInt16) -> Bool {
    id % 2 == (isDTLSClient ? 1 : 0)
  }

  /// Whether the application expects the channel, and there is room for it.
  private func isWelcome(_ parameters: DataChannelParameters) -> Bool {
    let name = DataChannelName(label: parameters.label, protocolName: parameters.protocolName)
    guard configuration.expectedChannels?.contains(name) ?? true,
      name.label.utf8.count <= configuration.maximumChannelNameLength,
      name.protocolName.utf8.count <= configuration.maximumChannelNameLength
    else { return false }
    let open = channels.count { $1.isAnnounced && $1.parameters.negotiatedID == nil && isRemote($0) }
    return open < configuration.maximumRemoteChannels
  }

  /// Closes a channel without announcing it to the application: both ends reset their streams. RFC 8832 section 6.
  private mutating func refuse(_ id: UInt16) {
    if let channel = channels[id] {
      if !channel.isClosing { startClosing(id, incomingReset: false, now: association.now) }
      return
    }
    guard id < streamLimit else { return }
    var channel = DataChannel(
      parameters: DataChannelParameters(label: ""), state: .connecting, mustSendOrdered: false)
    channel.isAnnounced = false
    channels[id] = channel
    startClosing(id, incomingReset: false, now: association.now)
  }
}
