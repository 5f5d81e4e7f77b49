import Foundation
import Frames
import Wire

/// A dim nursery as a camera with an infrared lamp sees it: grey, hardly any motion, and the noise of a sensor whose gain
/// is turned up. The same in every run.
///
/// The noise follows the usual model of a sensor: a part that is the same everywhere (read noise) and one whose variance
/// grows with the light (shot noise). It is new in each picture. Half of its variance is shared by neighbouring
/// pixels, as it is after a camera has made a picture out of its colour filter's cells.
struct NoisyRoom {
  private let width: Int
  private let height: Int
  private let pool: VideoFramePool
  /// The room without the child.
  private let still: [UInt8]
  /// Standard deviation by luma, in 256ths of a level.
  private let deviation: [Int32]
  /// Normally distributed, in 64ths.
  private let normal: [Int32]

  /// In levels, where `amount` is 1.
  private static let readNoise = 3.0
  /// Variance in levels squared for each level of luma above black.
  private static let shotNoise = 0.3
  private static let seed: UInt64 = 0x5eed_0f_c0_7b_ed

  /// - Parameter amount: factor of the noise's standard deviation; 0 for none.
  init(width: Int, height: Int, amount: Double) {
    self.width = width
    self.height = height
    pool = VideoFramePool(width: width, height: height)
    still = Self.room(width, height)
    deviation = (0..<256).map { luma in
      let light = Double(max(0, luma - 16))
      let variance = Self.readNoise * Self.readNoise + Self.shotNoise * light
      return Int32(saturating: (amount * 256 * variance.squareRoot()).rounded())
    }
    var random = Generator(state: Self.seed)
    normal = (0..<65536).map { _ in
      // Box and Muller.
      let radius = (-2 * log(1 - random.unit())).squareRoot()
      return Int32(saturating: (64 * radius * cos(2 * .pi * random.unit())).rounded())
    }
  }

  /// What a camera without noise would deliver.
  func clean(_ number: Int, at time: Duration) -> VideoFrame {
    let frame = pool.makeFrame(captureTime: .zero + time, sequence: UInt64(number))
    for row in 0..<height {
      for column in 0..<width { frame.mutableY[row * frame.strideY + column] = still[row * width + column] }
    }
    fillChroma(frame)
    drawChild(in: frame, seconds: time.inSeconds)
    return frame
  }

  /// The same with the noise of picture `number`.
  func noisy(_ clean: VideoFrame, number: Int) -> VideoFrame {
    let frame = pool.makeFrame(captureTime: clean.captureTime, sequence: clean.sequence)
    var random = Generator(state: Self.seed &+ UInt64(number) &* 0x9e37_79b9_7f4a_7c15)
    // The part that neighbours share: one value for 2 x 2 pixels.
    var shared = [Int32](repeating: 0, count: width / 2 + 1)
    normal.withUnsafeBufferPointer { normal in
      for row in 0..<height {
        if row % 2 == 0 { for index in shared.indices { shared[index] = normal[random.index()] } }
        let (from, to) = (clean.y + row * clean.strideY, frame.mutableY + row * frame.strideY)
        for column in 0..<width {
          let luma = from[column]
          // 181 / 256: the square root of one half.
          let sum = (normal[random.index()] &+ shared[column / 2]) &* 181 / 256
          let noise = (sum &* deviation[Int(luma)]) / (64 * 256)
          to[column] = UInt8(clamping: Int32(luma) &+ noise)
        }
      }
    }
    fillChroma(frame)
    return frame
  }

  private func fillChroma(_ frame: VideoFrame) {
    // Both planes, one behind the other.
    frame.mutableU.update(repeating: 128, count: frame.strideUV * height)
  }

  /// A child under a blanket that breathes, and moves an arm for a second every six.
  private func drawChild(in frame: VideoFrame, seconds: Double) {
    let size = Double(height)
    let breath = sin(2 * .pi * 0.4 * seconds)
    disc(frame, x: 0.50, y: 0.62 + 0.002 * breath, across: 0.42, up: 0.16 + 0.004 * breath, luma: 62, blur: 0.03)
    disc(frame, x: 0.28, y: 0.58, across: 0.075, up: 0.10, luma: 78, blur: 0.012)
    let phase = seconds.truncatingRemainder(dividingBy: 6)
    let lifted = phase < 1 ? sin(.pi * phase) * 60 / size : 0
    disc(frame, x: 0.40, y: 0.50 - lifted, across: 0.05, up: 0.04, luma: 74, blur: 0.010)
  }

  /// Shares of width and height, with a soft edge.
  private func disc(
    _ frame: VideoFrame, x: Double, y: Double, across: Double, up: Double, luma: Double, blur: Double
  ) {
    let (radiusX, radiusY) = (across * Double(width) / 2, up * Double(height) / 2)
    let (centreX, centreY) = (x * Double(width), y * Double(height))
    let edge = blur * Double(height) / min(radiusX, radiusY)
    let reach = 1 + edge
    let rows = clipped(centreY - radiusY * reach, centreY + radiusY * reach, height)
    let columns = clipped(centreX - radiusX * reach, centreX + radiusX * reach, width)
    for row in rows {
      let vertical = (Double(row) - centreY) / radiusY
      for column in columns {
        let horizontal = (Double(column) - centreX) / radiusX
        let distance = (vertical * vertical + horizontal * horizontal).squareRoot()
        let share = min(max((reach - distance) / (2 * edge), 0), 1)
        guard share > 0 else { continue }
        // Cloth has folds.
        let fold = 3 * sin(Double(column) * 0.11 + Double(row) * 0.05)
        let pixel = frame.mutableY + row * frame.strideY + column
        let mixed = Double(pixel.pointee) * (1 - share) + (luma + fold) * share
        pixel.pointee = UInt8(clamping: Int(saturating: mixed.rounded()))
      }
    }
  }

  private func clipped(_ from: Double, _ to: Double, _ limit: Int) -> Range<Int> {
    let low = min(max(0, Int(saturating: from.rounded(.down))), limit)
    return low..<max(low, min(limit, Int(saturating: to.rounded(.up))))
  }

  /// A wall that the lamp lights in the middle, the sheet with its weave, and the bars of a cot.
  private static func room(_ width: Int, _ height: Int) -> [UInt8] {
    var pixels: [UInt8] = []
    pixels.reserveCapacity(width * height)
    for row in 0..<height {
      let y = Double(row) / Double(height)
      for column in 0..<width {
        let x = Double(column) / Double(width)
        let lit = 1 - ((x - 0.5) * (x - 0.5) + (y - 0.5) * (y - 0.5))
        var luma = 26 + 22 * lit
        if y > 0.45 { luma += 10 + 2 * sin(Double(column) * 0.7) * sin(Double(row) * 0.6) }
        let bar = (x * 18).truncatingRemainder(dividingBy: 1)
        if y > 0.30, y < 0.85, bar < 0.16 { luma += 18 * sin(.pi * bar / 0.16) }
        if abs(y - 0.30) < 0.012 { luma += 20 }
        pixels.append(UInt8(clamping: Int(saturating: luma.rounded())))
      }
    }
    return pixels
  }
}

/// SplitMix64 by Sebastiano Vigna.
private struct Generator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  mutating func index() -> Int { Int(truncatingIfNeeded: next() & 0xffff) }
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
