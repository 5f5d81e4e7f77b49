public import ICE
internal import RTP
internal import RTPReceiving
internal import RTPSending
public import SCTP
public import SDP
internal import STUN
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
  let hashes: any Hashes
  var random: any RandomNumberGenerator & Sendable

  var ice: ICEAgent?
  var dtls: (any DTLSPort)?
  var srtp: (any SRTPPort)?
  var sender: RTPSender
  var receiver: RTPReceiver
  var channels: DataChannelTransport?

  public internal(set) var state: PeerConnectionState = .new
  public internal(set) var dtlsState: DTLSTransportState = .new
  var signaling: SignalingProgress = .fresh {
    didSet { sentSSRCs = SentSSRCs(of: negotiated, configuration) }
  }
  /// Asked for with each frame and packet of sound.
  private var sentSSRCs = SentSSRCs()
  var outputs = FIFO<PeerConnectionOutput>()
  var localCandidates: [TransportAddress] = []
  /// How many there have been, for their preferences.
  var knownAddresses = 0
  /// Candidates of ours may follow the descriptions.
  var isGathering: Bool
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
  let sessionID: UInt64
  var sessionVersion: UInt64 = 0

  /// The state of the offer/answer exchange; each case holds what is known by then.
  enum SignalingProgress {
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
