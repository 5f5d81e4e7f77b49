public import Control
public import Wire

/// `away.json` in the parent's state directory: how each child is reached from elsewhere, as it has reported over `control`.
/// It holds credentials of TURN servers and meeting places.
public struct AwayStore: Sendable {
  /// Beyond this, the oldest are dropped.
  public static let maximum = 64
  /// Of one child; further ones are dropped.
  public static let maximumServers = 8
  public static let maximumAddresses = 4
  public static let maximumMeetings = 4

  private struct Entry: Codable, Hashable {
    var child: String
    var iceServers: [ICEServerDocument] = []
    /// `host:port`, the latest first.
    var addresses: [String] = []
    /// Nil in files of earlier versions.
    var meetings: [MeetingDocument]?
    /// Our own address when the child was last met at a meeting place; nil once it was reached at home.
    var metFrom: String?

    var isEmpty: Bool { iceServers.isEmpty && addresses.isEmpty && meetings?.isEmpty ?? true && metFrom == nil }
  }

  private struct Content: Codable {
    var children: [Entry]
  }

  private var entries: [Entry]
  private let store: JSONStore<Content>

  /// Opens the store. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public init(file: AtomicFile) throws(StoreError) {
    store = JSONStore(file: file)
    entries = try store.load()?.children ?? []
  }

  /// What the child with this id named last; empty if it never has.
  public func servers(of child: String) -> [ICEServerDocument] { entry(of: child).iceServers }

  /// Where the child was reached from elsewhere: `host:port`, the latest first.
  public func addresses(of child: String) -> [String] { entry(of: child).addresses }

  /// Where the child is met; empty if it never reported any.
  public func meetings(of child: String) -> [MeetingDocument] { entry(of: child).meetings ?? [] }

  /// Replaces servers and meeting places. Throws `StoreError.file`; nothing has changed then.
  public mutating func remember(
    _ servers: [ICEServerDocument], meetings: [MeetingDocument], of child: String
  ) throws(StoreError) {
    var entry = entry(of: child)
    entry.iceServers = Array(servers.prefix(Self.maximumServers))
    entry.meetings = meetings.isEmpty ? nil : Array(meetings.prefix(Self.maximumMeetings))
    try save(entry)
  }

  /// Adds an address, as the latest. Throws `StoreError.file`; nothing has changed then.
  public mutating func remember(address: String, of child: String) throws(StoreError) {
    var entry = entry(of: child)
    entry.addresses = Array(([address] + entry.addresses.filter { $0 != address }).prefix(Self.maximumAddresses))
    try save(entry)
  }

  /// Our own address when the child was last met at a meeting place; nil if it was reached otherwise since.
  public func metFrom(of child: String) -> String? { entry(of: child).metFrom }

  /// Replaces that. Throws `StoreError.file`; nothing has changed then.
  public mutating func remember(metFrom address: String?, of child: String) throws(StoreError) {
    var entry = entry(of: child)
    entry.metFrom = address
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
    if !entry.isEmpty { changed.append(entry) }
    changed.removeFirst(max(0, changed.count - Self.maximum))
    try store.save(Content(children: changed))
    entries = changed
  }
}
