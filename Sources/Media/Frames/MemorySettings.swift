internal import CLinux
internal import Glibc

/// How the C library's allocator behaves in a daemon that runs for months on a small board. mallopt(3).
public enum MemorySettings {
  /// Call once, before threads start.
  public static func apply() {
    // One arena for each thread would keep what each of them ever freed; ours allocate little.
    mallopt(M_ARENA_MAX, 2)
    // Pictures are a megabyte and more: always mapped, so that a camera that is gone gives its memory back. Left alone,
    // glibc raises the threshold with the first one that is freed.
    mallopt(M_MMAP_THRESHOLD, 256 * 1024)
    mallopt(M_TRIM_THRESHOLD, 256 * 1024)
  }

  /// Gives freed memory back to the system. For the end of a phase that will not come again soon, such as starting up.
  /// malloc_trim(3).
  public static func releaseUnused() {
    malloc_trim(0)
  }
}
