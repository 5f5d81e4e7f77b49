public import ICE
public import RTPReceiving
internal import RTPSending
public import SCTP
public import SDP
public import Wire

/// One WebRTC peer: ICE, DTLS, SRTP, RTP and data channels behind one poll loop (RFC 8825, RFC 9429).
///
/// Nothing here reads a clock or a socket. The owner passes in datagrams and the time, calls `handleTimeout` at
/// `nextDeadline`, and after every call drains `poll()` until it returns nil. Used from one thread at a time.
///
/// `PeerConnection.make` in the module WebRTC has defaults for everything; docs/LIBRARY.md has the loop that drives one, and
/// `Examples/` complete programs.
public final class PeerConnection {
  let configuration: PeerConnectionConfiguration
  let secure: any SecureTransports
  private let hashes: any Hashes
  var random: any RandomNumberGenerator & Sendable

  var ice: ICEAgent?
  var dtls: (any DTLSPort)?
  var srtp: (any SRTPPort)?
  var sender: RTPSender
  var receiver: RTPReceiver
  var channels: DataChannelTransport?

  public internal(set) var state: PeerConnectionState = .new
  public internal(set) var dtlsState: DTLSTransportState = .new
  private var signaling: SignalingProgress = .fresh {
    didSet { sentSSRCs = SentSSRCs(of: negotiated, configuration) }
  }
  /// Asked for with each frame and packet of sound.
  private var sentSSRCs = SentSSRCs()
  var outputs = FIFO<PeerConnectionOutput>()
  private var localCandidates: [TransportAddress] = []
  /// How many there have been, for their preferences.
  private var knownAddresses = 0
  /// Candidates of ours may follow the descriptions.
  private var isGathering: Bool
  /// Candidates received before their description, as RFC 8838 section 4.1 permits.
  var waitingCandidates: [String] = []
  /// DTLS datagrams from before there was a pair to send them on.
  var waitingDatagrams: [[UInt8]] = []
  /// Whether we have started as the DTLS client: once, when the first pair is usable.
  var isHandshakeStarted = false
  /// Why the connection failed, for a log; nil if it has not.
  public internal(set) var failureReason: String?
  var traffic = TransportTraffic()
  /// The selected pair's total round-trip time when last passed to the receiver.
  var passedRoundTrips: Duration = .zero
  /// Final receive statistics of each track.
  var finalInboundStatistics: [RTPInboundStatistics] = []
  private let sessionID: UInt64
  private var sessionVersion: UInt64 = 0

  /// The state of the offer/answer exchange; each case holds what is known by then.
  private enum SignalingProgress {
    case fresh
    case offered(SessionDescription, LocalSession)
    case stable(NegotiatedSession)
  }

  public init(
    configuration: PeerConnectionConfiguration, secure: any SecureTransports, hashes: any Hashes,
    random: any RandomNumberGenerator & Sendable, wallClock: WallClockReference
  ) {
    self.configuration = configuration
    isGathering = configuration.gathersCandidates
    self.secure = secure
    self.hashes = hashes
    self.random = random
    sender = RTPSender(configuration: configuration.sending, wallClock: wallClock, random: random)
    receiver = RTPReceiver(configuration: RTPReceiverConfiguration(configuration), random: random)
    // RFC 9429 section 5.2.1: a 63-bit random session id.
    sessionID = UInt64.random(in: 0...UInt64(Int64.max), using: &self.random)
  }

  /// The result of the last offer/answer exchange; nil before the first.
  public var negotiated: NegotiatedSession? {
    if case .stable(let session) = signaling { session } else { nil }
  }

  /// How much the peer wants to be sent.
  public var sendingLimits: SendingLimits { negotiated.map(SendingLimits.init) ?? SendingLimits() }

  /// Our ICE username fragment, by which the shell maps a Binding request to this peer. Nil before a description.
  public var localUsernameFragment: String? { ice?.localCredentials.usernameFragment }

  /// The pair that carries data, once there is one.
  public internal(set) var selectedPair: ICECandidatePair? {
    didSet { selectedAddresses = selectedPair.map { ($0.localAddress, $0.remoteAddress) } }
  }
  /// Another one is another path.
  var hasHadPair = false
  /// Of the selected pair. Asked for with each packet, for which a pair is much to copy.
  private(set) var selectedAddresses: (local: TransportAddress, remote: TransportAddress)?

