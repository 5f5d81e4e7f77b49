internal import Wire

/// The elements we write, by ID including the length marker. RFC 8794 section 17.1, RFC 9559 section 5.1.
enum EBMLElement: UInt32 {
  // RFC 8794 section 11.2
  case ebml = 0x1a45_dfa3
  case ebmlVersion = 0x4286
  case ebmlReadVersion = 0x42f7
  case ebmlMaxIDLength = 0x42f2
  case ebmlMaxSizeLength = 0x42f3
  case docType = 0x4282
  case docTypeVersion = 0x4287
  case docTypeReadVersion = 0x4285
  case void = 0xec

  case segment = 0x1853_8067
  case seekHead = 0x114d_9b74
  case seek = 0x4dbb
  case seekID = 0x53ab
  case seekPosition = 0x53ac

  case info = 0x1549_a966
  case timestampScale = 0x2a_d7b1
  case duration = 0x4489
  case dateUTC = 0x4461
  case muxingApp = 0x4d80
  case writingApp = 0x5741

  case tracks = 0x1654_ae6b
  case trackEntry = 0xae
  case trackNumber = 0xd7
  case trackUID = 0x73c5
  case trackType = 0x83
  case flagLacing = 0x9c
  case language = 0x22_b59c
  case codecID = 0x86
  case codecPrivate = 0x63a2
  case codecDelay = 0x56aa
  case seekPreRoll = 0x56bb
  case video = 0xe0
  case pixelWidth = 0xb0
  case pixelHeight = 0xba
  case flagInterlaced = 0x9a
  case audio = 0xe1
  case samplingFrequency = 0xb5
  case channels = 0x9f

  case cluster = 0x1f43_b675
  case timestamp = 0xe7
  case simpleBlock = 0xa3

  case cues = 0x1c53_bb6b
  case cuePoint = 0xbb
  case cueTime = 0xb3
  case cueTrackPositions = 0xb7
  case cueTrack = 0xf7
  case cueClusterPosition = 0xf1
}

/// Builds EBML elements (RFC 8794) from front to back.
struct EBMLWriter: Sendable {
  private var writer = ByteWriter()

  var bytes: [UInt8] { writer.bytes }
  var count: Int { writer.count }

  /// The eight-byte size that means "unknown". RFC 8794 section 6.2.
  static let unknownSize: UInt64 = 0x01ff_ffff_ffff_ffff

  /// An eight-byte size, to replace an unknown one. RFC 8794 section 6.1.
  static func wideSize(_ size: Int) -> [UInt8] {
    var writer = ByteWriter(reservingCapacity: 8)
    writer.write(UInt64(1) << 56 | UInt64(size))
    return writer.bytes
  }

  /// An ID is written without its leading zero bytes.
  mutating func id(_ element: EBMLElement) {
    writeShortest(UInt64(element.rawValue))
  }

  /// The shortest form. All ones would mean unknown, so each length holds one value less. RFC 8794 section 6.2.
  mutating func size(_ size: Int) {
    var length = 1
    while length < 8, size >= 1 << (7 * length) - 1 { length += 1 }
    writeBytes(UInt64(1) << UInt64(7 * length) | UInt64(size), length: length)
  }

  mutating func unknownSize(_ element: EBMLElement) {
    id(element)
    writer.write(Self.unknownSize)
  }

  mutating func unsigned(_ element: EBMLElement, _ value: UInt64, length: Int? = nil) {
    id(element)
    let length = length ?? max(1, 8 - value.leadingZeroBitCount / 8)
    size(length)
    writeBytes(value, length: length)
  }

  /// Nanoseconds since 2001-01-01 UTC. RFC 8794 section 7.6.
  mutating func date(_ element: EBMLElement, unixNanoseconds: Int64) {
    id(element)
    size(8)
    writer.write(UInt64(bitPattern: unixNanoseconds &- 978_307_200_000_000_000))
  }

  mutating func float(_ element: EBMLElement, _ value: Double) {
    id(element)
    size(8)
    writer.write(value.bitPattern)
  }

  mutating func text(_ element: EBMLElement, _ value: String) {
    binary(element, Array(value.utf8))
  }

  mutating func binary(_ element: EBMLElement, _ value: [UInt8]) {
    id(element)
    size(value.count)
    writer.write(contentsOf: value)
  }

  /// A Master Element.
  mutating func master(_ element: EBMLElement, _ content: (inout EBMLWriter) -> Void) {
    var inner = EBMLWriter()
    content(&inner)
    binary(element, inner.bytes)
  }

  /// Reserves `count` bytes, 2...128, to be filled in later. RFC 8794 section 11.3.3.
  mutating func void(count: Int) {
    precondition(2...128 ~= count, "our gaps are short")
    id(.void)
    size(count - 2)
    writer.write(zeros: count - 2)
  }

  mutating func raw(_ bytes: some Sequence<UInt8>) {
    writer.write(contentsOf: bytes)
  }

  private mutating func writeShortest(_ value: UInt64) {
    writeBytes(value, length: max(1, 8 - value.leadingZeroBitCount / 8))
  }

  private mutating func writeBytes(_ value: UInt64, length: Int) {
    for index in stride(from: length - 1, through: 0, by: -1) {
      writer.write(UInt8(truncatingIfNeeded: value >> UInt64(8 * index)))
    }
  }
}
