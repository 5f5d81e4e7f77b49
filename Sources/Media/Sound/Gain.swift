/// Volume.
public enum Gain {
  /// Linear ramp between two gains over the first `count` samples: no step, no click. Silence after that.
  public static func ramp(_ samples: inout [Float], from start: Float, to end: Float, count: Int) {
    let count = min(count, samples.count)
    let step = (end - start) / Float(max(1, count))
    for index in samples.indices {
      samples[index] = index < count ? samples[index] * (start + step * Float(index + 1)) : 0
    }
  }
}