  /// Whether the peer has proven that it is at this address by answering our connectivity check.
  public func hasValidPair(with remote: TransportAddress) -> Bool {
    ice?.hasValidPair(with: remote) ?? false
  }

  // MARK: Offer and answer, candidates, restart. RFC 9429, RFC 8838, RFC 8839

  /// Adds a host candidate on our socket, before or after the descriptions. The first of a family is preferred.
  public func addLocalCandidate(_ address: TransportAddress, now: Instant) {
    guard configuration.iceTransportPolicy == .all else { return }
    localCandidates.append(address)
    if ice != nil {
      addHost(address, preference: knownAddresses, now: now)
      settle(now: now)
    }
    knownAddresses += 1
  }

  /// Takes over the addresses that this machine has now: new ones become host candidates and are checked at once; pairs of
  /// those that are gone end; those without a carrier wait for it. A connection of another path goes on without a restart
  /// where the peer can be reached; where something between lets only answers through, a restart has to announce them.
  public func updateLocalAddresses(_ addresses: [MachineAddress], now: Instant) {
    let present = Dictionary(addresses.map { ($0.address, $0) }) { first, _ in first }
    for address in localCandidates where present[address] == nil { ice?.removeLocalCandidate(base: address, now: now) }
    localCandidates.removeAll { present[$0] == nil }
    for address in localCandidates {
      ice?.setCarries(present[address]?.isCarrying ?? false, base: address, now: now)
    }
    for new in addresses where new.isOffered && !localCandidates.contains(new.address) {
      addLocalCandidate(new.address, now: now)
    }
    settle(now: now)
  }

  /// Applies the peer's first offer and returns the answer to send.
  public func answer(_ offer: SessionDescription, now: Instant) throws(PeerConnectionError) -> SessionDescription {
    guard case .fresh = signaling else { throw .invalidState("an offer was taken before") }
    // RFC 8445 section 6.1.1: the answerer is controlled, unless the offerer is a lite agent.
    makeAgent(role: offer.isICELite ? .controlling : .controlled, now: now)
    let answer: SessionDescription
    let negotiated: NegotiatedSession
    do {
      (answer, negotiated) = try OfferAnswer.answer(offer, with: localSession())
    } catch {
      ice = nil
      throw .negotiation(error)
    }
    try begin(negotiated, now: now)
    return answer
  }

  /// Creates our offer.
  public func offer(wantsDataChannel: Bool, now: Instant) throws(PeerConnectionError) -> SessionDescription {
    guard case .fresh = signaling else { throw .invalidState("descriptions were exchanged before") }
    makeAgent(role: .controlling, now: now)
    let local = localSession()
    let offer = OfferAnswer.offer(local, wantsDataChannel: wantsDataChannel)
    signaling = .offered(offer, local)
    settle(now: now)
    return offer
  }

  /// Applies the answer to our offer.
  public func accept(_ answer: SessionDescription, now: Instant) throws(PeerConnectionError) {
    guard case .offered(let offer, let local) = signaling else { throw .invalidState("no offer waits for an answer") }
    let negotiated: NegotiatedSession
    do {
      negotiated = try OfferAnswer.accept(answer, for: offer, with: local)
    } catch {
      throw .negotiation(error)
    }
    try begin(negotiated, now: now)
  }

  /// Adds a trickled candidate (`candidate:…`), or end-of-candidates (empty text). Unusable ones are silently ignored,
  /// as W3C addIceCandidate does with unknown transports.
  public func addRemoteCandidate(_ attribute: String, now: Instant) {
    guard negotiated != nil else {
      if waitingCandidates.count < configuration.maximumWaitingCandidates { waitingCandidates.append(attribute) }
      return
    }
    take(candidate: attribute, now: now)
    settle(now: now)
  }

  /// Supplies the address for a `.local` name from `PeerConnectionEvent.resolve`.
  public func addResolved(name: String, address: IPAddress, now: Instant) {
    ice?.addResolved(name: name, address: address, now: now)
    settle(now: now)
  }

  /// Handles an ICE restart by the peer (WHEP PATCH, RFC 8839 section 4.4.1.1.1): takes its new credentials and returns
  /// ours. Data stays on the old pair until a new one works.
  public func restartICE(
    ufrag: String, pwd: String, candidates: [String], now: Instant
  ) throws(PeerConnectionError) -> RestartedICE {
    let ours = try renewICE(now: now)
    takeRestart(ufrag: ufrag, pwd: pwd, candidates: candidates, now: now)
    return ours
  }

