internal import Glibc

/// One mapping of this process. proc(5), `maps`.
public struct MemoryMapping: Sendable {
  public var addresses: Range<Int>
  /// `rw-p`: what may be done, and whether it is private.
  public var permissions: String
  /// Whether a file is behind it.
  public var isFile: Bool

  /// Private memory of no file, to be read and written.
  public var isPrivateMemory: Bool { permissions == "rw-p" && !isFile }
  /// Code of the program or of a library. It cannot be written, so it is what the file has.
  public var isCode: Bool { permissions == "r-xp" && isFile }

  /// As of now; another thread may change it at any time. Empty where there is no /proc.
  public static func current() -> [MemoryMapping] {
    guard let file = fopen("/proc/self/maps", "re") else { return [] }
    defer { fclose(file) }
    var mappings: [MemoryMapping] = []
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      let fields = text.split(separator: " ", maxSplits: 5)
      let ends = fields.first?.split(separator: "-").compactMap { Int($0, radix: 16) } ?? []
      guard fields.count >= 5, ends.count == 2, ends[0] < ends[1] else { continue }
      mappings.append(
        MemoryMapping(addresses: ends[0]..<ends[1], permissions: String(fields[1]), isFile: fields[4] != "0"))
    }
    return mappings
  }
}
