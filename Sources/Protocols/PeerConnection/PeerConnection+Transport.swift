internal import ICE
internal import RTP
internal import RTPReceiving
internal import RTPSending
internal import SCTP
internal import SDP
internal import Wire

// How the layers feed one another. Each drain empties one layer's outputs into the next.
extension PeerConnection {
  /// Drains the outputs of all layers.
  func settle(now: Instant) {
    drainICE(now: now)
    drainDTLS(now: now)
    drainChannels(now: now)
    // The channels' packets are now DTLS records.
    drainDTLS(now: now)
    drainSender(now: now)
    drainReceiver(now: now)
  }

  private func drainICE(now: Instant) {
    while let output = ice?.poll() {
      switch output {
      case .transmit(let datagram, let from, let to):
        transmit(datagram, from: from, to: to)
      case .stateChanged(let iceState):
        iceStateChanged(iceState, now: now)
      case .selectedPairChanged(let pair):
        if hasHadPair { sender.beginNewPath(now: now) }
        hasHadPair = true
        selectedPair = pair
        outputs.append(.event(.selectedPairChanged(pair)))
        pairBecameUsable(now: now)
      case .resolve(let name):
        outputs.append(.event(.resolve(name: name)))
      }
    }
  }

  private func iceStateChanged(_ iceState: ICEConnectionState, now: Instant) {
    switch iceState {
    case .failed: finish(.failed, now: now)
    case .disconnected: setState(.disconnected)
    case .connected, .completed: setState(dtlsState == .connected ? .connected : .connecting)
    // RFC 7675 section 5.1: without consent nothing is sent, even while a restart may still bring a new pair.
    case .checking: selectedPair = nil
    case .new, .closed: break
    }
  }

  private func pairBecameUsable(now: Instant) {
    if dtlsState == .connecting, let negotiated, negotiated.weAreDTLSClient, !isHandshakeStarted {
      isHandshakeStarted = true
      dtls?.start(role: .client, now: now)
    }
    let waiting = waitingDatagrams
    waitingDatagrams = []
    waiting.forEach(transmitOnSelectedPair)
  }

  func drainDTLS(now: Instant) {
    while let output = dtls?.poll() {
      switch output {
      case .transmit(let datagram):
        transmitOnSelectedPair(datagram)
        if dtlsState == .connected { sender.noteSentBeside(byteCount: datagram.count, now: now) }
      case .connected(let keys, let digest):
        handshakeCompleted(keys: keys, digest: digest, now: now)
      case .applicationData(let packet):
        guard dtlsState == .connected else { continue }
        channels?.handle(packet: packet, now: now)
      case .closed:
        dtlsState = .closed
        finish(.closed, now: now)
      case .failed(let reason):
        dtlsState = .failed
        failureReason = reason
        finish(.failed, now: now)
      }
    }
  }

  /// RFC 8842 section 5.6 and RFC 8122 section 6: no data passes unless the certificate matches the signalled
  /// fingerprint.
  private func handshakeCompleted(keys: SRTPKeys?, digest: [UInt8], now: Instant) {
    guard let negotiated, dtlsState == .connecting else { return }
    let isSignalled = negotiated.remoteFingerprints.contains {
      $0.algorithm == "sha-256" && constantTimeEqual($0.bytes, digest)
    }
    guard isSignalled else {
      return refuse("the peer's certificate is not the one that its description names", now: now)
    }
    if !negotiated.media.isEmpty {
      guard let keys else { return refuse("the peer negotiated no SRTP profile", now: now) }
      do {
        srtp = try secure.makeSRTP(keys: keys)
      } catch {
        return refuse("SRTP could not be set up: \(error)", now: now)
      }
    }
    dtlsState = .connected
    setState(.connected)
    channels?.connect(now: now)
  }

  private func refuse(_ reason: String, now: Instant) {
    failureReason = reason
    dtls?.close()
    while case .transmit(let datagram) = dtls?.poll() { transmitOnSelectedPair(datagram) }
    dtlsState = .failed
    finish(.failed, now: now)
  }

  func drainChannels(now: Instant) {
    while let output = channels?.poll() {
      switch output {
      case .transmit(let packet):
        dtls?.send(packet)
      case .associationConnected:
        break
      case .opened(let id, let parameters, let byPeer):
        outputs.append(.event(.dataChannelOpened(id: id, parameters, byPeer: byPeer)))
      case .message(let id, let message):
        outputs.append(.event(.dataChannelMessage(id: id, message)))
      case .closed(let id):
        outputs.append(.event(.dataChannelClosed(id: id)))
      case .associationClosed:
        // Media continues: a peer may close just its data channels.
        channels = nil
      }
    }
  }

