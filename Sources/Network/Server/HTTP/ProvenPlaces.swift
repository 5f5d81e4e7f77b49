internal import Wire

/// The places of connections that have shown a credential, counted by credential, and the addresses where they have been.
///
/// A credential has a few places, whose newest connections keep them: of a device that reconnects, the oldest are dead. Tokens
/// and guests together leave some places to paired parents, and all of them leave some to newcomers, who have no credential
/// yet. When places run short, the credential with most of them gives one to a credential that has fewer.
struct ProvenPlaces {
  typealias ID = ConnectionTable.ID

  private struct Holding {
    var credential: ConnectionCredential
    /// The oldest first.
    var connections: [ID] = []
    /// The addresses of the last proofs, with a number that grows with each proof; as many as connections at most.
    var addresses: [(address: IPAddress, proof: UInt64)] = []

    var isEmpty: Bool { connections.isEmpty && addresses.isEmpty }
  }

  /// Never anybody's: newcomers, whoever pairs, and health probes.
  private let forNewcomers: Int
  /// Neither a token's nor a guest's.
  private let forParents: Int
  private let places: Int
  private let knownAddresses: Int
  private var holdings: [String: Holding] = [:]
  private var credentialOf: [ID: String] = [:]
  /// Places of tokens and guests.
  private var guests = 0
  /// How many credentials remember each address.
  private var known: [IPAddress: Int] = [:]
  private var remembered = 0
  private var proofs: UInt64 = 0

  init(places: Int, knownAddresses: Int) {
    self.places = places
    self.knownAddresses = knownAddresses
    forNewcomers = max(1, min(32, places / 8))
    forParents = min(64, places / 4)
  }

  var credentials: [String] { Array(holdings.keys) }

  /// Nil for a connection without a place.
  func credential(of id: ID) -> String? { credentialOf[id] }

  /// Whether somebody with a credential has been at this address.
  func isKnown(_ address: IPAddress?) -> Bool { address.map { known[$0] != nil } ?? false }

  /// A connection has shown its credential.
  ///
  /// - Returns: whether it has a place now, and the connections that have lost theirs.
  mutating func insert(
    _ id: ID, of credential: ConnectionCredential, from address: IPAddress?
  ) -> (hasPlace: Bool, lost: [ID]) {
    if let before = credentialOf[id], before != credential.id { remove(id) }
    holdings[credential.id, default: Holding(credential: credential)].credential = credential
    remember(address, of: credential)
    if credentialOf[id] == credential.id { return (true, []) }
    var lost: [ID] = []
    if held(by: credential.id) >= credential.maximumConnections {
      lost += takeOldest(of: credential.id)
    } else if isFull(for: credential) {
      guard let most = mostCrowded(for: credential),
        held(by: most) > held(by: credential.id) + 1 || isBelow(most, credential)
      else {
        forgetIfEmpty(credential.id)
        return (false, [])
      }
      lost += takeOldest(of: most)
    }
    holdings[credential.id, default: Holding(credential: credential)].connections.append(id)
    credentialOf[id] = credential.id
    if !credential.isParent { guests += 1 }
    return (true, lost)
  }

  /// The connection is gone. Others are ignored.
  mutating func remove(_ id: ID) {
    guard let name = credentialOf.removeValue(forKey: id) else { return }
    holdings[name]?.connections.removeAll { $0 == id }
    if holdings[name]?.credential.isParent == false { guests -= 1 }
    forgetIfEmpty(name)
  }

  /// - Parameter current: nil for a credential that no longer counts.
  /// - Returns: the connections that have lost their places.
  mutating func review(_ current: (_ credential: String) -> ConnectionCredential?) -> [ID] {
    var lost: [ID] = []
    for name in credentials {
      let now = current(name)
      let maximum = now?.maximumConnections ?? 0
      while held(by: name) > maximum { lost += takeOldest(of: name) }
      guard let now else {
        for (address, _) in holdings[name]?.addresses ?? [] { forget(address) }
        holdings[name] = nil
        continue
      }
      if holdings[name]?.credential.isParent != now.isParent { guests += (now.isParent ? -1 : 1) * held(by: name) }
      holdings[name]?.credential = now
    }
    return lost
  }

  // MARK: - Places

  private func held(by name: String) -> Int { holdings[name]?.connections.count ?? 0 }

  private func isFull(for credential: ConnectionCredential) -> Bool {
    let shared = places - forNewcomers
    return credentialOf.count >= shared || !credential.isParent && guests >= max(1, shared - forParents)
  }

  /// The credential that has to give a place: of tokens and guests the one with most, for a parent another parent without any.
  private func mostCrowded(for credential: ConnectionCredential) -> String? {
    let others = holdings.values.filter { !$0.connections.isEmpty && $0.credential.id != credential.id }
    let guests = others.filter { !$0.credential.isParent }
    let candidates = guests.isEmpty && credential.isParent ? others : guests
    // Ids decide between equals, so that hash order does not.
    let most = candidates.max { ($0.connections.count, $0.credential.id) < ($1.connections.count, $1.credential.id) }
    return most?.credential.id
  }

  /// Whether this credential gives way to that one, however few places it has.
  private func isBelow(_ name: String, _ credential: ConnectionCredential) -> Bool {
    credential.isParent && holdings[name]?.credential.isParent == false
  }

  private mutating func takeOldest(of name: String) -> [ID] {
    guard let oldest = holdings[name]?.connections.first else { return [] }
    remove(oldest)
    return [oldest]
  }

  // MARK: - Addresses

  private mutating func remember(_ address: IPAddress?, of credential: ConnectionCredential) {
    guard let address, var holding = holdings[credential.id] else { return }
    proofs += 1
    if let index = holding.addresses.firstIndex(where: { $0.address == address }) {
      holding.addresses.remove(at: index)
    } else {
      known[address, default: 0] += 1
      remembered += 1
    }
    holding.addresses.append((address, proofs))
    if holding.addresses.count > credential.maximumConnections { forget(holding.addresses.removeFirst().address) }
    holdings[credential.id] = holding
    guard remembered > knownAddresses else { return }
    let oldest = holdings.min { ($0.value.addresses.first?.proof ?? .max) < ($1.value.addresses.first?.proof ?? .max) }
    guard let name = oldest?.key, let first = holdings[name]?.addresses.first else { return }
    holdings[name]?.addresses.removeFirst()
    forget(first.address)
    forgetIfEmpty(name)
  }

  private mutating func forget(_ address: IPAddress) {
    let left = (known[address] ?? 1) - 1
    known[address] = left > 0 ? left : nil
    remembered -= 1
  }

  private mutating func forgetIfEmpty(_ name: String) {
    if holdings[name]?.isEmpty ?? false { holdings[name] = nil }
  }
}
