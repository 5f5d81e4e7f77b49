internal import Glibc

/// Pictures in huge pages.
///
/// An encoder goes through ten megabytes of pictures for each new one, in small blocks all over them, and between two
/// pictures the processor has forgotten where their 4 KiB pages are. Gathered into huge pages (2 MiB on most machines)
/// there are few enough of them to look up. In a virtual machine, where looking up is dearest, that saved 4 to 5 % of
/// the encoder's time and as much of the decoder's, two programs side by side.
public enum HugePages {
  /// Has the kernel gather this process's memory into huge pages where seven eighths of such a page are in use already,
  /// so that hardly anything is taken up that was not before. To be called once an encoder or decoder has used all of
  /// its buffers. madvise(2), MADV_COLLAPSE, Linux 6.1; an older kernel, and one that is told to have no huge pages,
  /// leaves everything as it is.
  ///
  /// Returns how many bytes are in huge pages for it.
  @discardableResult
  public static func gatherUsed() -> Int {
    guard let size = size, isAllowed else { return 0 }
    var gathered = 0
    for mapping in MemoryMapping.current()
    where mapping.isPrivateMemory && (size...max(size, maximumSearched)).contains(mapping.addresses.count) {
      var used = (mapping.addresses.lowerBound + size - 1) / size * size
      var end = used
      while end + size <= mapping.addresses.upperBound {
        if isUsed(at: end, count: size) {
          end += size
        } else {
          gathered += gather(used..<end)
          end += size
          used = end
        }
      }
      gathered += gather(used..<end)
    }
    return gathered
  }

  /// When to gather: counts the pictures of an encoder or decoder that was just made.
  public struct Settling {
    /// By then it has used each of its reference pictures.
    private var left = 64

    public init() {}

    /// True for the one that had the memory gathered.
    @discardableResult
    public mutating func pictureDone() -> Bool {
      guard left > 0 else { return false }
      left -= 1
      guard left == 0 else { return false }
      // It takes tens of milliseconds, in which the next pictures do not wait.
      _ = WorkerThread(name: "huge-pages") { gatherUsed() }
      return true
    }
  }

  /// One call for neighbours: each has the kernel empty its lists of all processors.
  private static func gather(_ addresses: Range<Int>) -> Int {
    guard !addresses.isEmpty, let start = UnsafeMutableRawPointer(bitPattern: addresses.lowerBound) else { return 0 }
    return madvise(start, addresses.count, collapse) == 0 ? addresses.count : 0
  }

  /// Seven eighths of its pages are resident: pictures leave gaps of some rows between them. mincore(2). False as well for
  /// what another thread unmaps meanwhile.
  private static func isUsed(at address: Int, count: Int) -> Bool {
    guard let start = UnsafeMutableRawPointer(bitPattern: address) else { return false }
    var pages = [UInt8](repeating: 0, count: count / pageSize)
    return mincore(start, count, &pages) == 0 && pages.count { $0 & 1 == 1 } >= pages.count / 8 * 7
  }

  /// MADV_COLLAPSE of linux/mman.h; glibc has the name since 2.37.
  private static let collapse: Int32 = 25
  /// One that is larger was reserved for something else: the shadow memory of AddressSanitizer has terabytes.
  private static let maximumSearched = 256 << 20
  private static let pageSize = sysconf(Int32(_SC_PAGESIZE))
  private static let directory = "/sys/kernel/mm/transparent_hugepage/"

  /// Bytes; nil where the kernel has none.
  static var size: Int? {
    guard let text = contents(of: directory + "hpage_pmd_size"), let size = Int(text.prefix { $0.isNumber }),
      size >= pageSize
    else { return nil }
    return size
  }

  /// MADV_COLLAPSE does not ask what the machine's owner wished, so we do.
  static var isAllowed: Bool {
    contents(of: directory + "enabled").map { !$0.contains("[never]") } ?? false
  }

  private static func contents(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 128) { buffer, count in
      count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