  /// Restarts ICE from our side: send the result to the peer (WHEP PATCH) and pass its answer to `completeICERestart`.
  /// Data stays on the old pair until a new one works; without an answer it remains there. Calling it again voids the
  /// earlier restart.
  public func beginICERestart(now: Instant) throws(PeerConnectionError) -> RestartedICE {
    let ours = try renewICE(now: now)
    settle(now: now)
    return ours
  }

  /// Applies the peer's answer to `beginICERestart`. More candidates may be trickled.
  public func completeICERestart(
    ufrag: String, pwd: String, candidates: [String], now: Instant
  ) throws(PeerConnectionError) {
    guard negotiated != nil, let ice, ice.remoteCredentials == nil else {
      throw .invalidState("no restart waits for its answer")
    }
    takeRestart(ufrag: ufrag, pwd: pwd, candidates: candidates, now: now)
  }

  private func renewICE(now: Instant) throws(PeerConnectionError) -> RestartedICE {
    guard negotiated != nil, ice != nil else { throw .invalidState("nothing to restart yet") }
    sessionVersion += 1
    let credentials = ice!.restart(now: now)
    return RestartedICE(
      ufrag: credentials.usernameFragment, pwd: credentials.password,
      candidates: ice!.localCandidates.map(\.attribute), isComplete: !isGathering)
  }

  private func takeRestart(ufrag: String, pwd: String, candidates: [String], now: Instant) {
    ice?.setRemoteCredentials(ICECredentials(usernameFragment: ufrag, password: pwd), now: now)
    for candidate in candidates { take(candidate: candidate, now: now) }
    settle(now: now)
  }

  private func makeAgent(role: ICERole, now: Instant) {
    ice = ICEAgent(role: role, configuration: configuration.ice, hashes: hashes, random: random)
    for (index, address) in localCandidates.enumerated() { addHost(address, preference: index, now: now) }
    knownAddresses = localCandidates.count
  }

  private func addHost(_ address: TransportAddress, preference index: Int, now: Instant) {
    // RFC 8445 section 5.1.2.1: different local preferences for different addresses.
    ice?.addLocalCandidate(.host(address, localPreference: UInt16(max(0, 65535 - index))), now: now)
  }

  /// Our side of the descriptions. Without servers to ask there are only host candidates, and gathering is complete at once.
  private func localSession() -> LocalSession {
    LocalSession(
      iceUfrag: ice?.localCredentials.usernameFragment ?? "", icePwd: ice?.localCredentials.password ?? "",
      candidates: ice?.localCandidates.map(\.attribute) ?? [], endOfCandidates: !isGathering, trickle: true,
      fingerprintSHA256: secure.certificateSHA256, media: configuration.media,
      sctpPort: configuration.sctp.localPort, maxMessageSize: UInt64(configuration.sctp.maximumMessageSize),
      sessionID: sessionID, version: sessionVersion)
  }

  /// Both descriptions are known: candidates may be paired and the handshake may run.
  private func begin(_ negotiated: NegotiatedSession, now: Instant) throws(PeerConnectionError) {
    let transport: any DTLSPort
    do {
      transport = try secure.makeDTLS()
    } catch {
      throw .secureTransport("\(error)")
    }
    signaling = .stable(negotiated)
    setState(.connecting)
    dtls = transport
    dtlsState = .connecting
    limitSending()
    addStreams(negotiated)
    if let channel = negotiated.dataChannel {
      var sctp = configuration.sctp
      sctp.remotePort = channel.remoteSCTPPort
      sctp.remoteMaximumMessageSize = channel.remoteMaxMessageSize
      channels = DataChannelTransport(
        configuration: sctp, isDTLSClient: negotiated.weAreDTLSClient, hashes: hashes, random: random)
    }
    ice?.setRemoteCredentials(
      ICECredentials(usernameFragment: negotiated.remoteICE.ufrag, password: negotiated.remoteICE.pwd),
      now: now)
    for candidate in negotiated.remoteICE.candidates + waitingCandidates { take(candidate: candidate, now: now) }
    waitingCandidates = []
    if negotiated.remoteICE.endOfCandidates { ice?.endOfRemoteCandidates(now: now) }
    // As the client we wait for a pair: a ClientHello that cannot be sent costs a retransmission timeout.
    if !negotiated.weAreDTLSClient { transport.start(role: .server, now: now) }
    settle(now: now)
  }

