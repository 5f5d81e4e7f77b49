internal import Glibc
internal import Linux

/// Why the state directory cannot be used.
public enum StateDirectoryError: Error, Hashable, Sendable, CustomStringConvertible {
  case file(FileError)
  /// Another daemon holds the lock; its process id if it could be read.
  case inUse(path: String, process: Int?)
  /// Others can read or change the files in it.
  case notPrivate(PrivateFileError)

  public var description: String {
    switch self {
    case .file(let error): "\(error)"
    case .notPrivate(let error): "\(error)"
    case .inUse(let path, let process):
      "the state directory \(path) is in use by another cradle-child"
        + (process.map { " (process \($0))" } ?? "") + "; stop that one or give --state-directory"
    }
  }
}

/// The directory with the node's identity, pair records and tokens, locked against a second daemon while this object
/// exists. interfaces/files.md, "Files".
public final class StateDirectory: Sendable {
  public let path: String
  /// `identity.pem`, 0600.
  public let identity: AtomicFile
  /// `pairs.json`, 0600.
  public let pairs: AtomicFile
  /// `tokens.json`, 0600.
  public let tokens: AtomicFile
  /// `clock.json`, 0600.
  public let clock: AtomicFile
  /// `proofs.json`, 0600.
  public let proofs: AtomicFile
  /// `cameras.json`, 0600.
  public let cameras: AtomicFile
  /// `root.pem`, 0600: the root certificate that phones may install, with its key.
  public let root: AtomicFile
  /// `certificate.pem`, 0600: the certificates for browsers, which are no secret.
  public let certificate: AtomicFile
  /// `push.pem`, 0600: the key for push services.
  public let pushKey: AtomicFile
  /// `push.json`, 0600: where browsers want alarms to be pushed.
  public let pushSubscriptions: AtomicFile
  private let lock: FileDescriptor

  /// Creates the directory (0700, parents too) if missing, and locks it. Refuses it if others may read or change its
  /// private files: they may know the keys, or have replaced them.
  ///
  /// - Parameter writer: of the files that change while the daemon runs; nil: whoever changes them.
  public init(path: String, writer: FileWriter? = nil) throws(StateDirectoryError) {
    self.path = path
    do throws(FileError) {
      try Self.makeDirectory(path)
    } catch {
      throw .file(error)
    }
    do throws(PrivateFileError) {
      try Self.checkPrivacy(path)
    } catch {
      throw .notPrivate(error)
    }
    do throws(FileError) {
      lock = try Self.openLock(in: path)
    } catch {
      throw .file(error)
    }
    identity = AtomicFile(path: "\(path)/identity.pem")
    pairs = AtomicFile(path: "\(path)/pairs.json", writer: writer)
    tokens = AtomicFile(path: "\(path)/tokens.json", writer: writer)
    clock = AtomicFile(path: "\(path)/clock.json", writer: writer)
    proofs = AtomicFile(path: "\(path)/proofs.json", writer: writer)
    cameras = AtomicFile(path: "\(path)/cameras.json", writer: writer)
    root = AtomicFile(path: "\(path)/root.pem")
    certificate = AtomicFile(path: "\(path)/certificate.pem", writer: writer)
    pushKey = AtomicFile(path: "\(path)/push.pem", writer: writer)
    pushSubscriptions = AtomicFile(path: "\(path)/push.json", writer: writer)
    guard flock(lock.number, LOCK_EX | LOCK_NB) == 0 else {
      if errno != EWOULDBLOCK { throw .file(.last("lock", lock.path)) }
      let text = (try? lock.readAll(maximum: 64)) ?? []
      throw .inUse(path: path, process: Int(String(decoding: text.prefix { $0 != 10 }, as: UTF8.self)))
    }
    lock.belong(toOwnerOf: path)
    // The number is only for the error message. The lock works without it.
    _ = ftruncate(lock.number, 0)
    try? lock.writeAll(Array("\(getpid())\n".utf8)[...])
    if writer != nil { SpaceReserve(directory: path).make() }
  }

  /// On a file system that became read-only, as a failing memory card does, the file of an earlier run, else the directory
  /// itself: flock(2) needs no right to write.
  private static func openLock(in directory: String) throws(FileError) -> FileDescriptor {
    let path = "\(directory)/lock"
    do throws(FileError) {
      return try FileDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    } catch {
      guard error.code == EROFS else { throw error }
    }
    do throws(FileError) {
      return try FileDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW)
    } catch {
      guard error.code == ENOENT else { throw error }
      return try FileDescriptor(opening: directory, flags: O_RDONLY | O_DIRECTORY)
    }
  }

  /// A directory below this one, created with 0700 if missing. For recordings, events and messages that wait.
  ///
  /// If root runs this program by hand, it belongs to the owner of this directory, with the files in it: the service could
  /// not write there otherwise.
  public func subdirectory(_ name: String) throws(FileError) -> String {
    let result = "\(path)/\(name)"
    try Self.makeDirectory(result)
    FileOwner.adopt(result)
    for name in (try? Self.names(in: result)) ?? [] { FileOwner.adopt("\(result)/\(name)") }
    return result
  }

  /// Every directory that a child with its state at `path` writes, whether it exists or not.
  public static func writtenDirectories(_ path: String) -> [String] {
    [path] + ["events", "recordings", "notify", "push"].map { "\(path)/\($0)" }
  }

  /// Files that nobody else may read or change, if they exist.
  public static let privateFiles = [
    "identity.pem", "pairs.json", "tokens.json", "clock.json", "root.pem", "push.pem", "push.json",
  ]

  /// Checks that nobody else can access the directory's private files, without creating or locking anything.
  public static func checkPrivacy(_ path: String) throws(PrivateFileError) {
    let owner = try PrivateFile.checkDirectory(path)
    for name in privateFiles {
      try PrivateFile.check("\(path)/\(name)", directoryOwner: owner)
    }
  }

  /// One sentence for each mode that is too permissive. These are warnings; the child still starts.
  public func modeWarnings() -> [String] {
    guard let mode = try? FileDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY).mode(), mode & 0o077 != 0 else {
      return []
    }
    return ["\(path) has mode 0\(String(mode, radix: 8)) and should have 0700"]
  }

  /// Like `mkdir -p` with 0700. An existing directory is left unchanged.
  public static func makeDirectory(_ path: String) throws(FileError) {
    if mkdir(path, 0o700) == 0 { return FileOwner.adopt(path) }
    if errno == EEXIST {
      var status = stat()
      guard stat(path, &status) == 0 else { throw .last("examine", path) }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw FileError(operation: "make directory", path: path, code: ENOTDIR)
      }
      return
    }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw .last("make directory", path)
    }
    try makeDirectory(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last("make directory", path) }
    FileOwner.adopt(path)
  }
}
