internal import NIOHTTP1
public import Wire

/// The proxies that are believed when they say for whom they stand. Nobody else is: a client could write what it likes.
public enum TrustedProxies: Sendable {
  /// Their connections begin with a `ProxyHeader`.
  case header(Set<IPAddress>)
  /// Their requests name the client in `X-Forwarded-For`.
  case field(Set<IPAddress>)

  /// The client of a request that one of the proxies has passed on; nil where it does not say.
  ///
  /// Each proxy adds the address that it was called from behind what came, which may be a client's invention: the last
  /// one that is no proxy of ours counts.
  static func client(of headers: HTTPHeaders, behind proxies: Set<IPAddress>) -> IPAddress? {
    for entry in headers[canonicalForm: "X-Forwarded-For"].reversed() {
      let text = String(entry)
      guard let client = IPAddress(text) ?? HostAndPort.split(text).flatMap({ IPAddress($0.host) }) else { return nil }
      if !proxies.contains(client) { return client }
    }
    return nil
  }
}