  private func take(candidate attribute: String, now: Instant) {
    guard !attribute.isEmpty else {
      ice?.endOfRemoteCandidates(now: now)
      return
    }
    guard let candidate = try? ICECandidate(attribute: attribute) else { return }
    ice?.addRemoteCandidate(candidate, now: now)
  }

  // MARK: Candidates that servers give. RFC 8445 section 5.1.1.2, RFC 8838 section 9

  /// Adds the address at which a STUN server sees our socket's address `base`. Ignored where no NAT stands between
  /// (RFC 8445 section 5.1.3: redundant), and where `base` is gone.
  public func addServerReflexiveCandidate(_ address: TransportAddress, base: TransportAddress, now: Instant) {
    guard localCandidates.contains(base), !localCandidates.contains(address) else { return }
    gathered(.serverReflexive(address, base: base, localPreference: preference(of: base)), now: now)
  }

  /// Adds an address that a TURN server has allocated for us. What is transmitted `from` it goes through that server, and
  /// what the server passes on is handled as received at it.
  ///
  /// - Parameters:
  ///   - related: where the server sees us (RFC 8839 section 5.1); nil to hide it.
  ///   - preference: the higher of two is used: a new allocation takes over from an old one.
  public func addRelayedCandidate(
    _ address: TransportAddress, related: TransportAddress?, preference: UInt16, now: Instant
  ) {
    // RFC 8828 section 3.2: what the related address says is not for the peer either.
    let related = configuration.iceTransportPolicy == .all ? related : nil
    gathered(.relayed(address, related: related, localPreference: preference), now: now)
  }

  /// An allocation has ended: its pairs end, and another pair takes over at once if there is one.
  public func removeRelayedCandidate(_ address: TransportAddress, now: Instant) {
    guard !localCandidates.contains(address) else { return }
    ice?.removeLocalCandidate(base: address, now: now)
    settle(now: now)
  }

  /// Every server has answered or been given up; until `resumeGathering`.
  public func endLocalCandidates(now: Instant) {
    guard isGathering else { return }
    isGathering = false
    if isDescribed { outputs.append(.event(.localCandidatesComplete)) }
  }

  /// Servers are asked again: another network, or a new allocation. RFC 8838 section 13.
  public func resumeGathering() { isGathering = true }

  private func gathered(_ candidate: ICECandidate, now: Instant) {
    guard let before = ice?.localCandidates.count, !state.isOver else { return }
    ice?.addLocalCandidate(candidate, now: now)
    guard let ice, ice.localCandidates.count > before else { return }
    if isDescribed { outputs.append(.event(.localCandidate(candidate.attribute))) }
    settle(now: now)
  }

  /// Our description has been made, so what comes later is signalled by itself.
  private var isDescribed: Bool {
    if case .fresh = signaling { false } else { true }
  }

  /// As its host candidate has.
  private func preference(of base: TransportAddress) -> UInt16 {
    let host = ice?.localCandidates.first { $0.type == .host && $0.transportAddress == base }
    return host.map { UInt16(truncatingIfNeeded: $0.priority >> 8) } ?? 0
  }

  // MARK: Datagrams and time

  /// Handles a datagram from `remote` that arrived at our address `local`, demultiplexed by its first byte (RFC 7983).
  public func handle(datagram: [UInt8], from remote: TransportAddress, to local: TransportAddress, now: Instant) {
    guard let first = datagram.first, !state.isOver else { return }
    traffic.received(datagram.count)
    switch first {
    case 0...3:
      ice?.handle(datagram: datagram, from: remote, to: local, now: now)
      passRoundTripOn()
    case 20...63:
      // Before the keys exist anyone can send DTLS, so accept only addresses that ICE has heard from.
      if dtlsState == .connecting, ice?.hasHeard(from: remote) != true {
        traffic.ignoredDatagrams += 1
      } else {
        dtls?.handle(datagram: datagram, now: now)
      }
    case 128...191:
      handleMedia(datagram, from: remote, to: local, now: now)
    default:
      traffic.ignoredDatagrams += 1
    }
    settle(now: now)
  }

