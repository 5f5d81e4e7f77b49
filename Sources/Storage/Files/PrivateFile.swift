internal import Glibc

/// Why a file with secrets cannot be trusted. The description includes the command that repairs it.
public enum PrivateFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Others may read or change it; the actual permission bits, and what they should be.
  case mode(path: String, found: UInt32, wanted: UInt32)
  /// Another user owns it, and so can change it.
  case owner(path: String, found: UInt32, wanted: UInt32)
  /// It is a link, a device or the like, and where it leads is unknown.
  case notAFile(path: String)

  public var description: String {
    switch self {
    case .mode(let path, let found, let wanted):
      "\(path) has mode \(Self.octal(found)), so that others on this machine may read or change it. Repair it with: "
        + "chmod \(String(wanted, radix: 8)) \(path)"
    case .owner(let path, let found, let wanted):
      "\(path) belongs to the user with number \(found), who may change it. Repair it with: chown \(wanted) \(path)"
    case .notAFile(let path):
      "\(path) is a link or a device. Put the file itself there, with mode 0600"
    }
  }

  /// Checks a private key that the family stores elsewhere. Its group may read it, as is usual for web servers. Follows
  /// links. A missing file is not an error here; reading it reports that.
  public static func checkSharedKey(_ path: String) throws(PrivateFileError) {
    var status = stat()
    // What is no regular file is refused where it is read; its mode is not to be changed.
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o027 != 0 else { return }
    throw .mode(path: path, found: status.st_mode & 0o7777, wanted: 0o640)
  }

  private static func octal(_ mode: UInt32) -> String { "0" + String(mode, radix: 8) }
}

/// Checks of owner and mode for files with secrets.
enum PrivateFile {
  /// Checks a file before this program reads it. A missing one is fine.
  ///
  /// It must belong to the user that runs this program, or to root. If that user is root (`sudo cradle-child check`),
  /// it may also belong to the directory's owner.
  static func check(_ path: String, directoryOwner: UInt32) throws(PrivateFileError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
    let user = geteuid()
    guard status.st_uid == user || status.st_uid == 0 || user == 0 && status.st_uid == directoryOwner else {
      throw .owner(path: path, found: status.st_uid, wanted: user == 0 ? directoryOwner : user)
    }
    guard status.st_mode & 0o077 == 0 else {
      throw .mode(path: path, found: status.st_mode & 0o7777, wanted: 0o600)
    }
  }

  /// Checks the directory that holds them: anybody who may write to it can replace them.
  ///
  /// - Returns: the owner's user id.
  static func checkDirectory(_ path: String) throws(PrivateFileError) -> UInt32 {
    var status = stat()
    guard stat(path, &status) == 0 else { return geteuid() }
    let user = geteuid()
    guard status.st_uid == user || status.st_uid == 0 || user == 0 else {
      throw .owner(path: path, found: status.st_uid, wanted: user)
    }
    guard status.st_mode & 0o022 == 0 else {
      throw .mode(path: path, found: status.st_mode & 0o7777, wanted: 0o700)
    }
    return status.st_uid
  }
}
