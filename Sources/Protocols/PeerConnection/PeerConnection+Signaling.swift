internal import ICE
internal import SCTP
public import SDP
public import Wire

// Offer and answer, candidates, restart. RFC 9429, RFC 8838, RFC 8839.
extension PeerConnection {
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
  /// where the peer can be reached; where something between lets only answers through, a restart has to tell it of them.
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

  /// The addresses passed to `addLocalCandidate` so far.
  public var localAddresses: [TransportAddress] { localCandidates }

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
  func localSession() -> LocalSession {
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
}
