internal import Glibc

/// Linux's files about the machine: /proc, /sys, /etc. Tests put a folder in front of all paths.
public struct SystemFiles: Sendable {
  private let root: String

  /// - Parameter root: put in front of every path; empty for the machine itself.
  public init(root: String = "") {
    self.root = root
  }

  /// Owner and permissions of a file: stat(2), links followed.
  public struct Status: Hashable, Sendable {
    public var owner: UInt32
    public var group: UInt32
    /// The permission bits.
    public var mode: UInt32
  }

  /// By which a file is known to have changed.
  public struct Version: Hashable, Sendable {
    /// Bytes.
    public let size: Int
    /// Seconds since 1970.
    public let modified: Int
  }

  /// Nil if there is no file of this name: stat(2), links followed.
  public func version(_ path: String) -> Version? {
    var status = stat()
    guard stat(root + path, &status) == 0 else { return nil }
    return Version(size: Int(status.st_size), modified: status.st_mtim.tv_sec)
  }

  /// The content, at most 256 KiB of it; nil if it cannot be read.
  public func text(_ path: String) -> String? {
    // A FIFO in place of a file must not keep anybody waiting.
    let descriptor = open(root + path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    guard let file = fdopen(descriptor, "r") else {
      close(descriptor)
      return nil
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 8192)
    while bytes.count < 256 * 1024 {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The lines; empty if it cannot be read.
  public func lines(_ path: String) -> [Substring] {
    text(path)?.split(separator: "\n") ?? []
  }

  /// The lines, each split at spaces, tabs and `further` characters.
  public func words(_ path: String, further: Character = " ") -> [[Substring]] {
    lines(path).map { $0.split { $0 == " " || $0 == "\t" || $0 == further } }
  }

  /// The first line; nil if there is none.
  public func line(_ path: String) -> String? {
    lines(path).first.map(String.init)
  }

  /// The first line as a number.
  public func number(_ path: String) -> Int? {
    line(path).flatMap { Int($0) }
  }

  /// The names in a directory, sorted, without those that begin with a dot; empty if it cannot be read.
  public func names(_ path: String) -> [String] {
    guard let directory = opendir(root + path) else { return [] }
    defer { closedir(directory) }
    var result: [String] = []
    while let entry = readdir(directory), result.count < 4096 {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { result.append(name) }
    }
    return result.sorted()
  }

  /// Why a directory cannot be listed: errno. Nil when it can.
  public func listingError(_ path: String) -> Int32? {
    guard let directory = opendir(root + path) else { return errno }
    closedir(directory)
    return nil
  }

  /// The target of a chain of symbolic links; nil if it does not exist.
  public func resolved(_ path: String) -> String? {
    guard let target = realpath(root + path, nil) else { return nil }
    defer { free(target) }
    return String(cString: target)
  }

  /// Nil, with `errno` set, if there is no such file or it may not be examined.
  public func status(_ path: String) -> Status? {
    var status = stat()
    guard stat(root + path, &status) == 0 else { return nil }
    return Status(owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777)
  }

  /// Links followed.
  public func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(root + path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  public func exists(_ path: String) -> Bool {
    access(root + path, F_OK) == 0
  }

  /// Whether this process may change it: a file, or a directory by making and removing files in it.
  public func mayWrite(_ path: String) -> Bool {
    var status = stat()
    guard stat(root + path, &status) == 0 else { return false }
    return access(root + path, R_OK | W_OK | (status.st_mode & S_IFMT == S_IFDIR ? X_OK : 0)) == 0
  }

  /// Whether its file system is mounted read-only, or has stopped writing after an error.
  public func isReadOnly(_ path: String) -> Bool {
    if access(root + path, W_OK) != 0, errno == EROFS { return true }
    // ext4 of newer kernels goes on to count as writable, and names it among its options alone: proc_pid_mountinfo(5).
    var status = stat()
    guard stat(root + path, &status) == 0 else { return false }
    let device = Self.text(ofDevice: UInt64(status.st_dev))
    return words("/proc/self/mountinfo").contains { fields in
      fields.count > 2 && fields[2] == device && fields.last?.split(separator: ",").contains("emergency_ro") == true
    }
  }

  /// `8:1`, as makedev(3) has put the two together.
  static func text(ofDevice number: UInt64) -> String {
    "\(number >> 8 & 0xfff | number >> 32 & ~0xfff):\(number & 0xff | number >> 12 & 0xffff_ff00)"
  }

  /// Whether this process may read it.
  public func mayRead(_ path: String) -> Bool {
    access(root + path, R_OK) == 0
  }
}
