internal import Glibc
internal import Synchronization

/// The programs of `exec:` cameras that run now, each with a process group of its own.
public enum RunningPrograms {
  private static let groups = Mutex<Set<pid_t>>([])

  static func insert(_ group: pid_t) { groups.withLock { _ = $0.insert(group) } }
  static func remove(_ group: pid_t) { groups.withLock { _ = $0.remove(group) } }

  /// Kills those whose devices could not be closed in time, before this process ends: one that goes on would keep its camera.
  public static func kill() {
    groups.withLock { groups in
      for group in groups { _ = Glibc.kill(-group, SIGKILL) }
      groups = []
    }
  }
}
