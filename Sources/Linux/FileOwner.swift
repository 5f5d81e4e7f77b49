internal import Glibc

/// Who owns what root makes by hand: the owner of the directory around it. Otherwise the service could not use its own files
/// after somebody has run `sudo cradle-child run` once.
public enum FileOwner {
  /// Gives what root owns to the owner of its directory, if this is root. Never follows a link. Failing is no reason not to
  /// go on: this process may use it.
  public static func adopt(_ path: String) {
    var own = stat()
    var around = stat()
    guard geteuid() == 0, lstat(path, &own) == 0, own.st_uid == 0,
      let slash = path.lastIndex(of: "/"), stat(slash == path.startIndex ? "/" : String(path[..<slash]), &around) == 0
    else { return }
    _ = lchown(path, around.st_uid, around.st_gid)
  }
}
