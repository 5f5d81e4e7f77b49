/// Shares one encoder among viewers with different paths.
///
/// The encoder runs at the rate of the slowest viewer that has at least half the rate of the fastest. Even slower
/// viewers get only the base layer, 75 % of the rate, so that they do not degrade the picture for everybody else.
struct RateAllocation: Equatable {
  var encoderKbps: Int
  /// Whether a viewer with this estimate gets both temporal layers.
  func takesAllLayers(estimateKbps: Int?) -> Bool {
    guard let estimateKbps else { return true }
    return estimateKbps + estimateKbps / 8 >= encoderKbps
  }

  /// - Parameters:
  ///   - estimatesKbps: estimates of the connected viewers; empty: the start value is used.
  ///   - range: the configured range.
  init(estimatesKbps: [Int], range: ClosedRange<Int>, startKbps: Int) {
    guard let best = estimatesKbps.max() else {
      encoderKbps = min(max(startKbps, range.lowerBound), range.upperBound)
      return
    }
    let slowest = estimatesKbps.filter { $0 * 2 >= best }.min() ?? best
    // Leave room for sound, feedback and headers.
    let forVideo = slowest - min(96, slowest / 5)
    encoderKbps = min(max(forVideo, range.lowerBound), range.upperBound)
  }
}
