/// Keeps a sum of sounds below full scale without clipping: what is loud is bent over, what is not stays as it is.
public enum SoftLimiter {
  /// -3 dBFS: up to here nothing is changed.
  private static let knee: Float = 0.7
  private static let ceiling: Float = 0.98

  /// Any value, to the ceiling at most; NaN is silence. Slope and value run on smoothly at the knee.
  public static func limit(_ value: Float) -> Float {
    let size = abs(value)
    guard size > knee else { return value.isNaN ? 0 : value }
    guard size.isFinite else { return value < 0 ? -ceiling : ceiling }
    let over = (size - knee) / (ceiling - knee)
    let bent = knee + (ceiling - knee) * over / (1 + over)
    return value < 0 ? -bent : bent
  }
}