  /// Runs the timers due at `now`. Harmless if none are.
  public func handleTimeout(now: Instant) {
    guard !state.isOver else { return }
    if Self.deadline(&ice).isDue(at: now) { ice?.handleTimeout(now: now) }
    if (dtls?.nextDeadline).isDue(at: now) { dtls?.handleTimeout(now: now) }
    if Self.deadline(&sender).isDue(at: now) { sender.handleTimeout(now: now) }
    if Self.deadline(&receiver).isDue(at: now) { receiver.handleTimeout(now: now) }
    if Self.deadline(&channels).isDue(at: now) { channels?.handleTimeout(now: now) }
    settle(now: now)
  }

  /// When `handleTimeout` is due next; nil while no timer runs.
  public var nextDeadline: Instant? {
    guard !state.isOver else { return nil }
    var next = Self.deadline(&channels)
    next.bringForward(to: Self.deadline(&ice))
    next.bringForward(to: dtls?.nextDeadline)
    if srtp != nil {
      next.bringForward(to: Self.deadline(&sender))
      next.bringForward(to: Self.deadline(&receiver))
    }
    return next
  }

  // Read in place: calling a getter on a class's stored struct copies the struct first and retains all its arrays, and
  // this runs for every packet.
  private static func deadline(_ channels: inout DataChannelTransport?) -> Instant? { channels?.nextDeadline }
  private static func deadline(_ agent: inout ICEAgent?) -> Instant? { agent?.nextDeadline }
  private static func deadline(_ sender: inout RTPSender) -> Instant? { sender.nextDeadline }
  private static func deadline(_ receiver: inout RTPReceiver) -> Instant? { receiver.nextDeadline }

  /// The next output; nil when there is none.
  public func poll() -> PeerConnectionOutput? {
    outputs.popFirst()
  }

  // MARK: Sending

  /// Sends one frame or audio packet, already split into RTP payloads, on the negotiated track of `kind`. Does nothing
  /// unless the connection is up and the peer receives that kind.
  ///
  /// - Parameters:
  ///   - mediaTime: the RTP timestamp (90 kHz video, 48 kHz audio) without the random offset.
  ///   - captureTime: when the frame or audio was captured.
  public func send(
    _ payloads: [[UInt8]], kind: MediaKind, mediaTime: UInt32, captureTime: Instant, temporalLayer: Int = 0,
    isKeyFrame: Bool = false, source: Int = 0, now: Instant
  ) {
    guard srtp != nil, let ssrc = ssrc(of: kind) else { return }
    sender.send(
      payloads: payloads, ssrc: ssrc, mediaTime: mediaTime, captureTime: captureTime, marksLast: kind == .video,
      temporalLayer: temporalLayer, isKeyFrame: isKeyFrame, source: source, now: now)
    drainSender(now: now)
  }

  /// Whether media of `kind` is currently sent to the peer.
  public func isSending(_ kind: MediaKind) -> Bool {
    srtp != nil && ssrc(of: kind) != nil
  }

  /// The highest temporal layer to send to this peer; higher ones are dropped (RFC 7741).
  public func setMaximumTemporalLayer(_ layer: Int) {
    guard let ssrc = ssrc(of: .video) else { return }
    sender.setMaximumTemporalLayer(layer, ssrc: ssrc)
  }

  /// Of what was sent to the peer in the last ten seconds, what it reports as lost, 0...1.
  public func fractionLost(now: Instant) -> Double { sender.fractionLost(now: now) }
  /// Whether the path to this peer may be probed; see `RTPSender`.
  public func setMayProbe(_ mayProbe: Bool) { sender.mayProbe = mayProbe }
  /// Whether it would be probed now if it were allowed to be.
  public var wantsProbe: Bool { sender.wantsProbe }
  /// Sound packets that the peer's receiver reports prove to have arrived there.
  public var soundPacketsReceivedByPeer: UInt64 { sender.packetsReceivedByPeer(.audio) }

  /// How often the peer has asked for a key frame (PLI, FIR).
  public var keyFrameRequestsReceived: UInt64 { sender.keyFrameRequestsReceived }

  /// Updates the wall clock for sender reports; NTP may have stepped it. Call about once a second: it costs nothing
  /// while the clock runs evenly, and after a step all tracks send a report at once.
  public func setWallClock(_ reference: WallClockReference, now: Instant) {
    sender.setWallClock(reference, now: now)
    drainSender(now: now)
  }

  /// The SSRC of our track of `kind`, if the peer receives it.
  func ssrc(of kind: MediaKind) -> UInt32? {
    switch kind {
    case .audio: sentSSRCs.audio
    case .video: sentSSRCs.video
    case .application, .other: nil
    }
  }

