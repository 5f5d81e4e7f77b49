internal import FoundationEssentials
internal import Glibc
internal import Pairing

/// The folder with the parts of recordings, `YYYY-MM-DDTHH-MM-SSZ-CAMERA.webm`. Other files in it are left alone.
public struct RecordingFolder: Sendable {
  public let path: String

  /// A part. Its name is its id.
  public struct Part: Hashable, Sendable {
    /// The file's name without `.webm`.
    public let id: String
    /// When it begins: seconds since 1970-01-01 UTC.
    public let time: Int64
    public let bytes: Int
    /// From its beginning to the latest write.
    public let seconds: Int64

    /// - Parameters:
    ///   - file: the file's name; nil for one that is not a part's.
    ///   - changed: its latest write, seconds since 1970-01-01 UTC.
    init?(file: String, bytes: Int, changed: Int64 = 0) {
      guard file.hasSuffix(".webm"), file.utf8.count <= 96, !file.contains("/") else { return nil }
      id = String(file.dropLast(5))
      let text = Array(id.prefix(20))
      guard text.count == 20, let time = Self.time(text) else { return nil }
      self.time = time
      self.bytes = bytes
      seconds = max(0, changed.subtractingReportingOverflow(time).partialValue)
    }

    private static func time(_ text: [Character]) -> Int64? {
      guard text[13] == "-", text[16] == "-" else { return nil }
      var iso = text
      iso[13] = ":"
      iso[16] = ":"
      guard let date = try? Date(String(iso), strategy: .iso8601) else { return nil }
      return UnixTime(date: date).seconds
    }

    /// - Parameters:
    ///   - camera: 1...32 letters, digits, `-` and `_`.
    ///   - number: 2 and more when there is one of the same second.
    static func file(_ time: Int64, camera: String, number: Int) -> String {
      let date = UnixTime(seconds: time).date.formatted(.iso8601).map { $0 == ":" ? "-" : $0 }
      return "\(String(date))-\(camera)\(number > 1 ? ".\(number)" : "").webm"
    }
  }

  public init(path: String) {
    self.path = path
  }

  /// Oldest first.
  public func parts() throws(FileError) -> [Part] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw FileError(operation: "read", path: path, code: access(path, R_OK | X_OK) == 0 ? EIO : errno)
    }
    return names.compactMap { name in
      var status = stat()
      guard lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
      return Part(file: name, bytes: Int(status.st_size), changed: Int64(status.st_mtim.tv_sec))
    }.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
  }

  /// At most `count` bytes of a part from `offset` on, and how many it has in all; nil when there is no such part.
  public func read(id: String, from offset: Int, count: Int) throws(FileError) -> (bytes: [UInt8], total: Int)? {
    guard Part(file: "\(id).webm", bytes: 0) != nil else { return nil }
    let file = "\(path)/\(id).webm"
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .last("open", file)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    var bytes = [UInt8](repeating: 0, count: min(count, max(0, Int(status.st_size) - offset)))
    var filled = 0
    while filled < bytes.count {
      let result = bytes.withUnsafeMutableBytes { buffer in
        pread(descriptor, buffer.baseAddress! + filled, buffer.count - filled, offset + filled)
      }
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { throw .last("read", file) }
      if result == 0 { break }
      filled += result
    }
    return (Array(bytes.prefix(filled)), Int(status.st_size))
  }

  /// The path of a new part.
  public func newPath(time: Int64, camera: String) -> String {
    var number = 1
    while true {
      let file = "\(path)/\(Part.file(time, camera: camera, number: number))"
      if number > 99 || access(file, F_OK) != 0 { return file }
      number += 1
    }
  }

  /// What has to go so that the rest is not older than `seconds`, not more than `bytes`, and `needed` bytes become free.
  /// The oldest go first. `parts` are sorted so.
  public static func excess(
    _ parts: [Part], seconds: Int64, bytes: Int, needed: Int, now: Int64
  ) -> [Part] {
    var total = parts.reduce(0) { $0.addingReportingOverflow($1.bytes).partialValue }
    var freed = 0
    var result: [Part] = []
    for part in parts {
      guard now - part.time > seconds || total > bytes || freed < needed else { break }
      result.append(part)
      total -= part.bytes
      freed += part.bytes
    }
    return result
  }

  /// Removes parts, and returns whether at least `reserve` bytes are free on the disk then.
  public func makeRoom(seconds: Int64, bytes: Int, reserve: Int, now: Int64) throws(FileError) -> Bool {
    let needed = max(0, reserve - (try free()))
    for part in Self.excess(try parts(), seconds: seconds, bytes: bytes, needed: needed, now: now) { try remove(part) }
    return try free() >= reserve
  }

  /// Removes all parts. The folder stays, with what else is in it.
  public func erase() throws(FileError) {
    for part in try parts() { try remove(part) }
  }

  private func remove(_ part: Part) throws(FileError) {
    let file = "\(path)/\(part.id).webm"
    guard unlink(file) == 0 || errno == ENOENT else { throw .last("remove", file) }
  }

  /// Bytes that this user may still write on the folder's disk.
  public func free() throws(FileError) -> Int {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { throw .last("examine", path) }
    return Int(clamping: status.f_bavail.multipliedReportingOverflow(by: status.f_frsize).partialValue)
  }

  /// Whether parts can be written.
  public func check() throws(FileError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .last("open", path) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw FileError(operation: "open", path: path, code: ENOTDIR) }
    guard access(path, R_OK | W_OK | X_OK) == 0 else { throw .last("write", path) }
  }
}
