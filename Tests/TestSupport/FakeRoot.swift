public import Foundation
public import Health

/// A folder that looks like a machine's /.
public final class FakeRoot {
  public let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-root-\(UUID().uuidString)")

  /// Path → content.
  public init(_ content: [String: String] = [:]) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (path, text) in content { try write(path, text) }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

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

  public func makeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(at: folder.appending(path: path), withIntermediateDirectories: true)
  }
}
