internal import FoundationEssentials
public import Pairing

/// The latest date the clock is known to have had: `clock.json` in the state directory. INTERFACES.md, "Files".
public struct ClockStore: Sendable {
  private let store: JSONStore

  private struct Content: Codable {
    var version = 1
    var latest: Date
  }

  /// - Parameter file: in the state directory. It is not accessed yet.
  public init(file: AtomicFile) {
    store = JSONStore(file: file, version: 1)
  }

  /// The stored date; nil if there is none yet. Throws `StoreError.file`, `.damaged` or `.newerVersion`.
  public func load() throws(StoreError) -> UnixTime? {
    try store.load(Content.self).map { UnixTime(date: $0.latest) }
  }

  /// Replaces the stored date. Throws `StoreError.file`; the old date is kept then.
  public func save(_ date: UnixTime) throws(StoreError) {
    try store.save(Content(latest: date.date))
  }
}
