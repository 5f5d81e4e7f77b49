public import Wire

extension TURNClient {
  /// Lets a peer send to us, ahead of what we send to it: its datagrams pass from the response on. All its ports are
  /// permitted at once (RFC 8656 section 9). Before there is an allocation, it is asked for as soon as there is.
  public mutating func permit(_ peer: TransportAddress, now: Instant) {
    switch state {
    case .closing, .ended: return
    case .idle, .allocating, .allocated: break
    }
    guard isOfFamily(peer) else { return emit(.peerRefused(peer, code: 443)) }
    permissions.markUsed(peer.ip, at: now)
    wantPermission(for: peer, now: now)
    reschedule()
  }

  /// 443 would be the server's answer. RFC 8656 section 10.2.
  func isOfFamily(_ peer: TransportAddress) -> Bool {
    peer.ip.isIPv6 == configuration.wantsIPv6
  }

  // MARK: - Permissions

  /// Asks for it unless it is there, asked for, or was just refused.
  private mutating func wantPermission(for peer: TransportAddress, now: Instant) {
    if let permission = permissions[peer.ip] {
      // One that came with a channel may have lost it.
      guard case .wanted = permission.state else { return }
    } else {
      addPermission(for: peer, now: now)
    }
    guard case .allocated = state, !isUnderWay(.permission(peer.ip)) else { return }
    let isBinding = peers.all.contains { other in
      if case .binding = other.route { other.address.ip == peer.ip } else { false }
    }
    if !isBinding { start(.permission(peer.ip), now: now) }
  }

  private mutating func addPermission(for peer: TransportAddress, now: Instant) {
    permissions.makeRoom(limit: configuration.maximumPeers)
    permissions[peer.ip] = Permission(peer: peer, state: .wanted, lastUsedAt: now)
  }

  mutating func permissionGranted(_ ip: IPAddress, now: Instant) {
    let expiry = now + TURNClientConfiguration.permissionLifetime
    permissions.setState(.granted(refreshAt: now + configuration.permissionRefresh, expiresAt: expiry), of: ip)
    for peer in peers.all where peer.address.ip == ip && !peer.waiting.isEmpty {
      sendWaiting(to: peer.address, now: now)
    }
  }

  mutating func permissionRefused(_ ip: IPAddress, code: Int, now: Instant) {
    guard let permission = permissions[ip] else { return }
    let pause = now + configuration.refusalPause
    permissions.setState(.refused(until: pause), of: ip)
    var refused = [permission.peer]
    for peer in peers.all where peer.address.ip == ip {
      // A channel has a permission of its own making.
      if case .bound = peer.route { continue }
      refuse(peer.address, now: now)
      if peer.address != permission.peer { refused.append(peer.address) }
    }
    for peer in refused { emit(.peerRefused(peer, code: code)) }
  }

  private mutating func refuse(_ peer: TransportAddress, now: Instant) {
    droppedCount &+= UInt64(peers[peer]?.waiting.count ?? 0)
    if case .binding(let number)? = peers[peer]?.route {
      requests.removeAll { $0.purpose == .channel(number, peer) }
      peers.rest(number, of: peer, until: now + TURNClientConfiguration.channelLifetime)
    }
    let pause = now + configuration.refusalPause
    peers.update(peer) {
      $0.route = .refused(until: pause)
      $0.waiting = []
    }
  }

  /// Refreshes the permissions of the peers in use. Those with channels are refreshed with these; should that fail, their
  /// own turn comes.
  mutating func maintainPermissions(now: Instant) {
    guard case .allocated = state else { return }
    for permission in permissions.all where permission.deadline.isDue(at: now) {
      let ip = permission.ip
      switch permission.state {
      case .wanted: break
      case .refused: permissions[ip] = nil
      case .granted(_, let expiresAt):
        guard isInUse(permission, now: now) else {
          permissions[ip] = nil
          continue
        }
        permissions.setState(expiresAt <= now ? .wanted : .granted(refreshAt: nil, expiresAt: expiresAt), of: ip)
        if !isUnderWay(.permission(ip)) { start(.permission(ip), now: now) }
      }
    }
  }

