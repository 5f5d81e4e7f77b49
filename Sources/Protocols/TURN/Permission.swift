internal import Wire

/// Whether the server relays for one IP address of peers. RFC 8656 section 9.
struct Permission: Sendable {
  enum State: Sendable {
    /// CreatePermission or ChannelBind is under way, or waits for the allocation.
    case wanted
    /// `refreshAt` is nil while it is being refreshed.
    case granted(refreshAt: Instant?, expiresAt: Instant)
    case refused(until: Instant)
  }

  /// As it was first asked for; of the address only the IP counts.
  let peer: TransportAddress
  var state: State
  var lastUsedAt: Instant

  var ip: IPAddress { peer.ip }

  var deadline: Instant? {
    switch state {
    case .wanted: nil
    case .granted(let refreshAt, let expiresAt): refreshAt ?? expiresAt
    case .refused(let until): until
    }
  }

  var isGranted: Bool {
    if case .granted = state { true } else { false }
  }

  var isRefused: Bool {
    if case .refused = state { true } else { false }
  }
}

/// The permissions of an allocation: few, and looked at for requests and indications only.
struct PermissionTable: Sendable {
  private(set) var all: [Permission] = []

  subscript(ip: IPAddress) -> Permission? {
    get { all.first { $0.ip == ip } }
    set {
      if let index = all.firstIndex(where: { $0.ip == ip }) {
        if let newValue { all[index] = newValue } else { all.remove(at: index) }
      } else if let newValue {
        all.append(newValue)
      }
    }
  }

  func isWanted(_ ip: IPAddress) -> Bool {
    self[ip].map { !$0.isRefused } ?? false
  }

  func isGranted(_ ip: IPAddress) -> Bool {
    self[ip]?.isGranted ?? false
  }

  mutating func setState(_ state: Permission.State, of ip: IPAddress) {
    if let index = all.firstIndex(where: { $0.ip == ip }) { all[index].state = state }
  }

  mutating func markUsed(_ ip: IPAddress, at now: Instant) {
    if let index = all.firstIndex(where: { $0.ip == ip }) { all[index].lastUsedAt = now }
  }

  /// The one that was used longest ago makes room.
  mutating func makeRoom(limit: Int) {
    guard all.count >= limit, let index = all.indices.min(by: { all[$0].lastUsedAt < all[$1].lastUsedAt }) else {
      return
    }
    all.remove(at: index)
  }
}
