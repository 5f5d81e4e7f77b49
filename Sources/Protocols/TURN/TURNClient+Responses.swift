internal import STUN
internal import Wire

extension TURNClient {
  mutating func handle(_ message: STUNMessage, now: Instant) {
    switch message.messageClass {
    case .request:
      droppedCount &+= 1
    case .indication:
      receiveIndication(message, now: now)
    case .successResponse, .errorResponse:
      handleResponse(message, now: now)
      reschedule()
    }
  }

  private mutating func handleResponse(_ message: STUNMessage, now: Instant) {
    guard
      let index = requests.firstIndex(where: {
        $0.transaction.id == message.transactionID && $0.purpose.method == message.method
      })
    else {
      droppedCount &+= 1
      return
    }
    let request = requests[index]
    let isAuthentic: Bool
    if let challenge, request.isAuthenticated, message.integrity != nil {
      guard message.verifyIntegrity(key: challenge.key, hashes: hashes) else {
        droppedCount &+= 1
        return
      }
      isAuthentic = true
    } else {
      isAuthentic = false
    }
    if message.messageClass == .successResponse {
      // RFC 8489 section 9.2.5. A server that asks for no credentials gives no proof either.
      guard isAuthentic || !request.isAuthenticated else {
        droppedCount &+= 1
        return
      }
      requests.remove(at: index)
      succeeded(request, message, now: now)
    } else {
      handleRefusal(message, of: request, at: index, isAuthentic: isAuthentic, now: now)
    }
  }

  // MARK: - Refusals

  private mutating func handleRefusal(
    _ message: STUNMessage, of request: Request, at index: Int, isAuthentic: Bool, now: Instant
  ) {
    guard let code = message.errorCode else {
      droppedCount &+= 1
      return
    }
    if code == 438 || code == 401 && !request.isAuthenticated {
      return takeChallenge(message, of: request, at: index, now: now)
    }
    var failure = TURNFailure(code: code, reason: message.errorReason ?? "")
    if code == 300 {
      // RFC 8489 section 14.15: of the same family.
      guard let address = message.alternateServer, address.ip.isIPv6 == configuration.server.address.ip.isIPv6,
        address.port != 0, !address.ip.isUnspecified
      else {
        droppedCount &+= 1
        return
      }
      failure = .redirected(to: address)
    }
    // Nobody injects into a stream, and before there is an allocation nothing can be broken.
    guard isAuthentic || configuration.server.transport.isStream || request.purpose == .allocate else {
      requests[index].unprovenRefusal = failure
      return
    }
    requests.remove(at: index)
    refused(request, failure, now: now)
  }

  /// A new nonce, with which the request is repeated. RFC 8489 section 9.2.5. What names another realm than the one that
  /// we have been asked for is not from our server.
  private mutating func takeChallenge(_ message: STUNMessage, of request: Request, at index: Int, now: Instant) {
    guard let nonce = message.nonce, !nonce.isEmpty,
      message.realm == nil || challenge == nil || message.realm == challenge?.realm
    else {
      droppedCount &+= 1
      return
    }
    guard request.nonces < configuration.maximumNonces else {
      droppedCount &+= 1
      // An allocation that exists is refreshed again when the request has run out of time.
      if request.purpose == .allocate {
        requests[index].unprovenRefusal = .serverMisbehaved("it does not accept its own nonces")
      }
      return
    }
    if challenge != nil {
      challenge?.nonce = nonce
    } else {
      guard let realm = message.realm else {
        droppedCount &+= 1
        return
      }
      let credentials = configuration.credentials
      let key = stunLongTermKey(
        username: credentials.username, realm: realm, password: credentials.password, hashes: hashes)
      challenge = Challenge(realm: realm, nonce: nonce, key: key)
    }
    requests.remove(at: index)
    start(request.purpose, nonces: request.nonces + 1, now: now)
  }