  func drainSender(now: Instant) {
    while let output = sender.poll(now: now) {
      // Consumed: otherwise a second reference makes SRTP copy each packet.
      switch consume output {
      case .rtp(var packet):
        guard let srtp, (try? srtp.protectRTP(&packet)) != nil else { continue }
        transmitMedia(packet)
      case .rtcp(var packet):
        guard let srtp, (try? srtp.protectRTCP(&packet)) != nil else { continue }
        transmitMedia(packet)
      case .keyFrameRequested(let ssrc):
        outputs.append(.event(.keyFrameRequested(ssrc: ssrc)))
      case .targetBitrateChanged(let kbps):
        outputs.append(.event(.targetBitrateChanged(kbps: kbps)))
      }
    }
  }

  func drainReceiver(now: Instant) {
    while let output = receiver.poll(now: now) {
      switch consume output {
      case .rtcp(var packet):
        guard let srtp, (try? srtp.protectRTCP(&packet)) != nil else { continue }
        transmitMedia(packet)
      case .video(let frame):
        outputs.append(.event(.videoFrame(frame)))
      case .audio(let audio):
        outputs.append(.event(.audio(audio)))
      case .goodbye(let kind):
        outputs.append(.event(.mediaEnded(kind == .video ? .video : .audio)))
      }
    }
  }

  /// SRTP or SRTCP from the peer, distinguished by RFC 5761 section 4.
  func handleMedia(
    _ datagram: [UInt8], from remote: TransportAddress, to local: TransportAddress, now: Instant
  ) {
    guard let srtp else { return }
    var packet = datagram
    do {
      guard RTPDemultiplexing.isRTCP(datagram) else {
        try srtp.unprotectRTP(&packet)
        ice?.noteReceived(from: remote, to: local, now: now)
        receiver.handle(rtp: packet, now: now)
        return
      }
      try srtp.unprotectRTCP(&packet)
    } catch {
      traffic.refusedSecurePackets += 1
      return
    }
    ice?.noteReceived(from: remote, to: local, now: now)
    guard let packets = try? RTCPPacket.parse(compound: packet) else {
      traffic.malformedRTCP += 1
      return
    }
    sender.handle(rtcp: packets, now: now)
    receiver.handle(rtcp: packets, now: now)
  }

  /// Passes each measurement to the receiver once: the total grows with each.
  func passRoundTripOn() {
    guard let (time, total) = Self.roundTrips(&ice), total != passedRoundTrips else { return }
    passedRoundTrips = total
    receiver.noteRoundTripTime(time)
  }

  /// Of the selected pair, from its last consent check.
  var roundTripTime: Duration? { ice?.selectedRoundTrip?.latest }

  // In place, like the deadlines.
  private static func roundTrips(_ agent: inout ICEAgent?) -> (latest: Duration, total: Duration)? {
    agent?.selectedRoundTrip
  }

  func addStreams(_ negotiated: NegotiatedSession) {
    for media in negotiated.media where media.direction.receives {
      receiver.addStream(RTPReceiveStreamConfiguration(media))
    }
    for media in negotiated.media where media.direction.sends {
      let local = configuration.media[media.local]
      sender.addStream(
        RTPStreamConfiguration(local: local, negotiated: media, playoutDelay: configuration.playoutDelay))
    }
  }

  func transmitOnSelectedPair(_ datagram: [UInt8]) {
    guard let (local, remote) = selectedAddresses else {
      if waitingDatagrams.count < configuration.maximumWaitingDatagrams { waitingDatagrams.append(datagram) }
      return
    }
    transmit(datagram, from: local, to: remote)
  }

  /// Media is not queued: it is of no use later.
  private func transmitMedia(_ packet: [UInt8]) {
    guard selectedAddresses != nil else { return }
    transmitOnSelectedPair(packet)
  }

  private func transmit(_ datagram: [UInt8], from: TransportAddress, to: TransportAddress) {
    traffic.sent(datagram.count)
    outputs.append(.transmit(datagram, from: from, to: to))
  }

  func setState(_ new: PeerConnectionState) {
    guard new != state, !state.isOver else { return }
    state = new
    outputs.append(.event(.stateChanged(new)))
  }

  /// Releases everything but the counters, so that keeping an ended connection costs next to nothing.
  func finish(_ final: PeerConnectionState, now: Instant) {
    guard !state.isOver else { return }
    finalInboundStatistics = receiver.statistics(now: now)
    setState(final)
    sender.forgetPackets()
    receiver = RTPReceiver(configuration: RTPReceiverConfiguration(configuration), random: random)
    dtls = nil
    srtp = nil
    channels = nil
    ice = nil
    waitingDatagrams = []
    waitingCandidates = []
  }
}
