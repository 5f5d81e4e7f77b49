/// Reads the Huffman-coded data of a sequential JPEG (ITU-T T.81, annex F.2) without making a picture of it: is every block
/// there? TurboJPEG reports only the first of libjpeg's warnings; a harmless one would hide that half of the picture is
/// missing. Used for pictures in doubt only, for 0.7 to 0.9 of the time of decoding (1280x720, 4:2:2, optimized).
///
/// libjpeg's own interface reports all warnings, and refuses the same pictures: those with another warning than "extraneous bytes". It
/// cannot replace this, because it loses blocks of whole pictures where restart markers are missing: one, all, or announced and never made.
struct JPEGEntropy {
  /// The data with exactly the bytes that each restart interval needs, and a restart marker between any two.
  private(set) var data: [UInt8] = []
  /// Whether restart markers were added, or bytes left out: `data` is not what was there.
  private(set) var isRepaired = false

  /// Throws `corrupt` if a block is missing, `unsupported` for pictures with several scans.
  ///
  /// - Parameter hasRestarts: false reads the data as if no restart interval were defined.
  init(
    _ bytes: UnsafeRawBufferPointer, _ structure: JPEGStructure, hasRestarts: Bool
  ) throws(CodecError) {
    guard structure.isSequential, structure.scans.count == 1, let scan = structure.scans.first else {
      throw .unsupported("a JPEG of several scans")
    }
    let tables = JPEGHuffmanTable.tables(bytes, structure.segments)
    let blocks = try Self.blocks(of: structure, bytes, scan, tables)
    let total = Self.count(of: structure)
    let interval = hasRestarts && structure.restartInterval > 0 ? structure.restartInterval : total
    var reader = JPEGBitReader(bytes, scan.data)
    data.reserveCapacity(scan.data.count)
    var done = 0
    var number: UInt8 = 0
    while done < total {
      let begin = reader.position
      let count = min(interval, total - done)
      for _ in 0..<count {
        for (dc, ac) in blocks {
          guard reader.skipBlock(dc: tables.dc[dc], ac: tables.ac[ac]) else {
            throw .corrupt("blocks are missing in its data")
          }
        }
      }
      done += count
      reader.align()
      data += bytes[begin..<reader.position]
      guard done < total else { break }
      data += [0xff, 0xd0 | number]
      isRepaired = !reader.skipToMarker(0xd0 | number) || isRepaired
      number = (number + 1) & 7
    }
  }

  private static func count(of structure: JPEGStructure) -> Int {
    // A component of its own is not interleaved: its MCU is one block (A.2.2).
    let isAlone = structure.components.count == 1
    let columns = 8 * (isAlone ? 1 : structure.components.map(\.horizontal).max() ?? 1)
    let rows = 8 * (isAlone ? 1 : structure.components.map(\.vertical).max() ?? 1)
    return (structure.width + columns - 1) / columns * ((structure.height + rows - 1) / rows)
  }

  /// The tables' numbers for each block of an MCU.
  private static func blocks(
    of structure: JPEGStructure, _ bytes: UnsafeRawBufferPointer, _ scan: JPEGStructure.Scan,
    _ tables: (dc: [JPEGHuffmanTable], ac: [JPEGHuffmanTable])
  ) throws(CodecError) -> [(dc: Int, ac: Int)] {
    var result: [(dc: Int, ac: Int)] = []
    let isAlone = structure.components.count == 1
    for index in structure.components.indices {
      let entry = scan.header.lowerBound + 5 + 2 * index
      let selector = bytes[entry + 1]
      guard let component = structure.components.first(where: { $0.identifier == bytes[entry] }),
        case let numbers = (dc: Int(selector >> 4), ac: Int(selector & 15)), numbers.dc < 4, numbers.ac < 4
      else { throw .corrupt("its scan header is damaged") }
      let count = isAlone ? 1 : component.horizontal * component.vertical
      result += [(dc: Int, ac: Int)](repeating: numbers, count: count)
    }
    return result
  }
}

/// Bits of a scan, from one marker to the next.
private struct JPEGBitReader {
  private let bytes: UnsafeRawBufferPointer
  private let end: Int
  /// The next byte to be read.
  private(set) var position: Int
  private var bits: UInt64 = 0
  private var count = 0

  init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  /// At least 16 bits where there are so many.
  private mutating func fill() {
    while count <= 48, position < end {
      let byte = bytes[position]
      if byte == 0xff {
        guard position + 1 < end, bytes[position + 1] == 0 else { return }
        position += 1
      }
      position += 1
      bits = bits << 8 | UInt64(byte)
      count += 8
    }
  }

  private mutating func skip(_ number: Int) -> Bool {
    if count < number { fill() }
    guard count >= number else { return false }
    count -= number
    return true
  }

  private mutating func symbol(_ table: JPEGHuffmanTable) -> UInt8? {
    if count < 16 { fill() }
    // Behind the end come ones, which no code consists of.
    let window = count >= 16 ? bits >> UInt64(count - 16) : bits << UInt64(16 - count) | (1 << UInt64(16 - count)) - 1
    guard let (length, symbol) = table.code(UInt16(truncatingIfNeeded: window)), length <= count else { return nil }
    count -= length
    return symbol
  }

  /// False if the data ends, or is none of this block.
  mutating func skipBlock(dc: JPEGHuffmanTable, ac: JPEGHuffmanTable) -> Bool {
    guard let size = symbol(dc), size <= 15, skip(Int(size)) else { return false }
    var coefficient = 1
    while coefficient < 64 {
      guard let code = symbol(ac) else { return false }
      let (run, size) = (Int(code >> 4), Int(code & 15))
      if size == 0 {
        guard run == 15 else { return true }
        coefficient += 16
        continue
      }
      coefficient += run + 1
      guard skip(size) else { return false }
    }
    return coefficient == 64
  }

  /// To the byte behind the last one that was used.
  mutating func align() {
    // Whole bytes that were read too early.
    var spare = count / 8
    while spare > 0 {
      position -= 1
      // A stuffed FF has two.
      if bytes[position] == 0, bytes[position - 1] == 0xff { position -= 1 }
      spare -= 1
    }
    (bits, count) = (0, 0)
  }

  /// Goes behind the next restart marker if it is this one, over bytes that are nobody's. Otherwise it is missing: stays.
  /// True if it was there.
  mutating func skipToMarker(_ wanted: UInt8) -> Bool {
    var next = position
    while next + 1 < end {
      if bytes[next] == 0xff, bytes[next + 1] == wanted {
        position = next + 2
        return true
      }
      if bytes[next] == 0xff, 0xd0...0xd7 ~= bytes[next + 1] { return false }
      next += 1
    }
    return false
  }
}
