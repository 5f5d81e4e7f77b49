internal import NIOHTTP1
internal import Pairing
internal import Server
internal import Signaling
internal import Synchronization

/// Finds out which child is at an address.
enum ChildProbe {
  /// The id that follows from the public key of the TLS certificate there. Whether it is a child is not proven.
  ///
  /// - Throws: `FindingError.nobodyAt`.
  static func id(at address: ChildAddress) async throws(FindingError) -> String {
    let seen = Mutex<String?>(nil)
    let trust = HTTPTrust.firstUse { key in
      seen.withLock { $0 = IdentityKey.id(sha256: key) }
      return true
    }
    do {
      try await HTTPCalls.with(address.origin, trust: trust) { calls in
        _ = try await calls.send(HTTPClientRequest(.GET, HTTPURL("\(address.origin)/healthz")))
      }
    } catch {
      throw .nobodyAt(address, reason: "\(error)")
    }
    guard let id = seen.withLock({ $0 }) else { throw .nobodyAt(address, reason: "it shows no certificate") }
    return id
  }
}
