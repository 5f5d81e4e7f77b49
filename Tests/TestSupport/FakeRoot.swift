public import Foundation
public import Linux
import Synchronization

/// A folder that looks like a machine's /. It stays until the tests end, because whoever got `files` may read it later.
public struct FakeRoot: Sendable {
  public let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-root-\(UUID().uuidString)")

  private static let all = Mutex<[URL]>([])
  private static let cleaning: Void = {
    atexit { FakeRoot.all.withLock { $0 }.forEach { try? FileManager.default.removeItem(at: $0) } }
  }()

  /// Path → content.
  public init(_ content: [String: String] = [:]) throws {
    _ = Self.cleaning
    let folder = folder
    Self.all.withLock { $0.append(folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (path, text) in content { try write(path, text) }
  }

  public var files: SystemFiles { SystemFiles(root: folder.path) }

  public func write(_ path: String, _ text: String, mode: Int = 0o644) throws {
    let file = folder.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try setMode(path, mode)
  }

  public func setMode(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.appending(path: path).path)
  }

  /// A symbolic link; one that is there is replaced.
  public func link(_ path: String, to target: String) throws {
    let link = folder.appending(path: path)
    try FileManager.default.createDirectory(at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
    try? FileManager.default.removeItem(at: link)
    try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: target)
  }

  public func remove(_ path: String) throws {
    try FileManager.default.removeItem(at: folder.appending(path: path))
  }

  public func makeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(at: folder.appending(path: path), withIntermediateDirectories: true)
  }
}
