internal import STUN
public import Wire

extension TURNClient {
  /// Sends a datagram to a peer: over its channel, which is made with the first one. Until then it goes as a Send
  /// indication if the peer is permitted and the datagram is not long, and else waits, up to a limit. Without an
  /// allocation it is dropped. Cheap once there is a channel.
  public mutating func send(_ payload: [UInt8], to peer: TransportAddress, now: Instant) {
    guard case .allocated = state, payload.count <= ChannelData.maximumPayload else {
      droppedCount &+= 1
      return
    }
    if let place = peers.place(of: peer) {
      peers.all[place].lastUsedAt = now
      if case .bound(let number, _, _) = peers.all[place].route {
        return transmit(
          ChannelData.encode(payload, on: number, isPadded: configuration.server.transport.isStream), now: now)
      }
      sendWithoutChannel(payload, to: place, now: now)
    } else {
      guard isOfFamily(peer), !isRefused(peer.ip, now: now) else {
        droppedCount &+= 1
        return
      }
      peers.makeRoom(limit: configuration.maximumPeers, now: now)
      let place = peers.insert(Peer(address: peer, route: .unbound(retryAt: now), lastUsedAt: now))
      sendWithoutChannel(payload, to: place, now: now)
    }
    reschedule()
  }

  private func isRefused(_ ip: IPAddress, now: Instant) -> Bool {
    if case .refused(let until)? = permissions[ip]?.state { until > now } else { false }
  }

  private mutating func sendWithoutChannel(_ payload: [UInt8], to place: Int, now: Instant) {
    let peer = peers.all[place].address
    switch peers.all[place].route {
    case .unbound(let retryAt) where retryAt <= now: bind(place, now: now)
    case .refused(let until) where until <= now: bind(place, now: now)
    case .bound, .binding, .unbound, .refused: break
    }
    let isPermitted = permissions.isGranted(peer.ip)
    switch peers.all[place].route {
    case .binding where isPermitted && payload.count <= TURNClientConfiguration.maximumIndicationPayload:
      sendIndication(payload, to: peer, now: now)
    case .unbound where isPermitted:
      sendIndication(payload, to: peer, now: now)
    case .binding, .unbound, .bound:
      guard peers.all[place].waiting.count < configuration.maximumWaiting else {
        droppedCount &+= 1
        return
      }
      peers.all[place].waiting.append(payload)
    case .refused:
      droppedCount &+= 1
    }
  }

  /// RFC 8656 section 11.1.
  private mutating func sendIndication(_ payload: [UInt8], to peer: TransportAddress, now: Instant) {
    permissions.markUsed(peer.ip, at: now)
    // With the attributes' headers it has to fit into a message's length.
    guard payload.count <= 65_000 else {
      droppedCount &+= 1
      return
    }
    let id = STUNTransactionID.random(using: &random)
    let message = STUNMessage(
      .indication, .send, transactionID: id, attributes: [.xorPeerAddress(peer), .data(payload)])
    transmit(message.encode(fingerprint: false, hashes: hashes), now: now)
  }

  /// What has waited for a peer, now that there is a way.
  mutating func sendWaiting(to peer: TransportAddress, now: Instant) {
    guard let place = peers.place(of: peer) else { return }
    let waiting = peers.all[place].waiting
    peers.all[place].waiting = []
    for payload in waiting {
      if case .bound(let number, _, _) = peers.all[place].route {
        transmit(
          ChannelData.encode(payload, on: number, isPadded: configuration.server.transport.isStream), now: now)
      } else {
        sendWithoutChannel(payload, to: place, now: now)
      }
    }
  }

  // MARK: - From peers

  mutating func receiveChannelData(_ bytes: ArraySlice<UInt8>, now: Instant) {
    guard case .allocated = state, let (number, payload) = ChannelData.decode(bytes), let peer = peers.owners[number]
    else {
      droppedCount &+= 1
      return
    }
    emit(.received(Array(payload), from: peer))
  }

  /// RFC 8656 section 11.4. The server has checked the permission; one that has not is not believed.
  mutating func receiveIndication(_ message: STUNMessage, now: Instant) {
    guard case .allocated = state, message.method == .data, let peer = message.peerAddress, let payload = message.data,
      permissions.isWanted(peer.ip)
    else {
      droppedCount &+= 1
      return
    }
    permissions.markUsed(peer.ip, at: now)
    emit(.received(payload, from: peer))
  }
}
