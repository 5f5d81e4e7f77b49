internal import Control
internal import Glibc

extension EventStore {
  /// What was found when the store was opened.
  public struct Opening: Sendable {
    public var store: EventStore
    /// Sentences for the log.
    public var warnings: [String] = []
    /// Events that were carried over from the file of earlier versions.
    public var carriedOver = 0
  }

  /// Opens the store of a state directory, ready for use: a damaged one is moved aside, never overwritten, and the events
  /// of an earlier version's `events.json` are carried over.
  ///
  /// - Throws: `StoreError` when nothing can be stored; the child runs without it.
  public static func open(
    in directory: StateDirectory, limits: EventStoreLimits = EventStoreLimits()
  ) throws(StoreError) -> Opening {
    let folder: String
    do throws(FileError) {
      folder = try directory.subdirectory("events")
    } catch {
      throw .file(error)
    }
    return try open(folder: folder, limits: limits)
  }

  static func open(
    folder: String, limits: EventStoreLimits = EventStoreLimits()
  ) throws(StoreError) -> Opening {
    var opening: Opening
    do throws(StoreError) {
      opening = Opening(store: try EventStore(folder: folder, limits: limits))
    } catch {
      guard case .damaged(let path, _, let reason) = error else { throw error }
      let aside = try moveAside(path)
      opening = Opening(store: try EventStore(folder: folder, limits: limits))
      opening.warnings.append("the event store was damaged (\(reason)) and starts empty; the old one is \(aside)")
    }
    do throws(StoreError) {
      opening.carriedOver = try opening.store.carryOver(folder)
    } catch {
      opening.warnings.append("the events of an earlier version could not be carried over: \(error)")
    }
    return opening
  }

  /// Renames a file that cannot be read, with its log. Returns its new path.
  static func moveAside(_ path: String) throws(StoreError) -> String {
    var aside = "\(path).unreadable"
    var number = 1
    while access(aside, F_OK) == 0 {
      number += 1
      aside = "\(path).unreadable-\(number)"
    }
    // The log first: it would be taken for that of the new file.
    for ending in ["-wal", "-shm", "-journal", ""] {
      guard rename(path + ending, aside + ending) == 0 || errno == ENOENT else {
        throw .file(.last("rename", path + ending))
      }
    }
    return aside
  }

  // MARK: The file of earlier versions

  private struct Earlier: Codable {
    var events: [EventDocument]
  }

  /// Stores the events of `events.json`, once: it is renamed when they are on the disk.
  private func carryOver(_ folder: String) throws(StoreError) -> Int {
    let path = "\(folder)/events.json"
    guard let earlier = try JSONStore<Earlier>(file: AtomicFile(path: path)).load() else { return 0 }
    try append(earlier.events)
    guard rename(path, "\(path).carried-over") == 0 else { throw .file(.last("rename", path)) }
    return earlier.events.count
  }
}
