/// Volume.
public enum Gain {
  /// Multiplies, and clips at full scale instead of wrapping.
  public static func apply(_ factor: Double, to samples: inout [Int16]) {
    for index in samples.indices {
      let value = (Double(samples[index]) * factor).rounded()
      samples[index] = value.isNaN ? 0 : Int16(min(32767, max(-32768, value)))
    }
  }
}
