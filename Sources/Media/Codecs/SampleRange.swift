/// JPEG files hold full-range samples (JFIF 1.02), frames limited range (BT.601). Fixed point with 8 fractional bits,
/// exact at black, white and grey; the loops are simple so that the compiler can vectorise them.
enum SampleRange {
  /// 0...255 to 16...235.
  static func limitLuma(_ plane: UnsafeMutablePointer<UInt8>, stride: Int, width: Int, height: Int) {
    for row in 0..<height {
      let line = plane + row * stride
      for column in 0..<width {
        line[column] = UInt8(truncatingIfNeeded: (UInt16(line[column]) &* 220 &+ 4224) &>> 8)
      }
    }
  }

  /// 0...255 to 16...240 around 128.
  static func limitChroma(_ plane: UnsafeMutablePointer<UInt8>, stride: Int, width: Int, height: Int) {
    for row in 0..<height {
      let line = plane + row * stride
      for column in 0..<width {
        line[column] = UInt8(truncatingIfNeeded: (UInt16(line[column]) &* 225 &+ 4096) &>> 8)
      }
    }
  }

  /// 16...235 to 0...255.
  static let fullLuma: [UInt8] = (0..<256).map { UInt8(clamping: (($0 - 16) * 510 + 219) / 438) }
  /// 16...240 to 0...255 around 128.
  static let fullChroma: [UInt8] = (0..<256).map { UInt8(clamping: (($0 - 16) * 510 + 224) / 448) }

  /// Copies a plane without padding, each sample through `table`.
  static func copy(
    _ plane: UnsafePointer<UInt8>, stride: Int, width: Int, height: Int, through table: [UInt8],
    to target: UnsafeMutablePointer<UInt8>
  ) {
    table.withUnsafeBufferPointer { table in
      for row in 0..<height {
        for column in 0..<width { target[row * width + column] = table[Int(plane[row * stride + column])] }
      }
    }
  }
}
