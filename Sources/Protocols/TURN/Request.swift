internal import STUN
internal import Wire

/// A request that waits for its response.
struct Request: Sendable {
  enum Purpose: Hashable, Sendable {
    case allocate
    case refresh
    /// REFRESH with lifetime 0.
    case close
    case permission(IPAddress)
    case channel(UInt16, TransportAddress)

    var method: STUNMethod {
      switch self {
      case .allocate: .allocate
      case .refresh, .close: .refresh
      case .permission: .createPermission
      case .channel: .channelBind
      }
    }
  }

  let purpose: Purpose
  var transaction: STUNClientTransaction
  /// With our name and integrity.
  let isAuthenticated: Bool
  /// How many nonces it has had before.
  let nonces: Int
  /// A refusal without integrity, which anybody on the way could have forged: it counts when nothing better comes in
  /// time. RFC 8489 section 9.2.5.
  var unprovenRefusal: TURNFailure?
}

extension TURNClient {
  mutating func start(_ purpose: Request.Purpose, nonces: Int = 0, now: Instant) {
    let id = STUNTransactionID.random(using: &random)
    var message = STUNMessage(.request, purpose.method, transactionID: id)
    switch purpose {
    case .allocate:
      // UDP. RFC 8656 section 18.8.
      message.attributes.append(.requestedTransport(17))
      // Without it the server takes IPv4, also one that does not know the attribute.
      if configuration.wantsIPv6 { message.attributes.append(.requestedAddressFamily(isIPv6: true)) }
    case .refresh: break
    case .close: message.attributes.append(.lifetime(0))
    case .permission(let ip):
      // The port counts for nothing. RFC 8656 section 10.1.
      message.attributes.append(.xorPeerAddress(TransportAddress(ip: ip, port: 0)))
    case .channel(let number, let peer): message.attributes += [.channelNumber(number), .xorPeerAddress(peer)]
    }
    if let challenge {
      message.attributes += [
        .username(configuration.credentials.username), .realm(challenge.realm), .nonce(challenge.nonce),
      ]
    }
    let bytes = message.encode(key: challenge?.key, fingerprint: false, hashes: hashes)
    let retransmission: STUNRetransmission =
      if configuration.server.transport.isStream {
        .once(timeout: purpose == .close ? .seconds(2) : configuration.streamTimeout)
      } else {
        purpose == .close ? configuration.closing : configuration.retransmission
      }
    requests.append(
      Request(
        purpose: purpose,
        transaction: STUNClientTransaction(id: id, request: bytes, retransmission: retransmission, now: now),
        isAuthenticated: challenge != nil, nonces: nonces))
    transmit(bytes, now: now)
  }

  /// Retransmits, and starts again what got no response.
  mutating func runRequests(now: Instant) {
    var overdue: [Request] = []
    for index in requests.indices {
      switch requests[index].transaction.handleTimeout(now: now) {
      case .retransmit: transmit(requests[index].transaction.request, now: now)
      case .timedOut: overdue.append(requests[index])
      case nil: break
      }
    }
    guard !overdue.isEmpty else { return }
    requests.removeAll { request in overdue.contains { $0.transaction.id == request.transaction.id } }
    for request in overdue { giveUp(request, now: now) }
  }

  private mutating func giveUp(_ request: Request, now: Instant) {
    if case .ended = state { return }
    if let refusal = request.unprovenRefusal { return refused(request, refusal, now: now) }
    switch request.purpose {
    case .allocate: end(.timedOut)
    case .close: end(.closed)
    // Until the allocation has expired: an interruption of minutes does not end it.
    case .refresh: start(.refresh, now: now)
    case .permission(let ip): if permissions.isWanted(ip) { start(request.purpose, now: now) }
    case .channel(_, let peer): if peers[peer] != nil { start(request.purpose, now: now) }
    }
  }

  /// Whether one for this is under way.
  func isUnderWay(_ purpose: Request.Purpose) -> Bool {
    requests.contains { $0.purpose == purpose }
  }
}
