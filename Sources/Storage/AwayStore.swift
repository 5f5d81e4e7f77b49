/// `away.json` in the parent's state directory: how each child is reached from elsewhere, as it has told over `control`.
/// It holds credentials of TURN servers.
public struct AwayStore: Sendable {
  /// Beyond this, the oldest are dropped.
  public static let maximum = 64
  /// Of one child; further ones are dropped.
  public static let maximumServers = 8
  public static let maximumAddresses = 4

  /// A STUN or TURN server, as W3C RTCIceServer.
  public struct Server: Codable, Hashable, Sendable {
    public var urls: [String]
    public var username: String?
    public var credential: String?

    public init(urls: [String], username: String?, credential: String?) {
      self.urls = urls
      self.username = username
      self.credential = credential
    }
  }

  private struct Entry: Codable, Hashable {
    var child: String
    var iceServers: [Server] = []
    /// `host:port`, the latest first.
    var addresses: [String] = []
  }

  private struct Content: Codable {
    var version = 1
    var children: [Entry]
  }

  private var entries: [Entry]
  private let store: JSONStore

  /// Opens the store. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public init(file: AtomicFile) throws(StoreError) {
    store = JSONStore(file: file, version: 1)
    entries = try store.load(Content.self)?.children ?? []
  }

  /// What the child with this id named last; empty if it never has.
  public func servers(of child: String) -> [Server] { entry(of: child).iceServers }

  /// Where the child was reached from elsewhere: `host:port`, the latest first.
  public func addresses(of child: String) -> [String] { entry(of: child).addresses }

  /// Replaces the servers. Throws `StoreError.file`; nothing has changed then.
  public mutating func remember(_ servers: [Server], of child: String) throws(StoreError) {
    var entry = entry(of: child)
    entry.iceServers = Array(servers.prefix(Self.maximumServers))
    try save(entry)
  }

  /// Adds an address, as the latest. Throws `StoreError.file`; nothing has changed then.
  public mutating func remember(address: String, of child: String) throws(StoreError) {
    var entry = entry(of: child)
    entry.addresses = Array(([address] + entry.addresses.filter { $0 != address }).prefix(Self.maximumAddresses))
    try save(entry)
  }

  /// Removes everything of the child. Throws `StoreError.file`; nothing has changed then.
  public mutating func forget(_ child: String) throws(StoreError) {
    try save(Entry(child: child))
  }

  private func entry(of child: String) -> Entry { entries.first { $0.child == child } ?? Entry(child: child) }

  private mutating func save(_ entry: Entry) throws(StoreError) {
    let child = entry.child
    guard entry != self.entry(of: child) else { return }
    var changed = entries.filter { $0.child != child }
    if !entry.iceServers.isEmpty || !entry.addresses.isEmpty { changed.append(entry) }
    changed.removeFirst(max(0, changed.count - Self.maximum))
    try store.save(Content(children: changed))
    entries = changed
  }
}
