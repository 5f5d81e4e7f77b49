internal import FoundationEssentials
internal import Glibc

extension StateDirectory {
  /// An item that the node stores: a file, or a folder with its content.
  public struct Kept: Hashable, Sendable, Codable {
    /// For display: "identity", "recordings".
    public let what: String
    public let path: String
    /// 1 for a file.
    public let files: Int
    public let bytes: Int
  }

  /// In order of removal. Pairs and tokens go before the identity: if the power is cut in between, a node with a new
  /// identity must not admit the old parents.
  private static let kinds = [
    ("paired parents", "pairs.json"), ("tokens", "tokens.json"), ("identity", "identity.pem"),
    ("the clock's mark", "clock.json"), ("root certificate", "root.pem"),
    ("certificates for browsers", "certificate.pem"),
    ("the last proofs", "proofs.json"), ("names of cameras", "cameras.json"),
    ("screenshots", "screenshots"), ("recordings", "recordings"), ("events", "events"),
    ("notifications", "notify"), ("push subscriptions", "push.json"), ("pushed alarms", "push"),
    ("the key for push services", "push.pem"), ("room that was kept free", SpaceReserve.name),
  ]

  /// What `erase` would remove, including leftovers of an interrupted write, and the paths it would leave alone: other
  /// programs' files, and links.
  ///
  /// - Parameter recordings: where the configuration keeps recordings, if not here. Of that folder only they are removed.
  public func contents(recordings: RecordingFolder? = nil) throws(FileError) -> (kept: [Kept], foreign: [String]) {
    var names = Set(try Self.names(in: path))
    names.remove("lock")
    var kept: [Kept] = []
    for (what, name) in Self.kinds {
      for name in [name, ".\(name).tmp"] where names.contains(name) {
        if let found = Self.measure("\(path)/\(name)", what) {
          kept.append(found)
          names.remove(name)
        }
      }
    }
    if let recordings, access(recordings.path, F_OK) == 0 {
      let parts = try recordings.parts()
      let bytes = parts.reduce(0) { $0 + $1.bytes }
      if !parts.isEmpty {
        kept.append(Kept(what: "recordings", path: recordings.path, files: parts.count, bytes: bytes))
      }
    }
    return (kept, names.sorted().map { "\(path)/\($0)" })
  }

  /// Removes what `contents` returns as kept, then the lock. The directory itself stays. Do not use this object
  /// afterwards.
  /// - Returns: What was removed.
  /// - Throws: `FileError`. The rest is still there then; another call continues.
  public func erase(recordings: RecordingFolder? = nil) throws(FileError) -> [Kept] {
    let kept = try contents(recordings: recordings).kept
    for item in kept where item.path != recordings?.path { try Self.remove(item.path) }
    if let recordings, access(recordings.path, F_OK) == 0 { try recordings.erase() }
    // The next start recreates it with the right owner. This process may be root.
    unlink("\(path)/lock")
    try FileDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY).synchronize()
    return kept
  }

  /// Nil for anything except a file or a folder. Following a link could lead root anywhere.
  private static func measure(_ path: String, _ what: String) -> Kept? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return Kept(what: what, path: path, files: 1, bytes: Int(status.st_size))
    case S_IFDIR:
      var files = 0
      var bytes = 0
      for name in (try? names(in: path)) ?? [] {
        guard let inner = measure("\(path)/\(name)", what) else { continue }
        files += inner.files
        bytes += inner.bytes
      }
      return Kept(what: what, path: path, files: files, bytes: bytes)
    default: return nil
    }
  }

  private static func remove(_ path: String) throws(FileError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .last("examine", path) }
    if status.st_mode & S_IFMT == S_IFDIR {
      for name in try names(in: path) { try remove("\(path)/\(name)") }
      guard rmdir(path) == 0 else { throw .last("remove", path) }
    } else {
      guard unlink(path) == 0 else { throw .last("remove", path) }
    }
  }

  static func names(in path: String) throws(FileError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw .last("read", path)
    }
  }
}
