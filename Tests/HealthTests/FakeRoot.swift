import Foundation

@testable import Health

/// A folder that looks like a machine's /.
final class FakeRoot {
  let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-root-\(UUID().uuidString)")

  /// Path → content.
  init(_ content: [String: String] = [:]) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (path, text) in content { try write(path, text) }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var files: SystemFiles { SystemFiles(root: folder.path) }

  func write(_ path: String, _ text: String, mode: Int = 0o644) throws {
    let file = folder.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    try setMode(path, mode)
  }

  func setMode(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.appending(path: path).path)
  }

  func makeDirectory(_ path: String) throws {
    try FileManager.default.createDirectory(at: folder.appending(path: path), withIntermediateDirectories: true)
  }
}
