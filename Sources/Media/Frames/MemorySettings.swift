internal import CLinux
internal import Glibc

/// Settings of the C library's allocator for a daemon that runs for months on a small board. mallopt(3).
public enum MemorySettings {
  /// Call once, before threads start.
  public static func apply() {
    // One arena per thread would retain what each thread ever freed; ours allocate little.
    mallopt(M_ARENA_MAX, 2)
    // Pictures are a megabyte and more: always use mmap, so that a removed camera's memory is returned. By default
    // glibc raises the threshold when the first one is freed.
    mallopt(M_MMAP_THRESHOLD, 256 * 1024)
    mallopt(M_TRIM_THRESHOLD, 256 * 1024)
  }

  /// Returns freed memory to the system. For the end of a phase that will not recur soon, such as start-up.
  /// malloc_trim(3).
  public static func releaseUnused() {
    malloc_trim(0)
  }
}
