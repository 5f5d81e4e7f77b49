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
/// ```swift
/// let key = PrivateKey.generate()
/// let peer = PeerConnection(
///   configuration: PeerConnectionConfiguration(media: media),
///   secure: try OpenSSLTransports(key: key, certificate: Certificate(key: key)), hashes: CryptoHashes(),
///   random: SystemRandomNumberGenerator(), wallClock: wallClock)
/// peer.addLocalCandidate(socketAddress, now: now)
/// let answer = try peer.answer(SessionDescription(parsing: offer), now: now)
///
/// while !peer.state.isOver {
///   while let output = peer.poll() {
///     switch output {
///     case .transmit(let datagram, from: _, to: let destination): socket.send(datagram, to: destination)
///     case .event(.videoFrame(let frame)): decoder.decode(frame.payload)
///     case .event: break
///     }
///   }
///   if let (datagram, source) = socket.receive(until: peer.nextDeadline) {
///     peer.handle(datagram: datagram, from: source, to: socketAddress, now: now)
///   }
///   if let deadline = peer.nextDeadline, deadline <= now { peer.handleTimeout(now: now) }
/// }
/// ```
///
/// `Examples/` has two whole programs: two peers in one process, and a WHEP player.
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
  var signaling: SignalingProgress = .fresh
  var outputs = FIFO<PeerConnectionOutput>()
  var localCandidates: [TransportAddress] = []
  /// Candidates that came before their description (RFC 8838 section 4.1 lets them).
  var waitingCandidates: [String] = []
  /// What DTLS wanted to send before there was a pair to send on.
  var waitingDatagrams: [[UInt8]] = []
  /// As the DTLS client we start once, when the first pair is usable.
  var isHandshakeStarted = false
  /// Why the connection failed, for a log; nil while it has not.
  public internal(set) var failureReason: String?
  var traffic = TransportTraffic()
  /// The sum of the selected pair's round-trip times that the receiver knows of.
  var passedRoundTrips: Duration = .zero
  /// What was received of each track by the end.
  var finalInboundStatistics: [RTPInboundStatistics] = []
  let sessionID: UInt64
  var sessionVersion: UInt64 = 0

  /// Where the offer/answer exchange stands; each case holds what is known by then.
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
    self.secure = secure
    self.hashes = hashes
    self.random = random
    sender = RTPSender(configuration: configuration.sending, wallClock: wallClock, random: random)
    receiver = RTPReceiver(configuration: RTPReceiverConfiguration(configuration), random: random)
    // RFC 9429 section 5.2.1: a 63-bit random session id.
    sessionID = UInt64.random(in: 0...UInt64(Int64.max), using: &self.random)
  }

  /// What the last offer/answer exchange agreed on; nil before.
  public var negotiated: NegotiatedSession? {
    if case .stable(let session) = signaling { session } else { nil }
  }

  /// Our ICE user fragment: the shell finds this peer by it when a binding request comes in. Nil before a description.
  public var localUsernameFragment: String? { ice?.localCredentials.usernameFragment }

  /// The pair that carries data, once there is one.
  public internal(set) var selectedPair: ICECandidatePair?

  /// Whether the peer has shown that it is at this address, by answering a connectivity check of ours.
  public func hasValidPair(with remote: TransportAddress) -> Bool {
    ice?.hasValidPair(with: remote) ?? false
  }

  // MARK: Datagrams and time

  /// Takes one datagram from `remote` that arrived at our address `local`. What it is tells its first byte, RFC 7983.
  public func handle(datagram: [UInt8], from remote: TransportAddress, to local: TransportAddress, now: Instant) {
    guard let first = datagram.first, !state.isOver else { return }
    traffic.received(datagram.count)
    switch first {
    case 0...3:
      ice?.handle(datagram: datagram, from: remote, to: local, now: now)
    case 20...63:
      // Until the keys are there anybody could say anything; whoever ICE has not heard from is nobody.
      if dtlsState == .connecting, ice?.hasHeard(from: remote) != true {
        traffic.ignoredDatagrams += 1
      } else {
        dtls?.handle(datagram: datagram, now: now)
      }
    case 128...191:
      handleMedia(datagram, from: remote, now: now)
    default:
      traffic.ignoredDatagrams += 1
    }
    settle(now: now)
  }

  /// Does what is due at `now`. Harmless when nothing is.
  public func handleTimeout(now: Instant) {
    guard !state.isOver else { return }
    if Self.deadline(&ice).isDue(at: now) { ice?.handleTimeout(now: now) }
    if (dtls?.nextDeadline).isDue(at: now) { dtls?.handleTimeout(now: now) }
    if Self.deadline(&sender).isDue(at: now) { sender.handleTimeout(now: now) }
    if Self.deadline(&receiver).isDue(at: now) { receiver.handleTimeout(now: now) }
    if Self.deadline(&channels).isDue(at: now) { channels?.handleTimeout(now: now) }
    settle(now: now)
  }

  /// When `handleTimeout` is due next; nil when only the peer can make something happen.
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

  // Asked in place: what a class holds is copied, all its arrays retained, before it is asked by its getter, and this is
  // asked for every packet.
  private static func deadline(_ channels: inout DataChannelTransport?) -> Instant? { channels?.nextDeadline }
  private static func deadline(_ agent: inout ICEAgent?) -> Instant? { agent?.nextDeadline }
  private static func deadline(_ sender: inout RTPSender) -> Instant? { sender.nextDeadline }
  private static func deadline(_ receiver: inout RTPReceiver) -> Instant? { receiver.nextDeadline }

  /// The next thing to do; nil when everything has been handed out.
  public func poll() -> PeerConnectionOutput? {
    outputs.popFirst()
  }

  // MARK: Sending

  /// Sends one frame or audio packet, already cut into RTP payloads, on the negotiated track of `kind`.
  /// Does nothing while the connection is not up or the peer did not ask for that kind.
  ///
  /// - Parameters:
  ///   - mediaTime: the track's clock (90 kHz video, 48 kHz sound) without the random offset.
  ///   - captureTime: when the picture or sound was taken.
  public func send(
    _ payloads: [[UInt8]], kind: MediaKind, mediaTime: UInt32, captureTime: Instant, temporalLayer: Int = 0,
    isKeyFrame: Bool = false, now: Instant
  ) {
    guard srtp != nil, let ssrc = ssrc(of: kind) else { return }
    sender.send(
      payloads: payloads, ssrc: ssrc, mediaTime: mediaTime, captureTime: captureTime, marksLast: kind == .video,
      temporalLayer: temporalLayer, isKeyFrame: isKeyFrame, now: now)
    drainSender(now: now)
  }

  /// Whether frames of `kind` reach the peer now.
  public func isSending(_ kind: MediaKind) -> Bool {
    srtp != nil && ssrc(of: kind) != nil
  }

  /// The highest temporal layer to send to this peer; others are left out (RFC 7741).
  public func setMaximumTemporalLayer(_ layer: Int) {
    guard let ssrc = ssrc(of: .video) else { return }
    sender.setMaximumTemporalLayer(layer, ssrc: ssrc)
  }

  /// When the peer last said that something of ours was lost on the way; nil if it never did.
  public var lossReportedAt: Instant? { sender.lossReportedAt }

  /// Tells the sender reports what time it is; network time may have set the clock. To be called about once a second: it
  /// costs nothing while the clock goes evenly, and after a step all tracks report at once.
  public func setWallClock(_ reference: WallClockReference, now: Instant) {
    sender.setWallClock(reference, now: now)
    drainSender(now: now)
  }

  /// The SSRC of our track of `kind`, if the peer receives it.
  func ssrc(of kind: MediaKind) -> UInt32? {
    guard let media = negotiated?.media.first(where: { $0.kind == kind && $0.direction.sends }) else { return nil }
    return configuration.media[media.local].ssrc
  }

  // MARK: Receiving

  /// The decoder lost its way: asks the peer for a key frame, as often as a well-behaved receiver may (RFC 4585).
  public func requestKeyFrame(now: Instant) {
    guard srtp != nil else { return }
    receiver.requestKeyFrame(now: now)
    settle(now: now)
  }

  // MARK: Data channels

  /// Opens a data channel; `dataChannelOpened` follows once the peer has agreed. RFC 8832.
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

  /// Bytes that wait to be sent on a channel (W3C `bufferedAmount`).
  public func bufferedAmount(of id: UInt16) -> Int {
    channels?.bufferedAmount(of: id) ?? 0
  }

  // MARK: The end

  /// Says goodbye on every layer (RTCP BYE, SCTP ABORT, DTLS close_notify) and stops. Drain `poll()` once more after it.
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

extension PeerConnectionState {
  /// Nothing leads out of these.
  public var isOver: Bool { self == .closed || self == .failed }
}
