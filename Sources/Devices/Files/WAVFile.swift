internal import Frames
internal import Glibc
internal import Synchronization

/// Writes a WAV file of 48 kHz mono 16-bit samples. The header is updated every second, so it can be read meanwhile.
final class WAVFile: Sendable {
  private let file: DeviceFile
  private let dataBytes = Mutex(0)

  private static let headerBytes = 44
  private static let bytesPerSecond = AudioFormat.sampleRate * 2
  /// Sizes are 32 bits: 12 hours.
  private static let maximumDataBytes = Int(UInt32.max) - headerBytes - 1

  /// Whether `init` would succeed, without it.
  static func check(path: String) throws(DeviceError) {
    guard try exists(path) else {
      let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
      guard access(folder, W_OK | X_OK) == 0 else {
        throw DeviceError.system(errno, device: path, operation: "create", kind: .output)
      }
      return
    }
    _ = try DeviceFile(path: path, flags: O_WRONLY, kind: .output)
  }

  /// Throws for what is no file: opening a FIFO without a reader would only say that it is disconnected.
  private static func exists(_ path: String) throws(DeviceError) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else {
      guard errno == ENOENT else { throw DeviceError.system(errno, device: path, operation: "stat", kind: .output) }
      return false
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DeviceError(device: path, reason: .invalidFile("not a regular file"))
    }
    return true
  }

  /// Creates the file, or truncates an existing one.
  init(path: String) throws(DeviceError) {
    _ = try Self.exists(path)
    file = try DeviceFile(path: path, flags: O_WRONLY | O_CREAT, mode: 0o600, kind: .output)
    var status = stat()
    guard fstat(file.descriptor, &status) == 0 else { throw file.error(errno, "stat") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DeviceError(device: path, reason: .invalidFile("not a regular file"))
    }
    guard ftruncate(file.descriptor, 0) == 0 else { throw file.error(errno, "truncate") }
    try write(Self.header(dataBytes: 0), at: 0)
  }

  func append(_ samples: [Int16]) throws(DeviceError) {
    let before = dataBytes.withLock { $0 }
    let count = samples.count * 2
    guard before + count <= Self.maximumDataBytes else {
      throw DeviceError(device: file.path, reason: .invalidFile("it is full: a WAV file holds 4 GiB"))
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for sample in samples {
      bytes.append(UInt8(truncatingIfNeeded: sample))
      bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
    }
    try write(bytes, at: Self.headerBytes + before)
    dataBytes.withLock { $0 = before + count }
    if before / Self.bytesPerSecond != (before + count) / Self.bytesPerSecond { try patchHeader() }
  }

  /// Writes the current data size into the header.
  func patchHeader() throws(DeviceError) {
    try write(Self.header(dataBytes: dataBytes.withLock { $0 }), at: 0)
  }

  /// RIFF, "fmt " and the start of "data" (Multimedia Programming Interface 1.0, 1991, "WAVE").
  static func header(dataBytes: Int) -> [UInt8] {
    let rate = AudioFormat.sampleRate
    return Array("RIFF".utf8) + little(dataBytes + headerBytes - 8, 4) + Array("WAVEfmt ".utf8) + little(16, 4)
      + little(1, 2) + little(1, 2) + little(rate, 4) + little(bytesPerSecond, 4) + little(2, 2) + little(16, 2)
      + Array("data".utf8) + little(dataBytes, 4)
  }

  private static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws(DeviceError) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { buffer in
        pwrite(file.descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw file.error(written < 0 ? errno : ENOSPC, "write") }
      done += written
    }
  }
}
