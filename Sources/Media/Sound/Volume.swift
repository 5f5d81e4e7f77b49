/// A person's scale of loudness.
public enum Volume {
  public static let range = 0...100

  /// What samples are multiplied by for a volume: 100 is 1, half of it sounds about half as loud (-12 dB), 0 is silence.
  /// Nothing goes above `maximum`.
  public static func amplitude(_ volume: Int, maximum: Int = 100) -> Float {
    let share = Float(min(max(0, volume), max(0, maximum), range.upperBound)) / Float(range.upperBound)
    return share * share
  }
}
