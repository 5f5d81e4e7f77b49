internal import CLinux
internal import Glibc

/// An open file descriptor; closed at deinit.
struct DeviceFile: ~Copyable {
  let descriptor: Int32
  let path: String
  private let kind: DeviceError.Kind

  /// Never blocks. `flags` and `mode` as for open(2).
  init(path: String, flags: Int32, mode: mode_t = 0, kind: DeviceError.Kind) throws(DeviceError) {
    let descriptor = open(path, flags | O_CLOEXEC | O_NONBLOCK, mode)
    guard descriptor >= 0 else {
      throw DeviceError.system(errno, device: path, operation: "open", kind: kind)
    }
    self.descriptor = descriptor
    self.path = path
    self.kind = kind
  }

  deinit { close(descriptor) }

  /// ioctl(2) on a structure; 0 or the errno.
  func control<Value>(_ request: UInt, _ value: inout Value) -> Int32 {
    let result = withUnsafeMutablePointer(to: &value) { clinux_ioctl(descriptor, request, $0) }
    return result < 0 ? -result : 0
  }

  /// The same, throwing; `operation` names the request in the error.
  func require<Value>(_ operation: String, _ request: UInt, _ value: inout Value) throws(DeviceError) {
    let number = control(request, &value)
    if number != 0 { throw error(number, operation) }
  }

  func error(_ number: Int32, _ operation: String) -> DeviceError {
    DeviceError.system(number, device: path, operation: operation, kind: kind)
  }
}
