import Glibc

/// A file without a name, for a body whose subject reads one by its path.
final class FuzzFile: Sendable {
  private let descriptor: Int32

  init() {
    // In memory where there is such a place.
    let opened = ["/dev/shm", "/tmp"].lazy.map { folder in
      var path = Array("\(folder)/cradle-fuzz-XXXXXX".utf8CString)
      let descriptor = mkstemp(&path)
      if descriptor >= 0 { unlink(path) }
      return descriptor
    }
    guard let descriptor = opened.first(where: { $0 >= 0 }) else { preconditionFailure("no file can be made") }
    self.descriptor = descriptor
  }

  var path: String { "/proc/self/fd/\(descriptor)" }

  func replace(with bytes: [UInt8]) {
    let written = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    precondition(written == bytes.count && ftruncate(descriptor, off_t(bytes.count)) == 0, "there is room for it")
  }
}
