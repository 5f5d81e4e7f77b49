import Glibc
import Parent

@testable import Storage

/// A parent's state in a directory of its own.
final class TemporaryState {
  let state: ParentState

  init() throws {
    var pattern = Array("/tmp/cradle-parent-XXXXXX".utf8CString)
    guard mkdtemp(&pattern) != nil else { throw FileError(operation: "make directory", path: "/tmp", code: errno) }
    state = try ParentState(path: String(decoding: pattern.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
  }

  deinit {
    for name in ["identity.pem", "pairs.json", "away.json", "parent.lock"] { unlink("\(state.path)/\(name)") }
    rmdir(state.path)
  }
}
