internal import Wire

/// Maps source addresses to peers. STUN requests name their peer; everything else is identified only by its source
/// address.
///
/// A captured request can be replayed from any source address, so answering one proves little: it can neither fill a
/// peer's table permanently nor take an address away from the peer whose media goes there.
struct PeerAddressTable {
  private struct Entry {
    var owner: PeerID
    /// Another peer that got a request from this address, but has not yet proven that its own remote end is there.
    var claimant: PeerID?
  }

  private var entries: [TransportAddress: Entry] = [:]
  /// Oldest first.
  private var addresses: [PeerID: [TransportAddress]] = [:]

  /// Per peer. A browser uses a handful; any more are forged.
  static let maximumAddresses = 64

  func owner(of address: TransportAddress) -> PeerID? { entries[address]?.owner }

  func claimant(of address: TransportAddress) -> PeerID? { entries[address]?.claimant }

  /// Makes `peer` the owner of an address, whoever owned it before, and the address the peer's newest. If there are too
  /// many, the oldest is dropped, but never `selected`, which carries the peer's media.
  mutating func assign(_ address: TransportAddress, to peer: PeerID, keeping selected: TransportAddress?) {
    if let entry = entries[address] { addresses[entry.owner]?.removeAll { $0 == address } }
    entries[address] = Entry(owner: peer)
    addresses[peer, default: []].append(address)
    guard let own = addresses[peer], own.count > Self.maximumAddresses,
      let oldest = own.firstIndex(where: { $0 != selected })
    else { return }
    entries[own[oldest]] = nil
    addresses[peer]?.remove(at: oldest)
  }

  /// Notes that another peer's address may belong to this peer. The last claim counts.
  mutating func claim(_ address: TransportAddress, by peer: PeerID) {
    guard let entry = entries[address], entry.owner != peer else { return }
    entries[address]?.claimant = peer
  }

  /// Releases a peer's addresses.
  mutating func forget(_ peer: PeerID) {
    for address in addresses.removeValue(forKey: peer) ?? [] { entries[address] = nil }
  }
}
