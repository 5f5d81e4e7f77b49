internal import CLinux
internal import Glibc

/// One mapping of this process. proc(5), `smaps`.
public struct MemoryMapping: Sendable {
  public var addresses: Range<Int>
  /// `rw-p`: what may be done, and whether it is private.
  public var permissions: String
  /// Whether a file is behind it.
  public var isFile: Bool
  /// Bytes that are not, or no longer, what the file has.
  public var ownBytes = 0

  /// Private memory of no file, to be read and written.
  public var isPrivateMemory: Bool { permissions == "rw-p" && !isFile }
  /// Code and constants of the program or of a library: nothing has written there and nothing can, so it is what the
  /// file has. (What the loader relocates and then protects has been written.)
  public var isUnchangedFile: Bool { (permissions == "r-xp" || permissions == "r--p") && isFile && ownBytes == 0 }

  private static let ownLabels: Set<Substring> = ["Anonymous:", "Swap:"]

  /// As of now; another thread may change it at any time. Empty where there is no /proc.
  public static func current() -> [MemoryMapping] {
    guard let file = fopen("/proc/self/smaps", "re") else { return [] }
    defer { fclose(file) }
    var mappings: [MemoryMapping] = []
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      let fields = text.split(separator: " ", maxSplits: 5)
      if let label = fields.first, label.hasSuffix(":") {
        if ownLabels.contains(label), fields.count >= 2, !mappings.isEmpty {
          mappings[mappings.count - 1].ownBytes += (Int(fields[1]) ?? 0) * 1024
        }
        continue
      }
      let ends = fields.first?.split(separator: "-").compactMap { Int($0, radix: 16) } ?? []
      guard fields.count >= 5, ends.count == 2, ends[0] < ends[1] else { continue }
      mappings.append(
        MemoryMapping(addresses: ends[0]..<ends[1], permissions: String(fields[1]), isFile: fields[4] != "0"))
    }
    return mappings
  }
}

/// Reads this process's memory where another thread may unmap it meanwhile.
///
/// Through the kernel, which says so instead of ending the process: write(2) into a pipe fails with EFAULT.
/// /proc/self/mem would do, too, but in a process that forbids dumps only root may open it.
public struct MemoryPeephole: ~Copyable {
  private let reading: Int32
  private let writing: Int32

  /// Nil when there is no descriptor left.
  public init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0 else { return nil }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// The two machine words at an address; nil where nothing is mapped.
  public func words(at address: Int) -> (UInt, UInt)? {
    var words: (UInt, UInt) = (0, 0)
    let count = MemoryLayout.size(ofValue: words)
    guard write(writing, UnsafeRawPointer(bitPattern: address), count) == count, read(reading, &words, count) == count
    else { return nil }
    return words
  }
}
