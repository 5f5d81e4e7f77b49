internal import Wire

/// The connections of a room server by address, and which of them gives way when all places of its kind are taken. What one
/// address has most of goes first, so that whoever fills the places loses them itself. While places are free nobody is refused:
/// many families can be behind one address (RFC 6888).
struct RoomPlaces: Sendable {
  enum Standing: Sendable {
    /// Nobody has vouched for it.
    case stranger
    case vouched
    /// A host elsewhere that has proven its key.
    case host(isKnown: Bool)
  }

  private struct Place: Sendable {
    var address: IPAddress?
    var room = ""
  }

  /// Connections of one standing.
  private struct Shares: Sendable {
    private(set) var places: [RoomConnectionID: Place] = [:]
    /// Those that came to it first are first.
    private(set) var byAddress: [IPAddress?: [RoomConnectionID]] = [:]

    mutating func insert(_ id: RoomConnectionID, _ place: Place) {
      places[id] = place
      byAddress[place.address, default: []].append(id)
    }

    @discardableResult
    mutating func remove(_ id: RoomConnectionID) -> Place? {
      guard let place = places.removeValue(forKey: id) else { return nil }
      byAddress[place.address]?.removeAll { $0 == id }
      if byAddress[place.address]?.isEmpty ?? false { byAddress[place.address] = nil }
      return place
    }

    func count(at address: IPAddress?) -> Int { byAddress[address]?.count ?? 0 }
  }

  /// Whether the addresses of one IPv6 network count as one: on the Internet a household has 2^64. In a home's network they
  /// would be everybody's.
  private let countsNetworks: Bool
  private var strangers = Shares()
  private var vouched = Shares()
  private var newHosts = Shares()
  private var knownHosts = Shares()

  init(countsNetworks: Bool) {
    self.countsNetworks = countsNetworks
  }

  /// A new connection is a stranger's.
  mutating func enter(_ id: RoomConnectionID, from address: IPAddress?) {
    strangers.insert(id, Place(address: share(of: address)))
  }

  /// The connection is more than a stranger's now, or a host is known.
  mutating func raise(_ id: RoomConnectionID, to standing: Standing, in room: String) {
    guard var place = remove(id) else { return }
    place.room = room
    switch standing {
    case .stranger: strangers.insert(id, place)
    case .vouched: vouched.insert(id, place)
    case .host(isKnown: false): newHosts.insert(id, place)
    case .host(isKnown: true): knownHosts.insert(id, place)
    }
  }

  mutating func leave(_ id: RoomConnectionID) { _ = remove(id) }

  private mutating func remove(_ id: RoomConnectionID) -> Place? {
    strangers.remove(id) ?? vouched.remove(id) ?? newHosts.remove(id) ?? knownHosts.remove(id)
  }

  func share(of address: IPAddress?) -> IPAddress? { countsNetworks ? address?.network : address }

  /// What the connection's places are counted by.
  func address(of id: RoomConnectionID) -> IPAddress? {
    (strangers.places[id] ?? vouched.places[id] ?? newHosts.places[id] ?? knownHosts.places[id])?.address
  }

  // MARK: - Strangers

  func isStranger(_ id: RoomConnectionID) -> Bool { strangers.places[id] != nil }

  var allStrangers: some Collection<RoomConnectionID> { strangers.places.keys }

  /// The oldest stranger of an address that has as many as it may have; nil while it has fewer.
  func oldestStranger(from address: IPAddress?, maximum: Int) -> RoomConnectionID? {
    let ours = strangers.byAddress[share(of: address)] ?? []
    return ours.count >= maximum ? ours.first : nil
  }

  /// The oldest stranger of the address that has most; nil without any.
  var oldestStranger: RoomConnectionID? {
    // Hash order must not decide between addresses with the same count.
    let most = strangers.byAddress.values.map(\.count).max() ?? 0
    return strangers.byAddress.values.lazy.filter { $0.count == most }.compactMap(\.first).min { $0.number < $1.number }
  }

  // MARK: - Clients that a host has vouched for

  /// The newest of the address with most of them, when there are more than `maximum`. Between addresses that have as many, the
  /// room with more loses one.
  func surplusVouched(maximum: Int) -> RoomConnectionID? {
    guard vouched.places.count > maximum else { return nil }
    var byRoom: [String: Int] = [:]
    for place in vouched.places.values { byRoom[place.room, default: 0] += 1 }
    return vouched.places.max { one, other in
      (vouched.count(at: one.value.address), byRoom[one.value.room] ?? 0, one.key.number)
        < (vouched.count(at: other.value.address), byRoom[other.value.room] ?? 0, other.key.number)
    }?.key
  }

  // MARK: - Hosts elsewhere

  private func hosts(at address: IPAddress?) -> Int { newHosts.count(at: address) + knownHosts.count(at: address) }

  /// When all places of hosts are taken: the newest of the address that has most, and of those that are not known first.
  ///
  /// - Parameter id: who wants a place. One that is known gets that of one that is not; others get one of an address that has
  ///   more than theirs would have then, and one that is known only of an address that has more than half of all.
  /// - Returns: nil when it has to go itself.
  func hostGivingWay(to id: RoomConnectionID, isKnown: Bool) -> RoomConnectionID? {
    if isKnown, !newHosts.places.isEmpty { return newestOfMost(newHosts) }
    let own = hosts(at: address(of: id))
    if let newest = newestOfMost(isKnown ? knownHosts : newHosts), hosts(at: address(of: newest)) > own + 1 {
      return newest
    }
    // Who makes keys up needs only patience for them to be known.
    let places = newHosts.places.count + knownHosts.places.count
    guard let newest = newestOfMost(knownHosts), case let most = hosts(at: address(of: newest)), most > own + 1,
      2 * most > places
    else { return nil }
    return newest
  }

  private func newestOfMost(_ shares: Shares) -> RoomConnectionID? {
    let most = shares.byAddress.max { one, other in
      (hosts(at: one.key), one.value.last?.number ?? 0) < (hosts(at: other.key), other.value.last?.number ?? 0)
    }
    return most?.value.last
  }
}
