/// The user's volume scale.
public enum Volume {
  public static let range = 0...100

  /// The gain for a volume: 100 is 1, half of it sounds about half as loud (-12 dB), 0 is silence.
  /// `maximum` caps the volume.
  public static func amplitude(_ volume: Int, maximum: Int = 100) -> Float {
    let share = Float(min(max(0, volume), max(0, maximum), range.upperBound)) / Float(range.upperBound)
    return share * share
  }
}
