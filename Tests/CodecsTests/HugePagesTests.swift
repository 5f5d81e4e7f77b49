import Glibc
import Testing

@testable import Frames

@Suite struct HugePagesTests {
  /// Memory of four huge pages, mapped and not yet touched.
  private struct Mapped: ~Copyable {
    let start: UnsafeMutablePointer<UInt8>
    let count: Int
    let pages: Int

    init(pageSize: Int) throws {
      pages = 4
      count = pages * pageSize
      let memory = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
      try #require(memory != MAP_FAILED)
      start = memory!.assumingMemoryBound(to: UInt8.self)
      madvise(start, count, MADV_NOHUGEPAGE)
    }

    deinit { munmap(start, count) }

    /// Bytes.
    var resident: Int {
      let small = sysconf(Int32(_SC_PAGESIZE))
      var seen = [UInt8](repeating: 0, count: count / small)
      return mincore(start, count, &seen) == 0 ? seen.count { $0 & 1 == 1 } * small : 0
    }
  }

  /// Linux 6.1 or later, with huge pages that its owner has not switched off.
  private static var isPossible: Bool {
    var name = utsname()
    uname(&name)
    let release = withUnsafeBytes(of: name.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let version = release.split(separator: ".").prefix(2).compactMap { Int($0) }
    return HugePages.isAllowed && HugePages.size.map { $0 <= 4 << 20 } == true && version.count == 2
      && (version[0], version[1]) >= (6, 1)
  }

  @Test(.enabled(if: isPossible)) func whatIsInUseIsGatheredAndStaysAsItWas() throws {
    let mapped = try Mapped(pageSize: #require(HugePages.size))
    let blocks = 0..<mapped.count / 256
    for block in blocks { memset(mapped.start + block * 256, Int32(block % 251), 256) }
    madvise(mapped.start, mapped.count, MADV_HUGEPAGE)
    #expect(HugePages.gatherUsed() >= mapped.count / mapped.pages)
    for place in [0, 255] { #expect(blocks.allSatisfy { Int(mapped.start[$0 * 256 + place]) == $0 % 251 }) }
    // Once more finds them gathered, and that is all.
    #expect(HugePages.gatherUsed() >= mapped.count / mapped.pages)
  }

  @Test func whatIsNotInUseIsNotTakenUp() throws {
    let mapped = try Mapped(pageSize: HugePages.size ?? 2 << 20)
    // A quarter of each huge page is missing.
    let (huge, small) = (mapped.count / mapped.pages, sysconf(Int32(_SC_PAGESIZE)))
    for index in stride(from: 0, to: mapped.count, by: small) where index % huge < huge / 4 * 3 {
      mapped.start[index] = 1
    }
    let before = mapped.resident
    #expect(before == mapped.count / 4 * 3)
    HugePages.gatherUsed()
    #expect(mapped.resident == before)
  }

  @Test func gatheringIsOncePerCodec() {
    var settling = HugePages.Settling()
    var times: [Int] = []
    for picture in 1...200 where settling.pictureDone() { times.append(picture) }
    #expect(times == [64])
  }
}
