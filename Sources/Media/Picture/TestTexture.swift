/// The background of the test picture: noise at several scales with a grid of soft-edged tiles, identical on every
/// machine and seamless when repeated.
struct TestTexture {
  /// The pattern repeats after this many luma pixels in both directions.
  static let period = 512
  private static let chromaPeriod = period / 2

  /// `period` rows of `lumaStride` bytes: long enough for one copy per picture row from any offset below `period`.
  let luma: [UInt8]
  let lumaStride: Int
  /// `period / 2` rows of `chromaStride` bytes each.
  let u: [UInt8]
  let v: [UInt8]
  let chromaStride: Int

  /// For pictures of this width.
  init(width: Int) {
    let period = Self.period
    let tile = Self.makeLuma()
    lumaStride = width + period
    luma = Self.widen(tile, period: period, stride: lumaStride)
    chromaStride = (width + 1) / 2 + Self.chromaPeriod
    u = Self.widen(Self.makeChroma(seed: 71), period: Self.chromaPeriod, stride: chromaStride)
    v = Self.widen(Self.makeChroma(seed: 113), period: Self.chromaPeriod, stride: chromaStride)
  }

  private static func makeLuma() -> [UInt8] {
    // Cell size in pixels and amplitude in luma steps: large shapes, cloth, grain.
    let octaves: [(cell: Int, amplitude: Int, seed: UInt32)] = [(64, 44, 3), (16, 26, 5), (4, 14, 7)]
    var result = [UInt8](repeating: 0, count: period * period)
    let planes = octaves.map { noise(period: period, cell: $0.cell, amplitude: $0.amplitude, seed: $0.seed) }
    for y in 0..<period {
      for x in 0..<period {
        let index = y * period + x
        var value = 118 + planes[0][index] + planes[1][index] + planes[2][index]
        // Edges in both directions for motion search to lock on to.
        if (x / 64 + y / 64) % 2 == 0 { value += 16 }
        if x % 64 < 2 || y % 64 < 2 { value -= 40 }
        result[index] = UInt8(clamping: min(225, max(24, value)))
      }
    }
    return result
  }

  private static func makeChroma(seed: UInt32) -> [UInt8] {
    noise(period: chromaPeriod, cell: 64, amplitude: 34, seed: seed).map { UInt8(clamping: 128 + $0) }
  }

  /// Value noise in -amplitude...amplitude: random heights on a grid of `cell` pixels, blended linearly between.
  private static func noise(period: Int, cell: Int, amplitude: Int, seed: UInt32) -> [Int] {
    let cells = period / cell
    let heights = (0..<cells * cells).map { index in
      Int(hash(UInt32(index) &+ seed &* 0x9e37_79b9) % UInt32(2 * amplitude + 1)) - amplitude
    }
    var result = [Int](repeating: 0, count: period * period)
    for y in 0..<period {
      let (row, v) = (y / cell, y % cell)
      let nextRow = (row + 1) % cells
      for column in 0..<cells {
        let nextColumn = (column + 1) % cells
        let left = heights[row * cells + column] * (cell - v) + heights[nextRow * cells + column] * v
        let right = heights[row * cells + nextColumn] * (cell - v) + heights[nextRow * cells + nextColumn] * v
        for u in 0..<cell {
          result[y * period + column * cell + u] = (left * (cell - u) + right * u) / (cell * cell)
        }
      }
    }
    return result
  }

  private static func hash(_ value: UInt32) -> UInt32 {
    var value = value
    value = (value ^ value >> 16) &* 0x7feb_352d
    value = (value ^ value >> 15) &* 0x846c_a68b
    return value ^ value >> 16
  }

  private static func widen(_ tile: [UInt8], period: Int, stride: Int) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(period * stride)
    for y in 0..<period {
      let row = tile[y * period..<(y + 1) * period]
      for start in Swift.stride(from: 0, to: stride, by: period) {
        result.append(contentsOf: row.prefix(stride - start))
      }
    }
    return result
  }
}
