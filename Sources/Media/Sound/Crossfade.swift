/// Goes over from one sound to another, or to and from silence, without a click.
public enum Crossfade {
  /// `step` of `count` on the way from one sample to the other, in a straight line: right for two sounds that resemble
  /// each other, such as one sound at two near places.
  public static func mix(_ from: Int16, _ to: Int16, step: Int, of count: Int) -> Int16 {
    let value = Int(from) + (Int(to) - Int(from)) * step / max(1, count)
    return Int16(clamping: value)
  }

  /// From silence to full over the range.
  public static func fadeIn(_ samples: inout [Int16], _ range: Range<Int>) {
    let range = range.clamped(to: samples.indices)
    for index in range {
      samples[index] = mix(0, samples[index], step: index - range.lowerBound, of: range.count)
    }
  }

  /// From full to silence over the range.
  public static func fadeOut(_ samples: inout [Int16], _ range: Range<Int>) {
    let range = range.clamped(to: samples.indices)
    for index in range {
      samples[index] = mix(samples[index], 0, step: index - range.lowerBound + 1, of: range.count)
    }
  }
}