  /// What counts as the server's answer.
  mutating func refused(_ request: Request, _ failure: TURNFailure, now: Instant) {
    switch request.purpose {
    case .allocate, .refresh: end(failure)
    case .close: end(.closed)
    case .permission(let ip):
      guard let code = failure.peerCode else { return end(failure) }
      permissionRefused(ip, code: code, now: now)
    case .channel(_, let peer):
      guard let code = failure.peerCode else { return end(failure) }
      channelRefused(peer, code: code, now: now)
    }
  }

  // MARK: - Successes

  private mutating func succeeded(_ request: Request, _ message: STUNMessage, now: Instant) {
    switch (request.purpose, state) {
    case (.allocate, .allocating): allocated(message, now: now)
    case (.refresh, .allocated(var allocation)):
      guard let lifetime = Self.lifetime(of: message) else {
        return end(.serverMisbehaved("it gives the allocation no time"))
      }
      allocation.prolong(by: lifetime, now: now)
      state = .allocated(allocation)
    case (.close, .closing): end(.closed)
    case (.permission(let ip), .allocated): permissionGranted(ip, now: now)
    case (.channel(let number, let peer), .allocated): channelBound(number, to: peer, now: now)
    default: break
    }
  }

  private mutating func allocated(_ message: STUNMessage, now: Instant) {
    guard let relayed = message.relayedAddress, let mapped = message.mappedAddress, relayed.port != 0,
      !relayed.ip.isUnspecified, relayed.ip.isIPv6 == configuration.wantsIPv6
    else { return end(.serverMisbehaved("it gives no relayed address of the family")) }
    guard let lifetime = Self.lifetime(of: message) else {
      return end(.serverMisbehaved("it gives the allocation no time"))
    }
    var allocation = Allocation(relayed: relayed, mapped: mapped, expiresAt: now, refreshAt: nil, keepaliveAt: nil)
    allocation.prolong(by: lifetime, now: now)
    if !configuration.server.transport.isStream { allocation.keepaliveAt = now + configuration.keepaliveInterval }
    state = .allocated(allocation)
    emit(.allocated(relayed: relayed, mapped: mapped))
    for permission in permissions.all { start(.permission(permission.ip), now: now) }
  }

  private static func lifetime(of message: STUNMessage) -> Duration? {
    guard let seconds = message.lifetime else { return nil }
    let lifetime = Duration.seconds(Int64(seconds))
    guard lifetime >= TURNClientConfiguration.minimumLifetime else { return nil }
    return min(lifetime, TURNClientConfiguration.maximumLifetime)
  }

  /// Refreshes the allocation in time, and keeps the way to an idle server open.
  mutating func maintainAllocation(now: Instant) {
    guard case .allocated(var allocation) = state else { return }
    guard now < allocation.expiresAt else { return end(.timedOut) }
    if allocation.refreshAt.isDue(at: now) {
      allocation.refreshAt = nil
      start(.refresh, now: now)
    }
    if allocation.keepaliveAt.isDue(at: now) {
      if now - lastSentAt >= configuration.keepaliveInterval {
        // Answered by nobody. RFC 8489 section 2.
        let id = STUNTransactionID.random(using: &random)
        transmit(STUNMessage(.indication, transactionID: id).encode(fingerprint: false, hashes: hashes), now: now)
      }
      allocation.keepaliveAt = lastSentAt + configuration.keepaliveInterval
    }
    state = .allocated(allocation)
  }
}

extension TURNClient.Allocation {
  /// It is refreshed at half of its time, so that minutes without a network do not end it.
  fileprivate mutating func prolong(by lifetime: Duration, now: Instant) {
    expiresAt = now + lifetime
    refreshAt = now + lifetime / 2
  }
}

extension TURNFailure {
  /// The code of a refusal that concerns one peer; nil if it concerns the allocation.
  fileprivate var peerCode: Int? {
    switch self {
    case .refused(let code, _): code
    case .insufficientCapacity: 508
    case .quotaReached: 486
    case .familyNotSupported: 440
    case .unauthorized, .credentialsExpired, .wrongCredentials, .mismatch, .redirected, .timedOut, .transportLost,
      .serverMisbehaved, .closed:
      nil
    }
  }
}
