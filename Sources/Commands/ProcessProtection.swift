internal import CLinux
internal import Glibc

/// What a daemon that holds keys asks of the kernel.
public enum ProcessProtection {
  /// Enough for every place at the door and every device, and no more: a library that walks all descriptors stays quick.
  private static let descriptors: rlim_t = 4096
  /// Devices, sockets and a handful of parents. With fewer a crowd of connections could take what a camera needs.
  private static let fewestDescriptors: rlim_t = 64

  /// Call once, at the start. What the kernel does not grant is left as it is.
  ///
  /// - No core dumps: they would put keys, codes and pictures on a disk or into a crash reporter. The limit alone does not
  ///   hold for a reporter that the kernel pipes the dump to (core(5)), so the process is not dumpable either (prctl(2)),
  ///   which also keeps other programs of the same user from reading its memory.
  /// - Up to 4096 file descriptors, where the hard limit allows that.
  ///
  /// Throws `Failure` when there are too few to run with.
  public static func apply() throws {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    clinux_forbid_dumps()
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(files, &limit) == 0, limit.rlim_cur < descriptors else { return }
    limit.rlim_cur = min(descriptors, limit.rlim_max)
    guard limit.rlim_cur >= fewestDescriptors else {
      throw Failure.failed(
        "\(limit.rlim_cur) file descriptors are too few, \(fewestDescriptors) are needed: raise `ulimit -n`, or "
          + "LimitNOFILE= of the service")
    }
    setrlimit(files, &limit)
  }
}
