/// Reads recordings the way that a player does, as far as the tests ask.
struct ParsedWebM {
  struct Block: Hashable {
    var track: Int
    /// Milliseconds.
    var time: Int
    var flags: UInt8
    var size: Int
  }

  struct Cluster {
    /// In the segment.
    var position: Int
    var time: Int
    var blocks: [Block] = []
    var hasSize: Bool
  }

  var clusters: [Cluster] = []
  var duration: Double?
  var width = 0
  var height = 0
  /// Time in milliseconds and position in the segment.
  var cues: [(time: Int, position: Int)] = []
  /// ID and position in the segment.
  var seeks: [(id: Int, position: Int)] = []
  var segmentSize: Int?
  var segmentOffset = 0
  var elementPositions: [Int: Int] = [:]
  var codecDelay: Int?
  var seekPreRoll: Int?
  var codecPrivate: [UInt8] = []
  /// True if the bytes end within an element.
  var isCut = false

  var blocks: [Block] { clusters.flatMap(\.blocks) }
  func blocks(track: Int) -> [Block] { blocks.filter { $0.track == track } }

  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var position = 0
    while position < bytes.count, let element = element(at: position) {
      if element.id == 0x1853_8067 {
        segmentSize = element.size
        segmentOffset = element.content
        segment(from: element.content, to: min(bytes.count, element.size.map { element.content + $0 } ?? bytes.count))
        position = element.size.map { element.content + $0 } ?? bytes.count
      } else {
        position = element.content + (element.size ?? 0)
      }
    }
    if position > bytes.count { isCut = true }
  }

  private func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }

  private func element(at position: Int) -> (id: Int, content: Int, size: Int?)? {
    guard position < bytes.count, bytes[position] != 0 else { return nil }
    let idLength = bytes[position].leadingZeroBitCount + 1
    let sizeStart = position + idLength
    guard sizeStart < bytes.count else { return nil }
    let sizeLength = bytes[sizeStart].leadingZeroBitCount + 1
    guard sizeStart + sizeLength <= bytes.count, sizeLength <= 8 else { return nil }
    let mask = 1 << (7 * sizeLength) - 1
    let size = number(sizeStart..<sizeStart + sizeLength) & mask
    return (number(position..<sizeStart), sizeStart + sizeLength, size == mask ? nil : size)
  }

  private mutating func segment(from start: Int, to end: Int) {
    var position = start
    while position < end {
      guard let element = element(at: position), element.content + (element.size ?? 0) <= bytes.count else {
        isCut = true
        return
      }
      let content = element.content..<element.content + (element.size ?? 0)
      switch element.id {
      case 0x1f43_b675:
        elementPositions[element.id] = elementPositions[element.id] ?? position - start
        clusters.append(Cluster(position: position - start, time: 0, hasSize: element.size != nil))
        // Its children are read as if they were the segment's: so it ends where its last block does.
        position = element.content
        continue
      case 0xe7: clusters[clusters.count - 1].time = number(content)
      case 0xa3:
        let relative = Int(Int16(truncatingIfNeeded: number(content.lowerBound + 1..<content.lowerBound + 3)))
        clusters[clusters.count - 1].blocks.append(
          Block(
            track: Int(bytes[content.lowerBound] & 0x7f), time: clusters[clusters.count - 1].time + relative,
            flags: bytes[content.lowerBound + 3], size: content.count - 4))
      case 0x1549_a966, 0x1654_ae6b, 0xae, 0xe0, 0x1c53_bb6b, 0xbb, 0xb7, 0x114d_9b74, 0x4dbb:
        elementPositions[element.id] = position - start
        segment(from: content.lowerBound, to: content.upperBound)
      case 0x4489: duration = Double(bitPattern: UInt64(number(content)))
      case 0xb0: width = number(content)
      case 0xba: height = number(content)
      case 0xb3: cues.append((number(content), 0))
      case 0xf1: cues[cues.count - 1].position = number(content)
      case 0x53ab: seeks.append((number(content), 0))
      case 0x53ac: seeks[seeks.count - 1].position = number(content)
      case 0x56aa: codecDelay = number(content)
      case 0x56bb: seekPreRoll = number(content)
      case 0x63a2: codecPrivate = Array(bytes[content])
      default: break
      }
      position = content.upperBound
    }
  }
}