  private func isInUse(_ permission: Permission, now: Instant) -> Bool {
    !isIdle(since: permission.lastUsedAt, now: now)
      || peers.all.contains {
        $0.address.ip == permission.ip && !$0.isRefused && !isIdle(since: $0.lastUsedAt, now: now)
      }
  }

  private func isIdle(since instant: Instant, now: Instant) -> Bool {
    now - instant >= configuration.peerIdleTime
  }

  // MARK: - Channels

  /// Begins to bind a channel; without a number to be had, the peer is permitted and gets Send indications.
  mutating func bind(_ place: Int, now: Instant) {
    let peer = peers.all[place].address
    if let number = peers.takeNumber(for: peer, now: now) {
      peers.all[place].route = .binding(number)
      start(.channel(number, peer), now: now)
      // Its permission comes with the channel. RFC 8656 section 12.
      if permissions[peer.ip].map(\.isRefused) ?? true { addPermission(for: peer, now: now) }
    } else {
      peers.all[place].route = .unbound(retryAt: now + configuration.refusalPause)
      wantPermission(for: peer, now: now)
    }
  }

  mutating func channelBound(_ number: UInt16, to peer: TransportAddress, now: Instant) {
    guard peers[peer] != nil, peers.owners[number] == peer else { return }
    let (refresh, expiry) = (now + configuration.channelRefresh, now + TURNClientConfiguration.channelLifetime)
    peers.update(peer) { $0.route = .bound(number, refreshAt: refresh, expiresAt: expiry) }
    if permissions[peer.ip] == nil { addPermission(for: peer, now: now) }
    permissionGranted(peer.ip, now: now)
    sendWaiting(to: peer, now: now)
  }

  mutating func channelRefused(_ peer: TransportAddress, code: Int, now: Instant) {
    guard let place = peers.place(of: peer) else { return }
    switch code {
    // Forbidden, or of the other family: no permission would be given either.
    case 403, 440, 443:
      if case .bound(let number, _, let expiresAt) = peers.all[place].route {
        peers.rest(number, of: peer, until: expiresAt)
      }
      refuse(peer, now: now)
      if permissions[peer.ip].map({ !$0.isGranted }) ?? false {
        permissions.setState(.refused(until: now + configuration.refusalPause), of: peer.ip)
      }
      emit(.peerRefused(peer, code: code))
    default:
      switch peers.all[place].route {
      case .binding(let number): peers.rest(number, of: peer, until: now + TURNClientConfiguration.channelLifetime)
      case .bound(let number, _, let expiresAt): peers.rest(number, of: peer, until: expiresAt)
      case .unbound, .refused: break
      }
      peers.all[place].route = .unbound(retryAt: now + configuration.refusalPause)
      if permissions.isGranted(peer.ip) {
        sendWaiting(to: peer, now: now)
      } else if !isUnderWay(.permission(peer.ip)) {
        if permissions[peer.ip] == nil { addPermission(for: peer, now: now) }
        start(.permission(peer.ip), now: now)
      }
    }
  }

  /// Binds the channels of the peers in use again before they or their permissions lapse; the others are given up.
  mutating func maintainChannels(now: Instant) {
    guard case .allocated = state else { return }
    for peer in peers.all where peer.deadline.isDue(at: now) {
      guard case .bound(let number, _, let expiresAt) = peer.route else { continue }
      if isIdle(since: peer.lastUsedAt, now: now) {
        peers.remove(peer.address, now: now)
        continue
      }
      peers.update(peer.address) {
        $0.route = expiresAt <= now ? .binding(number) : .bound(number, refreshAt: nil, expiresAt: expiresAt)
      }
      if !isUnderWay(.channel(number, peer.address)) { start(.channel(number, peer.address), now: now) }
    }
  }
}
