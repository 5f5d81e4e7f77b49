internal import FoundationEssentials
internal import Identity
internal import Linux
internal import Logging
internal import NIOCore
internal import SecureTransport
internal import Storage

/// The files that persist between runs, opened and locked.
struct NodeFiles {
  let directory: StateDirectory
  let writer: FileWriter
  let identity: NodeIdentity
  let tokens: TokenStore
  let pairs: PairStore

  /// Reads everything; creates the identity on the first start. An unreadable file is left untouched.
  static func open(_ path: String, logger: Logger) throws -> NodeFiles {
    let writer = FileWriter { path in
      logger.notice("a file could be written again; nothing of it is missing", metadata: ["file": "\(path)"])
    } report: { error in
      logger.error("a file could not be written; it is tried every ten seconds", metadata: ["reason": "\(error)"])
    }
    let directory = try StateDirectory(path: path, writer: writer)
    return NodeFiles(
      directory: directory, writer: writer, identity: try loadIdentity(directory.identity),
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

extension AtomicFile {
  /// What was given to it last is on disk; fails with `StoreError` if it cannot be.
  func written(on loop: any EventLoop) -> EventLoopFuture<Void> {
    let promise = loop.makePromise(of: Void.self)
    whenWritten { error in
      if let error { promise.fail(StoreError.file(error)) } else { promise.succeed() }
    }
    return promise.futureResult
  }
}
