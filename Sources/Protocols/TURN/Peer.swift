internal import Wire

/// One transport address to which we send through the relay.
struct Peer: Sendable {
  enum Route: Sendable {
    /// ChannelBind is under way.
    case binding(UInt16)
    /// By ChannelData. `refreshAt` is nil while it is being bound again.
    case bound(UInt16, refreshAt: Instant?, expiresAt: Instant)
    /// The server gives it no channel: by Send indications. Asked again from `retryAt` on.
    case unbound(retryAt: Instant)
    case refused(until: Instant)
  }

  let address: TransportAddress
  var route: Route
  /// When something was last sent to it.
  var lastUsedAt: Instant
  /// What waits for the permission or the channel, oldest first.
  var waiting: [[UInt8]] = []

  var deadline: Instant? {
    if case .bound(_, let refreshAt, let expiresAt) = route { refreshAt ?? expiresAt } else { nil }
  }

  var isRefused: Bool {
    if case .refused = route { true } else { false }
  }
}

/// The peers of an allocation, by address and by channel.
struct PeerTable: Sendable {
  /// Unordered.
  var all: [Peer] = []
  private var places: [TransportAddress: Int] = [:]
  /// Who has the channel.
  private(set) var owners: [UInt16: TransportAddress] = [:]
  private var nextNumber = ChannelData.numbers.lowerBound
  /// Channels that have been given up: a number may go to another peer, and a peer may get another number, only when the
  /// server has forgotten the two. RFC 8656 section 12.
  private var resting: [TransportAddress: (number: UInt16, until: Instant)] = [:]
  private static let maximumResting = 1024

  func place(of address: TransportAddress) -> Int? {
    places[address]
  }

  subscript(address: TransportAddress) -> Peer? {
    places[address].map { all[$0] }
  }

  mutating func update(_ address: TransportAddress, _ change: (inout Peer) -> Void) {
    guard let place = places[address] else { return }
    change(&all[place])
  }

  /// The new peer's place.
  mutating func insert(_ peer: Peer) -> Int {
    all.append(peer)
    places[peer.address] = all.count - 1
    return all.count - 1
  }

  /// Its channel rests.
  mutating func remove(_ address: TransportAddress, now: Instant) {
    guard let place = places.removeValue(forKey: address) else { return }
    let peer = all[place]
    let last = all.removeLast()
    if place < all.count {
      all[place] = last
      places[last.address] = place
    }
    switch peer.route {
    case .binding(let number):
      rest(number, of: address, until: now + TURNClientConfiguration.channelLifetime)
    case .bound(let number, _, let expiresAt): rest(number, of: address, until: expiresAt)
    case .unbound, .refused: break
    }
  }

  /// The one to which nothing was sent for longest makes room.
  mutating func makeRoom(limit: Int, now: Instant) {
    guard all.count >= limit, let oldest = all.min(by: { $0.lastUsedAt < $1.lastUsedAt }) else { return }
    remove(oldest.address, now: now)
  }

  // MARK: - Channels

  /// A number for a peer; nil when there is none to be had.
  mutating func takeNumber(for address: TransportAddress, now: Instant) -> UInt16? {
    if let own = resting.removeValue(forKey: address) {
      owners[own.number] = address
      return own.number
    }
    resting = resting.filter { $0.value.until > now }
    guard resting.count < Self.maximumResting else { return nil }
    let taken = Set(resting.values.map(\.number))
    for _ in ChannelData.numbers {
      let number = nextNumber
      nextNumber = number == ChannelData.numbers.upperBound ? ChannelData.numbers.lowerBound : number + 1
      if owners[number] == nil, !taken.contains(number) {
        owners[number] = address
        return number
      }
    }
    return nil
  }

  /// The channel has lapsed, or was refused.
  mutating func rest(_ number: UInt16, of address: TransportAddress, until expiry: Instant) {
    owners[number] = nil
    resting[address] = (number, expiry + TURNClientConfiguration.channelRest)
  }
}
