/// Silence that is not zero: noise of the last bit, 90 dB below full scale and inaudible. Many USB, HDMI and Bluetooth speakers
/// go to sleep when they get zeros for some seconds, and then swallow the first second of what comes: of a word, or of an alarm's first
/// notes. It does not help where a speaker sleeps below a level instead: what it takes would be heard.
public struct WakefulSilence: Sendable {
  /// A linear congruential generator (Numerical Recipes).
  private var state: UInt32 = 1

  public init() {}

  /// Fills a block that has nothing but zeros; leaves any other as it is.
  public mutating func fill(_ samples: inout [Int16]) {
    guard samples.allSatisfy({ $0 == 0 }) else { return }
    for index in samples.indices {
      state = state &* 1_664_525 &+ 1_013_904_223
      // -1, 0, 0 or 1: no offset.
      samples[index] = [-1, 0, 0, 1][Int(state >> 30)]
    }
  }
}
