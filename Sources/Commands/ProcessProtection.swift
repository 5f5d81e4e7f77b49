internal import CLinux
internal import Glibc

/// What a daemon that holds keys asks of the kernel.
public enum ProcessProtection {
  /// Enough for every place at the door and every device, and no more: a library that walks all descriptors stays quick.
  private static let descriptors: rlim_t = 4096

  /// Call once, at the start. What the kernel does not grant is left as it is.
  ///
  /// - No core dumps: they would put keys, codes and pictures on a disk or into a crash reporter. The limit alone does not
  ///   hold for a reporter that the kernel pipes the dump to (core(5)), so the process is not dumpable either (prctl(2)),
  ///   which also keeps other programs of the same user from reading its memory.
  /// - Up to 4096 file descriptors, where the hard limit allows that.
  public static func apply() {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    clinux_forbid_dumps()
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    guard getrlimit(files, &limit) == 0, limit.rlim_cur < descriptors else { return }
    limit.rlim_cur = min(descriptors, limit.rlim_max)
    setrlimit(files, &limit)
  }
}
