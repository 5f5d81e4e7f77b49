internal import NIOCore
internal import Synchronization
public import Wire

/// Where the house is, whatever addresses it has: what this machine reaches without a router, and the router itself as seen from
/// outside. A device with a global IPv6 address, and the router's outer one, look like anybody on the Internet otherwise.
public final class HouseAddresses: Sendable {
  private let mapped = Mutex<[IPAddress]>([])

  /// Those of two Internet lines and their changes.
  private static let maximum = 16

  public init() {}

  /// A STUN or TURN server has seen us at this address.
  public func add(mapped address: IPAddress) {
    mapped.withLock { known in
      guard !known.contains(address) else { return }
      known.append(address)
      if known.count > Self.maximum { known.removeFirst() }
    }
  }

  public func contains(_ address: IPAddress) -> Bool {
    if mapped.withLock({ $0.contains(address) }) { return true }
    return ((try? System.enumerateDevices()) ?? []).contains { device in
      guard let own = device.address?.transportAddress?.ip else { return false }
      // Without a mask it is a network of this one address.
      guard let mask = device.netmask?.transportAddress?.ip else { return own == address }
      return Self.isSameNetwork(own, address, mask: mask)
    }
  }

  /// A mask of zeros would be a network of everybody: a tunnel has one, perhaps.
  static func isSameNetwork(_ own: IPAddress, _ other: IPAddress, mask: IPAddress) -> Bool {
    switch (own, other, mask) {
    case (.v4(let own), .v4(let other), .v4(let mask)):
      return mask == 0 ? own == other : own & mask == other & mask
    case (.v6(let ownHigh, let ownLow), .v6(let high, let low), .v6(let maskHigh, let maskLow)):
      guard maskHigh != 0 else { return ownHigh == high && ownLow == low }
      return ownHigh & maskHigh == high & maskHigh && ownLow & maskLow == low & maskLow
    default:
      return false
    }
  }
}
