public import Identity
public import Pairing
internal import SecureTransport
public import Storage

/// What a parent keeps between runs: its identity and the children it is paired with. INTERFACES.md, "Files".
///
/// Several programs of one parent run at once (one watches, another switches the light), so nothing is kept locked but
/// while a file is read, changed and written.
public final class ParentState: Sendable {
  public let path: String
  private let identityFile: AtomicFile
  private let pairsFile: AtomicFile
  private let lock: String

  /// Makes the directory (0700, parents too) when it is not there.
  public init(path: String) throws(FileError) {
    try StateDirectory.makeDirectory(path)
    self.path = path
    identityFile = AtomicFile(path: "\(path)/identity.pem")
    pairsFile = AtomicFile(path: "\(path)/pairs.json")
    lock = "\(path)/parent.lock"
  }

  /// The parent's own key; made on first use. Throws `FileError`, or `ParentError` for a damaged file, which stays as it
  /// is.
  public func identity() throws -> NodeIdentity {
    if let known = try readIdentity() { return known }
    return try FileLock.hold(lock) {
      // Another program of ours may have been first.
      if let known = try readIdentity() { return known }
      let made = NodeIdentity.generate()
      try identityFile.write(Array(made.pem.utf8))
      return made
    }
  }

  /// Whom this parent is paired with, as it is on disk now. Throws `StoreError`.
  public func pairs() throws(StoreError) -> PairBook {
    try PairStore(file: pairsFile, hashes: CryptoHashes()).book
  }

  /// Changes the pairs; nobody else can in the meantime. Throws `FileError`, `StoreError` and what `body` throws.
  public func changePairs<Result>(_ body: (inout PairStore) throws -> Result) throws -> Result {
    try FileLock.hold(lock) {
      var store = try PairStore(file: pairsFile, hashes: CryptoHashes())
      return try body(&store)
    }
  }

  private func readIdentity() throws -> NodeIdentity? {
    guard let bytes = try identityFile.read(maximum: 64 * 1024) else { return nil }
    do throws(SecureError) {
      return try NodeIdentity(pem: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw ParentError(
        "\(identityFile.path) holds no key (\(error)). It was left as it is; restore it, or move it away and pair anew")
    }
  }
}
