internal import FoundationEssentials
internal import Identity
internal import Linux
internal import SecureTransport
internal import Storage

/// The files that persist between runs, opened and locked.
struct NodeFiles {
  let directory: StateDirectory
  let identity: NodeIdentity
  let tokens: TokenStore
  let pairs: PairStore

  /// Reads everything; creates the identity on the first start. An unreadable file is left untouched.
  static func open(_ path: String) throws -> NodeFiles {
    let directory = try StateDirectory(path: path)
    return NodeFiles(
      directory: directory, identity: try loadIdentity(directory.identity),
      tokens: try TokenStore(file: directory.tokens, hashes: CryptoHashes()),
      pairs: try PairStore(file: directory.pairs, hashes: CryptoHashes()))
  }

  /// Accessible to the daemon's group, whose members may send commands; systemd has usually created it.
  static func makeRuntimeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
    FileOwner.adopt(path)
  }

  private static func loadIdentity(_ file: AtomicFile) throws -> NodeIdentity {
    guard let bytes = try file.read(maximum: 64 * 1024) else {
      let identity = NodeIdentity.generate()
      try file.write(Array(identity.pem.utf8))
      return identity
    }
    do {
      return try NodeIdentity(pem: String(decoding: bytes, as: UTF8.self))
    } catch {
      throw NodeError.identity(path: file.path, reason: "\(error)")
    }
  }
}
