internal import Glibc

/// What stands at a path. inode(7).
enum FileKind: Hashable {
  case regular
  case directory
  case fifo
  case characterDevice
  case blockDevice
  case socket

  init(_ status: stat) {
    self =
      switch status.st_mode & S_IFMT {
      case S_IFDIR: .directory
      case S_IFIFO: .fifo
      case S_IFCHR: .characterDevice
      case S_IFBLK: .blockDevice
      case S_IFSOCK: .socket
      default: .regular
      }
  }

  /// With its article.
  var words: String {
    switch self {
    case .regular: "a file"
    case .directory: "a directory"
    case .fifo: "a FIFO"
    case .characterDevice: "a device"
    case .blockDevice: "a disk"
    case .socket: "a socket"
    }
  }
}
