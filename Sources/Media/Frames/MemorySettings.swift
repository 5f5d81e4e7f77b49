internal import CLinux
internal import Glibc

/// How the C library's allocator behaves in a daemon that runs for months on a small board. mallopt(3).
public enum MemorySettings {
  /// The code and constants of the program and of what it is linked with, as mapped before any thread could load or
  /// unload a library (libsrtp's NSS does both): these addresses hold the same bytes as long as the program runs.
  private static let linkedFiles = MemoryMapping.current().filter(\.isUnchangedFile)

  /// Call once, before threads start.
  public static func apply() {
    _ = linkedFiles
    // One arena for each thread would keep what each of them ever freed; ours allocate little.
    mallopt(M_ARENA_MAX, 2)
    // Pictures are a megabyte and more: always mapped, so that a camera that is gone gives its memory back. Left alone,
    // glibc raises the threshold with the first one that is freed.
    mallopt(M_MMAP_THRESHOLD, 256 * 1024)
    mallopt(M_TRIM_THRESHOLD, 256 * 1024)
  }

  /// After a phase that will not come again soon, such as starting up: lets go of what it freed, and of the code and
  /// constants that only it needed. What is used again is mapped again from the page cache, at a microsecond for 16
  /// pages. Only after `apply`.
  public static func releaseUnused() {
    malloc_trim(0)
    for mapping in linkedFiles {
      madvise(
        UnsafeMutableRawPointer(bitPattern: mapping.addresses.lowerBound), mapping.addresses.count, MADV_DONTNEED)
    }
  }
}
