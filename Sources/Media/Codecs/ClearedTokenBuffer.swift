internal import Frames
internal import Glibc

/// Gives back memory that libvpx clears once and then hardly uses, again after each key frame.
///
/// The VP8 encoder keeps room for the most tokens that a picture can have, 16 bytes for each coefficient with its block's
/// overhead (22 MB for 1280×720), and clears it, which makes every page of it resident. A key frame uses a quarter, the pictures
/// between them a fiftieth. The pages hold nothing but zeros right after the encoder was made, and between two pictures
/// nothing that is needed again, so letting them go changes nothing: the kernel gives zeros for those that are written
/// later (madvise(2), MADV_DONTNEED on private anonymous memory).
///
/// libvpx does not tell where the buffer is. It is found as the one chunk of just that size among the mappings of this
/// process, and only when all of it is zero. If a later libvpx allocates otherwise, nothing is found and nothing happens.
struct ClearedTokenBuffer {
  /// Of the allocator's chunk, whose first page holds its header.
  private let address: Int
  private let size: Int

  /// Finds the buffer and lets it go. Call on the thread that made the encoder, before its first frame. Nil when there is
  /// no such buffer.
  init?(width: Int, height: Int) {
    guard let peephole = MemoryPeephole() else { return nil }
    let size = Self.mappedSize(width: width, height: height)
    for mapping in MemoryMapping.current()
    where mapping.isPrivateMemory && (size...max(size, Self.maximumSearched)).contains(mapping.addresses.count) {
      for address in stride(
        from: mapping.addresses.lowerBound, through: mapping.addresses.upperBound - size, by: Self.pageSize)
      where Self.isChunk(at: address, size: size, peephole) {
        guard let start = UnsafeMutableRawPointer(bitPattern: address + Self.pageSize),
          Self.isCleared(start, count: size - Self.pageSize)
        else { continue }
        self.address = address
        self.size = size
        release()
        return
      }
    }
    return nil
  }

  /// Call between two pictures, as long as the encoder has the size that it was made with.
  func release() {
    guard let start = UnsafeMutableRawPointer(bitPattern: address + Self.pageSize) else { return }
    madvise(start, size - Self.pageSize, MADV_DONTNEED)
  }

  /// Every page of a mapping is looked at. One that is larger was reserved for something else: the shadow memory of
  /// AddressSanitizer has terabytes.
  private static let maximumSearched = 256 << 20

  private static let pageSize = sysconf(Int32(_SC_PAGESIZE))

  /// libvpx 1.3 to 1.15: `mb_rows * mb_cols * 24 * 16` tokens of 16 bytes and 23 bytes to align them; glibc adds its
  /// header and rounds up to whole pages.
  private static func mappedSize(width: Int, height: Int) -> Int {
    let macroblocks = (width + 15) / 16 * ((height + 15) / 16)
    let bytes = macroblocks * 24 * 16 * 16 + 23
    return (((bytes + 8 + 15) & ~15) + 8 + pageSize - 1) / pageSize * pageSize
  }

  /// glibc's header of a chunk that has a mapping of its own: nothing before it, then its size and the flag 2. Another
  /// thread may unmap what is looked at.
  private static func isChunk(at address: Int, size: Int, _ peephole: borrowing MemoryPeephole) -> Bool {
    peephole.words(at: address).map { $0 == (0, UInt(size | 2)) } ?? false
  }

  /// Each byte equals its neighbour and the first is zero.
  private static func isCleared(_ start: UnsafeMutableRawPointer, count: Int) -> Bool {
    start.load(as: UInt8.self) == 0 && memcmp(start, start + 1, count - 1) == 0
  }
}
