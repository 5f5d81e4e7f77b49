public import Wire

/// What a sequence parameter set says about the pictures that follow it. ITU-T H.264 section 7.3.2.1.1.
public struct H264SequenceParameters: Hashable, Sendable {
  /// `profile_idc`: 66 for Baseline, 77 for Main, 100 for High.
  public var profile: UInt8
  /// `constraint_set0_flag` in the highest bit, and the five that follow it.
  public var constraints: UInt8
  /// Ten times the level: 31 for 3.1.
  public var level: UInt8
  /// Pixels, as shown: without what is cropped.
  public var width: Int
  public var height: Int

  /// Its NAL unit, without the start code. No set is longer than this.
  public static let maximumBytes = 1024
  /// In macroblocks, of each side.
  private static let maximumSide: UInt32 = 1024

  /// Throws `truncated` or `malformed`; nothing in it makes reading take long.
  public init(parsing unit: some Collection<UInt8>) throws(WireError) {
    guard unit.count <= Self.maximumBytes else { throw .malformed("a sequence parameter set has 1024 bytes at most") }
    guard H264UnitType(of: unit) == .sequenceParameters else { throw .malformed("not a sequence parameter set") }
    var bits = H264Bits(unit.dropFirst())
    profile = UInt8(truncatingIfNeeded: try bits.read(8))
    constraints = UInt8(truncatingIfNeeded: try bits.read(8))
    level = UInt8(truncatingIfNeeded: try bits.read(8))
    _ = try bits.readUnsigned(upTo: 31)
    let chroma = Self.hasChromaFormat.contains(profile) ? try Self.readChroma(&bits) : 1
    // log2_max_frame_num_minus4
    _ = try bits.readUnsigned(upTo: 12)
    switch try bits.readUnsigned(upTo: 2) {
    case 0: _ = try bits.readUnsigned(upTo: 12)
    case 1:
      _ = try bits.read(1)
      for _ in 0..<2 { _ = try bits.readSigned() }
      for _ in 0..<(try bits.readUnsigned(upTo: 255)) { _ = try bits.readSigned() }
    default: break
    }
    // max_num_ref_frames, gaps_in_frame_num_value_allowed_flag
    _ = try bits.readUnsigned(upTo: 16)
    _ = try bits.read(1)
    let columns = Int(try bits.readUnsigned(upTo: Self.maximumSide - 1)) + 1
    let rows = Int(try bits.readUnsigned(upTo: Self.maximumSide - 1)) + 1
    let isProgressive = try bits.read(1) == 1
    if !isProgressive { _ = try bits.read(1) }
    // direct_8x8_inference_flag
    _ = try bits.read(1)
    let fields = isProgressive ? 1 : 2
    width = columns * 16
    height = rows * 16 * fields
    guard try bits.read(1) == 1 else { return }
    // Table 6-1: what the chroma planes have half of is cropped in steps of two.
    let step = (x: chroma == 1 || chroma == 2 ? 2 : 1, y: (chroma == 1 ? 2 : 1) * fields)
    var crop: [Int] = []
    for _ in 0..<4 { crop.append(Int(try bits.readUnsigned(upTo: 16_383))) }
    width -= (crop[0] + crop[1]) * step.x
    height -= (crop[2] + crop[3]) * step.y
    guard width > 0, height > 0 else { throw .malformed("nothing is left of the picture") }
  }

  private static let hasChromaFormat: Set<UInt8> = [44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244]

  /// ChromaArrayType: 0 for none, or planes of their own.
  private static func readChroma(_ bits: inout H264Bits) throws(WireError) -> UInt32 {
    let format = try bits.readUnsigned(upTo: 3)
    let isSeparate = format == 3 ? try bits.read(1) == 1 : false
    // Bit depths, qpprime_y_zero_transform_bypass_flag
    for _ in 0..<2 { _ = try bits.readUnsigned(upTo: 6) }
    _ = try bits.read(1)
    if try bits.read(1) == 1 {
      for index in 0..<(format == 3 ? 12 : 8) {
        if try bits.read(1) == 1 { try skipScalingList(of: index < 6 ? 16 : 64, &bits) }
      }
    }
    return isSeparate ? 0 : format
  }

  /// Section 7.3.2.1.1.1.
  private static func skipScalingList(of count: Int, _ bits: inout H264Bits) throws(WireError) {
    var (last, next) = (8, 8)
    for _ in 0..<count {
      if next != 0 { next = (last + (try bits.readSigned()) + 256) & 255 }
      if next != 0 { last = next }
    }
  }
}

/// The bits of a NAL unit behind its header. ITU-T H.264 sections 7.3.1 and 9.1.
private struct H264Bits {
  /// Without the bytes that keep start codes out of the unit.
  private var bytes: [UInt8] = []
  /// In bits.
  private var position = 0

  init(_ unit: some Sequence<UInt8>) {
    var zeros = 0
    for byte in unit {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      bytes.append(byte)
    }
  }

  /// Up to 32 bits.
  mutating func read(_ count: Int) throws(WireError) -> UInt32 {
    guard position + count <= bytes.count * 8 else { throw .truncated }
    var value: UInt32 = 0
    for _ in 0..<count {
      value = value << 1 | UInt32(bytes[position >> 3] >> UInt8(7 - position & 7) & 1)
      position += 1
    }
    return value
  }

  /// Exp-Golomb.
  mutating func readUnsigned(upTo most: UInt32 = .max - 1) throws(WireError) -> UInt32 {
    var zeros = 0
    while try read(1) == 0 {
      zeros += 1
      guard zeros < 32 else { throw .malformed("a number has 32 bits at most") }
    }
    let value = UInt32(truncatingIfNeeded: (UInt64(1) << UInt64(zeros)) - 1) + (try read(zeros))
    guard value <= most else { throw .malformed("\(value) is more than \(most)") }
    return value
  }

  mutating func readSigned() throws(WireError) -> Int {
    let value = Int(try readUnsigned())
    return value & 1 == 1 ? (value + 1) / 2 : -(value / 2)
  }
}
