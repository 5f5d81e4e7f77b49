import Foundation
import Storage

/// A new directory that goes away with its owner.
final class TemporaryDirectory: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/cradle-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { preconditionFailure("no temporary directory") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func names() -> Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
  }
}

extension AtomicFile {
  /// The permission bits; nil when there is no such file.
  func currentMode() -> UInt32? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }
}
