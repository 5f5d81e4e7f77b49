internal import Glibc

/// The parts of a JPEG that matter to a decoder (ITU-T T.81, annex B), found in spite of what cameras do wrong around them:
/// bytes before SOI and after the picture, padding, a missing EOI, application segments with a wrong length, SOS parameters
/// that are not those of a sequential picture. libjpeg takes none of these pictures, or takes zeros for blocks and shows half of one. Costs
/// less than a hundredth of decoding.
struct JPEGStructure {
  struct Component: Hashable {
    var identifier: UInt8
    var horizontal: Int
    var vertical: Int
  }

  struct Scan {
    /// The SOS segment with its marker.
    var header: Range<Int>
    /// Entropy-coded data with its restart markers, without padding.
    var data: Range<Int>
  }

  /// SOFn: 0xc0 and 0xc1 are sequential, 0xc2 is progressive.
  private(set) var process: UInt8 = 0
  private(set) var precision = 0
  private(set) var width = 0
  private(set) var height = 0
  private(set) var components: [Component] = []
  /// MCUs between two restart markers; 0 without.
  private(set) var restartInterval = 0
  /// Segments before the first scan, in order, each with its marker.
  private(set) var segments: [(marker: UInt8, range: Range<Int>)] = []
  /// In order; segments between scans go with the scan that follows.
  private(set) var scans: [Scan] = []
  /// Behind the last scan's data.
  private var end = 0
  /// What is wrong with it, harmless to the picture; empty for a regular JPEG, which a decoder takes as it is.
  private(set) var faults: Set<Fault> = []

  /// What a decoder does not take, or not without a warning, though the picture may be whole.
  enum Fault: String, Hashable, Sendable {
    case bytesBeforePicture = "bytes before the picture"
    case wrongSegment = "an application segment with a wrong length"
    case scanParameters = "odd SOS parameters"
    case padding = "padding within the picture's data"
    case noEnd = "no EOI marker"
    case wrongSize = "a frame header with another size than its data"
    case restartMarkers = "missing or misplaced restart markers"
  }

  var isSequential: Bool { process == 0xc0 || process == 0xc1 }

  /// Throws `corrupt` if there is no picture in `bytes`.
  init(_ bytes: UnsafeRawBufferPointer) throws(CodecError) {
    guard let start = Self.start(of: bytes) else { throw .corrupt("no JPEG begins in these \(bytes.count) bytes") }
    if start > 0 { faults.insert(.bytesBeforePicture) }
    var position = start + 2
    while let marker = Self.marker(in: bytes, at: position) {
      position = marker.end - 2
      switch marker.code {
      case 0xd9:
        try finish(bytes, hasEnd: true)
        return
      case 0x01, 0xd0...0xd7: position = marker.end
      case 0xd8:
        // The library takes one alone.
        faults.insert(.bytesBeforePicture)
        position = marker.end
      case 0xda:
        guard let data = Self.segmentEnd(in: bytes, at: position) else { throw Self.cut }
        position = try readScan(bytes, header: position..<data)
        end = position
        // A sequential picture whose components are all in the scan is complete: what follows is not of it.
        if isComplete {
          try finish(bytes, hasEnd: Self.marker(in: bytes, at: position)?.code == 0xd9)
          return
        }
      default:
        position = try readSegment(bytes, marker.code, at: position)
      }
    }
    try finish(bytes, hasEnd: false)
  }

  private static let cut = CodecError.corrupt("it ends before the picture does")

  /// The first SOI that another marker follows.
  private static func start(of bytes: UnsafeRawBufferPointer) -> Int? {
    var position = 0
    while position + 3 < bytes.count {
      if bytes[position] == 0xff, bytes[position + 1] == 0xd8, bytes[position + 2] == 0xff { return position }
      guard let next = nextFF(in: bytes, from: position + 1) else { return nil }
      position = next
    }
    return nil
  }

  private static func nextFF(in bytes: UnsafeRawBufferPointer, from position: Int) -> Int? {
    guard position < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + position, 0xff, bytes.count - position)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// The marker at `position`, with any number of fill bytes before it; `end` is behind it.
  private static func marker(in bytes: UnsafeRawBufferPointer, at position: Int) -> (code: UInt8, end: Int)? {
    guard position < bytes.count, bytes[position] == 0xff else { return nil }
    var code = position + 1
    while code < bytes.count, bytes[code] == 0xff { code += 1 }
    guard code < bytes.count, bytes[code] != 0 else { return nil }
    return (bytes[code], code + 1)
  }

