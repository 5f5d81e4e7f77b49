public import FoundationEssentials

/// A server's key as seen at the first connection. Certificates are replaced, but the key stays. Used for servers that
/// are watched by URL and token; paired children are recognised by their identity keys.
public struct KnownServer: Codable, Hashable, Sendable {
  /// `https://192.0.2.7:8443`.
  public let origin: String
  /// SHA-256 of its public key (SubjectPublicKeyInfo), 64 lower-case hexadecimal digits.
  public let keySHA256: String
  public let firstSeenAt: Date
}

/// `known-servers.json` in the parent's state directory: trust on first use.
public struct KnownServers: Sendable {
  /// Beyond this, the oldest are dropped.
  public static let maximum = 256

  public private(set) var servers: [KnownServer]
  private let store: JSONStore<Content>

  private struct Content: Codable {
    var servers: [KnownServer]
  }

  /// Opens the store. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public init(file: AtomicFile) throws(StoreError) {
    store = JSONStore(file: file)
    servers = try store.load()?.servers ?? []
  }

  /// SHA-256 of the key that `origin` had at the first connection; nil if there was none.
  public func key(of origin: String) -> String? {
    servers.first { $0.origin == origin }?.keySHA256
  }

  /// Adds or replaces a server and saves the store. Throws `StoreError.file`; nothing has changed then.
  public mutating func remember(_ origin: String, keySHA256: String, now: Date = Date()) throws(StoreError) {
    var changed = servers.filter { $0.origin != origin }
    changed.append(KnownServer(origin: origin, keySHA256: keySHA256, firstSeenAt: now))
    changed.removeFirst(max(0, changed.count - Self.maximum))
    try store.save(Content(servers: changed))
    servers = changed
  }
}
