internal import Frames
internal import Glibc

/// Gives back memory that libvpx clears once and then hardly uses.
///
/// The VP8 encoder keeps room for the most tokens that a picture can have, 16 bytes for each coefficient with its block's
/// overhead (22 MB for 1280×720), and clears it, which makes every page of it resident. A live picture uses a tenth. The
/// pages hold nothing but zeros right after the encoder was made, so letting them go changes nothing: the kernel gives
/// zeros again for the few that are written later (madvise(2), MADV_DONTNEED on private anonymous memory).
///
/// libvpx does not tell where the buffer is. It is found as the one chunk of just that size among the mappings of this
/// process, and only when all of it is zero. If a later libvpx allocates otherwise, nothing is found and nothing happens.
enum ClearedTokenBuffer {
  /// Call on the thread that made the encoder, before its first frame.
  static func release(width: Int, height: Int) {
    let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
    guard memory >= 0 else { return }
    defer { close(memory) }
    let size = mappedSize(width: width, height: height)
    for mapping in MemoryMapping.current()
    where mapping.isPrivateMemory && (size...max(size, mostSearched)).contains(mapping.addresses.count) {
      for address in stride(
        from: mapping.addresses.lowerBound, through: mapping.addresses.upperBound - size, by: pageSize)
      where isChunk(at: address, size: size, memory) {
        // The first page holds the allocator's header.
        guard let start = UnsafeMutableRawPointer(bitPattern: address + pageSize),
          isCleared(start, count: size - pageSize)
        else { continue }
        madvise(start, size - pageSize, MADV_DONTNEED)
        return
      }
    }
  }

  /// Every page of a mapping is looked at. One that is larger was reserved for something else: the shadow memory of
  /// AddressSanitizer has terabytes.
  private static let mostSearched = 256 << 20

  private static let pageSize = sysconf(Int32(_SC_PAGESIZE))

  /// libvpx 1.3 to 1.15: `mb_rows * mb_cols * 24 * 16` tokens of 16 bytes and 23 bytes to align them; glibc adds its
  /// header and rounds up to whole pages.
  private static func mappedSize(width: Int, height: Int) -> Int {
    let macroblocks = (width + 15) / 16 * ((height + 15) / 16)
    let bytes = macroblocks * 24 * 16 * 16 + 23
    return (((bytes + 8 + 15) & ~15) + 8 + pageSize - 1) / pageSize * pageSize
  }

  /// glibc's header of a chunk that has a mapping of its own: nothing before it, then its size and the flag 2. Read
  /// through the kernel, because another thread may unmap what is looked at.
  private static func isChunk(at address: Int, size: Int, _ memory: Int32) -> Bool {
    var header: (UInt, UInt) = (0, 0)
    return pread(memory, &header, 16, address) == 16 && header == (0, UInt(size | 2))
  }

  /// Each byte equals its neighbour and the first is zero.
  private static func isCleared(_ start: UnsafeMutableRawPointer, count: Int) -> Bool {
    start.load(as: UInt8.self) == 0 && memcmp(start, start + 1, count - 1) == 0
  }
}