  /// Behind the segment whose marker is at `position`, by its length; nil when that is beyond the end.
  private static func segmentEnd(in bytes: UnsafeRawBufferPointer, at position: Int) -> Int? {
    guard position + 4 <= bytes.count else { return nil }
    let length = word(bytes, position + 2)
    guard length >= 2, position + 2 + length <= bytes.count else { return nil }
    return position + 2 + length
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> Int {
    Int(bytes[position]) << 8 | Int(bytes[position + 1])
  }

  /// Returns the position behind the segment.
  private mutating func readSegment(
    _ bytes: UnsafeRawBufferPointer, _ code: UInt8, at position: Int
  ) throws(CodecError) -> Int {
    let end = Self.segmentEnd(in: bytes, at: position)
    let isApplication = 0xe0...0xef ~= code || code == 0xfe
    if isApplication || Self.isReserved(code) {
      if let end, Self.marker(in: bytes, at: end) != nil {
        if isApplication { segments.append((code, position..<end)) }
        return end
      }
      // Its length is wrong: the picture's own segments follow somewhere.
      faults.insert(.wrongSegment)
      guard let next = Self.nextPictureSegment(in: bytes, from: position + 2) else { throw Self.cut }
      return next
    }
    guard let end else { throw Self.cut }
    let range = position..<end
    switch code {
    case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf: try readFrameHeader(bytes, code, range)
    case 0xdd where range.count >= 6: restartInterval = Self.word(bytes, position + 4)
    default: break
    }
    // Between scans they go with the next scan.
    if scans.isEmpty { segments.append((code, range)) }
    return end
  }

  /// Codes that T.81 reserves; JPEG extensions and application data.
  private static func isReserved(_ code: UInt8) -> Bool { 0x02...0xbf ~= code || 0xf0...0xfd ~= code || code == 0xc8 }

  /// The first marker of a table, a frame or a scan whose segment ends at another marker, or at a scan's data.
  private static func nextPictureSegment(in bytes: UnsafeRawBufferPointer, from position: Int) -> Int? {
    var position = position
    while let found = nextFF(in: bytes, from: position) {
      if let marker = marker(in: bytes, at: found), [0xdb, 0xc0, 0xc1, 0xc2, 0xc4, 0xdd, 0xda].contains(marker.code),
        let end = segmentEnd(in: bytes, at: marker.end - 2),
        marker.code == 0xda || Self.marker(in: bytes, at: end) != nil
      {
        return marker.end - 2
      }
      position = found + 1
    }
    return nil
  }

  private mutating func readFrameHeader(
    _ bytes: UnsafeRawBufferPointer, _ code: UInt8, _ range: Range<Int>
  ) throws(CodecError) {
    guard process == 0 else { throw .corrupt("it has two frame headers") }
    guard range.count >= 10 else { throw .corrupt("its frame header is too short") }
    process = code
    precision = Int(bytes[range.lowerBound + 4])
    height = Self.word(bytes, range.lowerBound + 5)
    width = Self.word(bytes, range.lowerBound + 7)
    let count = Int(bytes[range.lowerBound + 9])
    guard (1...4).contains(count), range.count >= 10 + 3 * count else { throw .corrupt("its frame header is damaged") }
    for index in 0..<count {
      let entry = range.lowerBound + 10 + 3 * index
      let factors = bytes[entry + 1]
      let component = Component(
        identifier: bytes[entry], horizontal: Int(factors >> 4), vertical: Int(factors & 15))
      guard (1...4).contains(component.horizontal), (1...4).contains(component.vertical) else {
        throw .corrupt("its frame header is damaged")
      }
      components.append(component)
    }
  }

  /// Returns the position of the marker behind the scan's data, or the end.
  private mutating func readScan(
    _ bytes: UnsafeRawBufferPointer, header: Range<Int>
  ) throws(CodecError) -> Int {
    guard process != 0 else { throw .corrupt("a scan comes before the frame header") }
    guard header.count >= 5, case let count = Int(bytes[header.lowerBound + 4]), (1...4).contains(count),
      header.count >= 8 + 2 * count
    else { throw .corrupt("its scan header is damaged") }
    let parameters = header.lowerBound + 5 + 2 * count
    if isSequential, bytes[parameters] != 0 || bytes[parameters + 1] != 63 || bytes[parameters + 2] != 0 {
      faults.insert(.scanParameters)
    }
    var end = bytes.count
    var position = header.upperBound
    while let found = Self.nextFF(in: bytes, from: position) {
      guard let marker = Self.marker(in: bytes, at: found) else {
        // A stuffed FF, or fill bytes up to the end.
        position = found + 1
        continue
      }
      guard 0xd0...0xd7 ~= marker.code else {
        end = found
        break
      }
      position = marker.end
    }
    let data = header.upperBound..<end
    var content = Self.withoutPadding(bytes, data)
    if content != data, bytes[content].last == 0, zerosEndBlocks(bytes) { content = data }
    if Self.hasHole(bytes, content), !zerosEndBlocks(bytes) { throw .corrupt("zeros stand in place of its data") }
    if content != data { faults.insert(.padding) }
    scans.append(Scan(header: header, data: content))
    if scans.count > 500 { throw .corrupt("it has more than 500 scans") }
    return end
  }

  /// Whether long runs of zeros may be the data of a plain picture. They are not with the standard's tables.
  private func zerosEndBlocks(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard isSequential else { return true }
    return JPEGHuffmanTable.tables(bytes, segments).ac.prefix(2).allSatisfy(\.endsBlockWithZeros)
  }

  /// 64 zeros in a row or more: a lost USB packet.
  private static func hasHole(_ bytes: UnsafeRawBufferPointer, _ data: Range<Int>) -> Bool {
    var run = 0
    var position = data.lowerBound
    while position + 8 <= data.upperBound {
      run = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) == 0 ? run + 1 : 0
      if run == 8 { return true }
      position += 8
    }
    return false
  }

