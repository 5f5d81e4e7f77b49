/// Crossfades between two sounds, or to and from silence, without a click.
public enum Crossfade {
  /// `step` of `count` from one sample to the other, linearly: right for correlated sounds, such as two nearby
  /// positions in one sound.
  public static func mix(_ from: Int16, _ to: Int16, step: Int, of count: Int) -> Int16 {
    let value = Int(from) + (Int(to) - Int(from)) * step / max(1, count)
    return Int16(clamping: value)
  }

  /// Fades in over the range.
  public static func fadeIn(_ samples: inout [Int16], _ range: Range<Int>) {
    let range = range.clamped(to: samples.indices)
    for index in range {
      samples[index] = mix(0, samples[index], step: index - range.lowerBound, of: range.count)
    }
  }

  /// Fades out over the range.
  public static func fadeOut(_ samples: inout [Int16], _ range: Range<Int>) {
    let range = range.clamped(to: samples.indices)
    for index in range {
      samples[index] = mix(samples[index], 0, step: index - range.lowerBound + 1, of: range.count)
    }
  }
}
