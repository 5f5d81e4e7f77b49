internal import Glibc
public import Notifications

/// What one notifier has still to deliver, on disk: `notify/NAME.json` in the state directory. interfaces/files.md, "Files".
///
/// Unlike the other stores, a damaged file does not keep the child from starting: it is moved aside.
public struct NotificationStore: Sendable {
  private let store: JSONStore<Content>

  private struct Content: Codable {
    var queue: [Notification]
  }

  /// - Parameter file: in the state directory's `notify`.
  public init(file: AtomicFile) {
    store = JSONStore(file: file)
  }

  /// Reads what an earlier run has left, oldest first. A file that cannot be parsed is renamed to `….unreadable`, in
  /// place of an earlier one of that name.
  ///
  /// - Returns: the queue; `trouble` if it was renamed.
  /// - Throws: `FileError` if the file cannot be read or renamed. Do not call `save` in that case.
  public func load() throws(FileError) -> (queue: [Notification], trouble: StoreError?) {
    let (content, trouble) = try store.loadOrMoveAside()
    return (content?.queue ?? [], trouble)
  }

  /// Removes the file: nobody is notified any more.
  public func remove() {
    unlink(store.file.path)
  }

  /// Replaces the stored queue. Throws `StoreError.file`; the old content is kept then.
  public func save(_ queue: [Notification]) throws(StoreError) {
    try store.save(Content(queue: queue))
  }
}

extension StateDirectory {
  /// `notify/NAME.json`, 0600. Creates its folder.
  public func notifications(of notifier: String) throws(FileError) -> AtomicFile {
    AtomicFile(path: try subdirectory("notify") + "/\(notifier).json")
  }

  /// `push/ID.json`, 0600: what is still to be pushed to this pair's browser. Creates its folder.
  public func pushed(toPair id: String) throws(FileError) -> AtomicFile {
    AtomicFile(path: try subdirectory("push") + "/\(id).json")
  }
}
