import Foundation
import Frames

/// Peak signal-to-noise ratio of luma, in decibels.
struct Quality {
  private var count = 0
  private var sum = 0.0
  private var squaredError = 0.0

  /// A picture without any error counts as this much.
  private static let best = 100.0

  mutating func add(_ source: VideoFrame, _ shown: VideoFrame) {
    var total = 0
    for row in 0..<source.height {
      let (left, right) = (source.y + row * source.strideY, shown.y + row * shown.strideY)
      for column in 0..<source.width {
        let difference = Int(left[column]) &- Int(right[column])
        total &+= difference &* difference
      }
    }
    let error = Double(total) / Double(source.width * source.height)
    count += 1
    sum += Self.ratio(error)
    squaredError += error
  }

  var mean: Double? { count > 0 ? sum / Double(count) : nil }
  var overall: Double? { count > 0 ? Self.ratio(squaredError / Double(count)) : nil }

  private static func ratio(_ error: Double) -> Double {
    error > 0 ? min(best, 10 * log10(255 * 255 / error)) : best
  }
}
