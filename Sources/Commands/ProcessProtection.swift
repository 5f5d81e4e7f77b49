internal import CLinux
internal import Glibc

/// Limits that a program with keys in its memory sets for itself.
public enum ProcessProtection {
  /// Enough for every connection that is accepted and every device. Not more, because some libraries walk through all
  /// descriptors.
  private static let descriptors: rlim_t = 4096
  /// Devices, sockets and a handful of parents. With fewer, a crowd of connections could leave none for the camera.
  private static let minimumDescriptors: rlim_t = 64

  /// Forbids core dumps, which would put keys, codes and pictures on a disk or into a crash reporter. Call once, at the
  /// start.
  ///
  /// The limit alone does not stop a reporter to which the kernel pipes the dump (core(5)), so the process is made not
  /// dumpable as well (prctl(2), PR_SET_DUMPABLE). That also keeps other programs of the same user from reading its
  /// memory.
  public static func forbidDumps() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    clinux_forbid_dumps()
  }

  /// For a daemon: forbids dumps, and raises the limit on file descriptors to 4096 if the hard limit allows that.
  ///
  /// Throws `Failure` when there are too few descriptors to run with.
  public static func apply() throws {
    forbidDumps()
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(files, &limit) == 0, limit.rlim_cur < descriptors else { return }
    limit.rlim_cur = min(descriptors, limit.rlim_max)
    guard limit.rlim_cur >= minimumDescriptors else {
      throw Failure.failed(
        "\(limit.rlim_cur) file descriptors are too few, \(minimumDescriptors) are needed: raise `ulimit -n`, or "
          + "LimitNOFILE= of the service")
    }
    setrlimit(files, &limit)
  }
}
