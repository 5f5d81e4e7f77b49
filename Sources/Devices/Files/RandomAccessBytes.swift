internal import CLinux
internal import Glibc

/// Bytes with random access: a file, or an array in tests.
package protocol RandomAccessBytes: Sendable {
  /// Total size.
  var count: Int { get }
  /// Copies from `offset`; returns the number of bytes copied, fewer than requested only at the end.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(DeviceError) -> Int
}

extension RandomAccessBytes {
  /// Up to `count` bytes from `offset`.
  func bytes(at offset: Int, count: Int) throws(DeviceError) -> [UInt8] {
    let room = max(0, min(count, self.count - offset))
    var result = [UInt8](repeating: 0, count: room)
    var failure: DeviceError?
    var length = 0
    result.withUnsafeMutableBytes { buffer in
      do throws(DeviceError) { length = try read(at: offset, into: buffer) } catch { failure = error }
    }
    if let failure { throw failure }
    result.removeLast(room - length)
    return result
  }
}

/// A regular file, held open.
final class MediaFile: RandomAccessBytes {
  let count: Int
  private let file: DeviceFile

  init(path: String) throws(DeviceError) {
    file = try DeviceFile(path: path, flags: O_RDONLY, kind: .file)
    var status = stat()
    guard fstat(file.descriptor, &status) == 0 else { throw file.error(errno, "stat") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw DeviceError(device: path, reason: .invalidFile("not a regular file"))
    }
    count = Int(status.st_size)
  }

  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(DeviceError) -> Int {
    var done = 0
    while done < buffer.count {
      let length = pread(file.descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
      if length < 0, errno == EINTR { continue }
      if length < 0 { throw file.error(errno, "read") }
      if length == 0 { break }
      done += length
    }
    return done
  }
}
