internal import CLinux
internal import Glibc

/// For a process that reads what strangers send with libraries in C, and does nothing else.
public enum ProcessConfinement {
  /// Heap and stacks. What is more is an attack, or a leak.
  private static let memory: rlim_t = 128 << 20
  private static let descriptors: rlim_t = 64
  /// A server may make a client compute for minutes (the iterations of SCRAM, RFC 5802): never at the picture's cost.
  private static let niceness: Int32 = 10

  /// Gives up what the process does not need: it ends with the thread that started it, gains no privileges, writes no file
  /// and no core dump, may not be looked into by other programs of its user, is the first to go where memory runs out, lets
  /// others compute first, and cannot take much itself. What the system refuses to limit stays as it is.
  ///
  /// - Parameter name: as `top` shows it.
  public static func apply(name: String) {
    clinux_set_thread_name(name)
    // While the process is dumpable the file is its user's: proc(5).
    let file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
    if file >= 0 {
      _ = write(file, "500", 3)
      close(file)
    }
    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness)
    clinux_confine()
    let limits: [(UInt32, rlim_t)] = [
      (RLIMIT_CORE.rawValue, 0), (RLIMIT_FSIZE.rawValue, 0), (RLIMIT_DATA.rawValue, memory),
      (RLIMIT_NOFILE.rawValue, descriptors),
    ]
    for (resource, limit) in limits {
      var value = rlimit(rlim_cur: limit, rlim_max: limit)
      setrlimit(__rlimit_resource_t(resource), &value)
    }
  }
}
