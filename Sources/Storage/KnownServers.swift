public import FoundationEssentials

/// The certificate that a server showed when it was first asked. INTERFACES.md names no file for it, since pairing will
/// stand on keys; this is for servers that are watched by URL and token.
public struct KnownServer: Codable, Hashable, Sendable {
  /// `https://192.0.2.7:8443`.
  public let origin: String
  /// SHA-256 of the certificate, 64 lower-case hexadecimal digits.
  public let certificateSHA256: String
  public let firstSeenAt: Date
}

/// `known-servers.json` in the parent's state directory: trust on first use.
public struct KnownServers: Sendable {
  /// The oldest ones go when there are more.
  public static let maximum = 256

  public private(set) var servers: [KnownServer]
  private let store: JSONStore

  private struct Content: Codable {
    var version = 1
    var servers: [KnownServer]
  }

  /// Opens the store. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public init(file: AtomicFile) throws(StoreError) {
    store = JSONStore(file: file, version: 1)
    servers = try store.load(Content.self)?.servers ?? []
  }

  /// What `origin` showed when it was first asked; nil when it never was.
  public func certificate(of origin: String) -> String? {
    servers.first { $0.origin == origin }?.certificateSHA256
  }

  /// Remembers a server and saves the store. Throws `StoreError.file`; nothing has changed then.
  public mutating func remember(_ origin: String, certificateSHA256: String, now: Date = Date()) throws(StoreError) {
    var changed = servers.filter { $0.origin != origin }
    changed.append(KnownServer(origin: origin, certificateSHA256: certificateSHA256, firstSeenAt: now))
    changed.removeFirst(max(0, changed.count - Self.maximum))
    try store.save(Content(servers: changed))
    servers = changed
  }

  /// Forgets a server and saves the store; false if it was not known. Throws `StoreError.file`.
  @discardableResult
  public mutating func forget(_ origin: String) throws(StoreError) -> Bool {
    let changed = servers.filter { $0.origin != origin }
    guard changed.count < servers.count else { return false }
    try store.save(Content(servers: changed))
    servers = changed
    return true
  }
}
