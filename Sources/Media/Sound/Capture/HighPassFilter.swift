/// Takes a constant offset (DC) and the lowest rumble off a sound: first order, -3 dB at 20 Hz for 48 kHz.
struct HighPassFilter: Sendable {
  private var input: Float = 0
  private var output: Float = 0
  private var isFirst = true

  /// 1 - 2π · 20 Hz / 48 kHz
  private static let pole: Float = 0.997_382

  mutating func filter(_ sample: Float) -> Float {
    // From the offset itself on, not from zero: no thump at the beginning.
    if isFirst { (input, isFirst) = (sample, false) }
    output = sample - input + Self.pole * output
    input = sample
    if abs(output) < 1e-9 { output = 0 }
    return output
  }
}