  // MARK: Receiving

  /// Requests a key frame, no more often than RFC 4585 allows.
  ///
  /// - Parameter decoderFailed: the decoder cannot continue: no frame is handed out until the next key frame.
  public func requestKeyFrame(decoderFailed: Bool, now: Instant) {
    guard srtp != nil else { return }
    receiver.requestKeyFrame(decoderFailed: decoderFailed, now: now)
    settle(now: now)
  }

  // MARK: Lip sync

  /// How much later than now the sound of a received frame is heard; see `RTPReceiver.soundLag`. Ask when the frame is
  /// emitted.
  ///
  /// - Parameter soundOutputDelay: from emitting audio to hearing it.
  public func soundLag(of frame: ReceivedVideoFrame, soundOutputDelay: Duration, now: Instant) -> Duration? {
    receiver.soundLag(of: frame, soundOutputDelay: soundOutputDelay, now: now)
  }

  /// When a received frame was captured, on our clock; see `RTPReceiver.localCaptureTime`. Ask when the frame is emitted.
  public func localCaptureTime(of frame: ReceivedVideoFrame) -> Instant? { receiver.localCaptureTime(of: frame) }

  /// How long to hold a received frame where no sound is heard with it; see `RTPReceiver.playoutHold`.
  public func playoutHold(for frame: ReceivedVideoFrame, now: Instant) -> Duration {
    receiver.playoutHold(for: frame, now: now)
  }

  /// The delay that sound has at least; see `RTPReceiver.setSteadyDelay`.
  public func setSteadyDelay(_ delay: Duration) {
    receiver.setSteadyDelay(delay)
  }

  /// From emitting audio to hearing it, nil while nobody does: sound that follows pictures takes it into account.
  public func setSoundOutputDelay(_ delay: Duration?) {
    receiver.setSoundOutputDelay(delay)
  }

  // MARK: Data channels

  /// Opens a data channel; `dataChannelOpened` follows once the peer has acknowledged it. RFC 8832.
  public func openDataChannel(_ parameters: DataChannelParameters, now: Instant) throws(PeerConnectionError) -> UInt16 {
    guard channels != nil else { throw .invalidState("no data channel was negotiated") }
    defer { settle(now: now) }
    do {
      return try channels!.open(parameters, now: now)
    } catch {
      throw .dataChannel(error)
    }
  }

  public func send(_ message: DataChannelMessage, on id: UInt16, now: Instant) throws(PeerConnectionError) {
    guard channels != nil else { throw .invalidState("no data channel was negotiated") }
    defer { settle(now: now) }
    do {
      try channels!.send(message, on: id, now: now)
    } catch {
      throw .dataChannel(error)
    }
  }

  public func closeDataChannel(_ id: UInt16, now: Instant) {
    channels?.close(id, now: now)
    settle(now: now)
  }

  /// Bytes queued on a channel (W3C `bufferedAmount`).
  public func bufferedAmount(of id: UInt16) -> Int {
    channels?.bufferedAmount(of: id) ?? 0
  }

  /// Whether the peer has acknowledged every message on all channels.
  public var isAllAcknowledged: Bool { channels?.isAllAcknowledged ?? true }

  // MARK: The end

  /// Closes every layer (RTCP BYE, SCTP ABORT, DTLS close_notify). Drain `poll()` once more afterwards.
  public func close(now: Instant) {
    guard !state.isOver else { return }
    sender.stop(now: now)
    drainSender(now: now)
    channels?.abort(now: now)
    drainChannels(now: now)
    dtls?.close()
    drainDTLS(now: now)
    finish(.closed, now: now)
  }
}

/// The SSRCs of the tracks that a session sends.
private struct SentSSRCs {
  var audio: UInt32?
  var video: UInt32?

  init() {}

  init(of session: NegotiatedSession?, _ configuration: PeerConnectionConfiguration) {
    func ssrc(of kind: MediaKind) -> UInt32? {
      session?.media.first { $0.kind == kind && $0.direction.sends }.map { configuration.media[$0.local].ssrc }
    }
    audio = ssrc(of: .audio)
    video = ssrc(of: .video)
  }
}

extension PeerConnectionState {
  /// Whether this state is terminal.
  public var isOver: Bool { self == .closed || self == .failed }
}
