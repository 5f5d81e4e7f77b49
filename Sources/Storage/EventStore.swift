public import Control
internal import Glibc

/// The event log on disk: `events/events.json` in the state directory, oldest event first, in the format of
/// `events.get`. INTERFACES.md, "Files".
///
/// Unlike the other stores, a damaged file does not keep the child from starting: it is moved aside, and a new one is
/// started.
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

  /// Reads the events of earlier runs. A file that cannot be parsed is renamed, never overwritten.
  ///
  /// - Returns: the events; `trouble` if there was such a file, with its new path.
  /// - Throws: `FileError` if the file cannot be read or renamed. Do not call `save` in that case.
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

  /// Replaces the stored events. Throws `StoreError.file`; the old content is kept then.
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