  /// Takes bytes off the end of a scan that only fill it up: FF, and zeros or any other byte that is there more than 16 times
  /// in a row. Two of them stay, because they may be of the data: zeros decode as the last blocks of a plain picture.
  private static func withoutPadding(_ bytes: UnsafeRawBufferPointer, _ data: Range<Int>) -> Range<Int> {
    var end = data.upperBound
    while end > data.lowerBound, bytes[end - 1] == 0xff { end -= 1 }
    guard end > data.lowerBound else { return data.lowerBound..<end }
    let byte = bytes[end - 1]
    var first = end - 1
    while first > data.lowerBound, bytes[first - 1] == byte { first -= 1 }
    let kept = end - first > (byte == 0 ? 2 : 16) ? min(end, first + 2) : end
    return data.lowerBound..<kept
  }

  private var isComplete: Bool {
    isSequential && scans.count == 1 && scans[0].header.count >= 8 + 2 * components.count
  }

  private mutating func finish(_ bytes: UnsafeRawBufferPointer, hasEnd: Bool) throws(CodecError) {
    guard !scans.isEmpty else { throw Self.cut }
    if !hasEnd {
      faults.insert(.noEnd)
      // Progressive pictures come in many scans: without an end, nobody knows whether the last ones are missing.
      guard isComplete else { throw Self.cut }
    }
  }

  // MARK: A regular copy

  /// The picture without its faults.
  ///
  /// - Parameters:
  ///   - size: for the frame header, in place of what it says.
  ///   - data: of its only scan, in place of what it has.
  ///   - hasRestarts: false leaves the restart interval out.
  func regular(
    _ bytes: UnsafeRawBufferPointer, size: (width: Int, height: Int)? = nil, data: [UInt8]? = nil,
    hasRestarts: Bool = true
  ) -> [UInt8] {
    var copy: [UInt8] = [0xff, 0xd8]
    copy.reserveCapacity(bytes.count + 16)
    for (marker, range) in segments {
      if marker == 0xdd, !hasRestarts { continue }
      let start = copy.count
      copy += bytes[range]
      if let size, 0xc0...0xcf ~= marker, marker != 0xc4, marker != 0xcc {
        copy[start + 5] = UInt8(truncatingIfNeeded: size.height >> 8)
        copy[start + 6] = UInt8(truncatingIfNeeded: size.height)
        copy[start + 7] = UInt8(truncatingIfNeeded: size.width >> 8)
        copy[start + 8] = UInt8(truncatingIfNeeded: size.width)
      }
    }
    if scans.count == 1 {
      copy += bytes[scans[0].header]
      if isSequential { copy.replaceSubrange(copy.count - 3..<copy.count, with: [0, 63, 0]) }
      copy += data ?? Array(bytes[scans[0].data])
    } else if let first = scans.first {
      copy += bytes[first.header.lowerBound..<end]
    }
    return copy + [0xff, 0xd9]
  }
}
