internal import Wire

/// Which peer a datagram is for, by where it comes from. Requests of STUN name their peer; everything else is known by
/// its source address alone.
///
/// A request can be captured and repeated from any source address, so being answered proves little: it neither fills a
/// peer's table for good nor takes an address away from the peer whose media goes there.
struct PeerAddressTable {
  private struct Entry {
    var owner: PeerID
    /// A peer that was asked from this address, too, and has not shown yet that its own peer is there.
    var claimant: PeerID?
  }

  private var entries: [TransportAddress: Entry] = [:]
  /// The oldest first.
  private var addresses: [PeerID: [TransportAddress]] = [:]

  /// For one peer. A browser shows a handful; more are forged.
  static let maximumAddresses = 64

  func owner(of address: TransportAddress) -> PeerID? { entries[address]?.owner }

  func claimant(of address: TransportAddress) -> PeerID? { entries[address]?.claimant }

  /// Makes `peer` the owner of an address, whoever had it, and the address the newest of the peer's. When there are too
  /// many, the oldest goes; never `selected`, which carries the peer's media.
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

  /// Notes that an address that belongs to another peer may be this one's. The last one to say so counts.
  mutating func claim(_ address: TransportAddress, by peer: PeerID) {
    guard let entry = entries[address], entry.owner != peer else { return }
    entries[address]?.claimant = peer
  }

  /// Lets go of a peer's addresses.
  mutating func forget(_ peer: PeerID) {
    for address in addresses.removeValue(forKey: peer) ?? [] { entries[address] = nil }
  }
}
