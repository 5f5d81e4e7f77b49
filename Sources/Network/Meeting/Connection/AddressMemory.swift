internal import Server
internal import Wire

/// The addresses that this machine had when a connection was made, where the connection's own is not known.
struct AddressMemory {
  private var known = Set(LocalAddresses.current(includingLoopback: true))

  /// Whether one of them is gone, so that the connection may be dead.
  mutating func loses(_ own: Set<IPAddress>) -> Bool {
    let isLoss = !known.isSubset(of: own)
    known = own
    return isLoss
  }
}
