internal import Glibc
public import Identity
public import Pairing
internal import SecureTransport
public import Storage

/// What a parent keeps between runs: its identity and the children it is paired with. interfaces/files.md, "Files".
///
/// Several programs of one parent may run at once (one watches, another switches the light), so the lock is held only
/// while a file is read, changed and written.
///
/// Files that others may read or change are refused with `PrivateFileError`, which names the command that corrects it: a
/// key that others may know proves nothing.
public final class ParentState: Sendable {
  public let path: String
  private let identityFile: AtomicFile
  private let pairsFile: AtomicFile
  private let awayFile: AtomicFile
  private let lock: String

  /// Makes the directory (0700, parents too) when it is not there.
  public init(path: String) throws(FileError) {
    try StateDirectory.makeDirectory(path)
    self.path = path
    identityFile = AtomicFile(path: "\(path)/identity.pem")
    pairsFile = AtomicFile(path: "\(path)/pairs.json")
    awayFile = AtomicFile(path: "\(path)/away.json")
    lock = "\(path)/parent.lock"
  }

  /// Nil when there is no directory; makes none.
  public convenience init?(existing path: String) {
    guard access(path, F_OK) == 0 else { return nil }
    try? self.init(path: path)
  }

  /// The parent's own key; made on first use. Throws `FileError`, `PrivateFileError`, or `ParentError` for a damaged file,
  /// which is left as it is.
  public func identity() throws -> NodeIdentity {
    try StateDirectory.checkPrivacy(path)
    if let known = try readIdentity() { return known }
    return try FileLock.hold(lock) {
      // Another program of ours may have made it meanwhile.
      if let known = try readIdentity() { return known }
      let made = NodeIdentity.generate()
      try identityFile.write(Array(made.pem.utf8))
      return made
    }
  }

  /// The paired children, as they are on disk now. Throws `StoreError` or `PrivateFileError`.
  public func pairs() throws -> PairBook {
    try StateDirectory.checkPrivacy(path)
    return try PairStore(file: pairsFile, hashes: CryptoHashes()).book
  }

  /// Changes the pairs under the lock. Throws `FileError`, `PrivateFileError`, `StoreError` and what `body` throws.
  public func changePairs<Result>(_ body: (inout PairStore) throws -> Result) throws -> Result {
    try StateDirectory.checkPrivacy(path)
    return try FileLock.hold(lock) {
      var store = try PairStore(file: pairsFile, hashes: CryptoHashes())
      return try body(&store)
    }
  }

  /// How children are reached from elsewhere. Throws `StoreError` or `PrivateFileError`.
  func away() throws -> AwayStore {
    try StateDirectory.checkPrivacy(path)
    return try AwayStore(file: awayFile)
  }

  /// Changes that under the lock. Throws `FileError`, `PrivateFileError`, `StoreError` and what `body` throws.
  func changeAway(_ body: (inout AwayStore) throws -> Void) throws {
    try StateDirectory.checkPrivacy(path)
    try FileLock.hold(lock) {
      var store = try AwayStore(file: awayFile)
      try body(&store)
    }
  }

  private func readIdentity() throws -> NodeIdentity? {
    guard let bytes = try identityFile.read(maximum: 64 * 1024) else { return nil }
    do throws(SecureError) {
      return try NodeIdentity(pem: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw ParentError(
        "\(identityFile.path) holds no key (\(error)). It was left as it is; restore it from a backup, or move it away and pair again"
      )
    }
  }
}
