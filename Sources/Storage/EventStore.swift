public import Control
internal import Glibc

/// The event log on disk: `events/events.json` in the state directory, oldest first, each event as `events.get` returns it. INTERFACES.md, "Files".
///
/// Unlike the other stores, a damaged one does not stop the program, because nothing depends on it. It is moved aside.
public struct EventStore: Sendable {
  private let store: JSONStore

  private struct Content: Codable {
    var version = 1
    var events: [EventDocument]
  }

  /// - Parameter file: in the state directory's `events`.
  public init(file: AtomicFile) {
    store = JSONStore(file: file, version: 1)
  }

  /// The events of earlier runs. A file that cannot be understood is renamed, never overwritten.
  ///
  /// - Returns: `trouble` says where a damaged file is now.
  /// - Throws: `FileError` when the file cannot be read or renamed; it must not be written then.
  public func load() throws(FileError) -> (events: [EventDocument], trouble: StoreError?) {
    do throws(StoreError) {
      return (try store.load(Content.self)?.events ?? [], nil)
    } catch {
      if case .file(let error) = error { throw error }
      var aside = "\(store.file.path).unreadable"
      var number = 1
      while access(aside, F_OK) == 0 {
        number += 1
        aside = "\(store.file.path).unreadable-\(number)"
      }
      guard rename(store.file.path, aside) == 0 else { throw .last("rename", store.file.path) }
      return ([], error.moved(to: aside))
    }
  }

  /// Replaces the events. Throws `StoreError.file`; the old content is kept then.
  public func save(_ events: [EventDocument]) throws(StoreError) {
    try store.save(Content(events: events))
  }
}

extension StoreError {
  fileprivate func moved(to path: String) -> StoreError {
    switch self {
    case .damaged(_, let offset, let reason): .damaged(path: path, offset: offset, reason: reason)
    case .newerVersion(_, let found, let supported): .newerVersion(path: path, found: found, supported: supported)
    default: self
    }
  }
}
