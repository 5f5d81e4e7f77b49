/// Keeps a sum of sounds below full scale without clipping: compresses what is loud, leaves the rest unchanged.
public enum SoftLimiter {
  /// -3 dBFS: nothing below is changed.
  private static let knee: Float = 0.7
  private static let ceiling: Float = 0.98

  /// Limits any value to the ceiling; NaN becomes silence. Value and slope are continuous at the knee.
  public static func limit(_ value: Float) -> Float {
    let size = abs(value)
    guard size > knee else { return value.isNaN ? 0 : value }
    guard size.isFinite else { return value < 0 ? -ceiling : ceiling }
    let over = (size - knee) / (ceiling - knee)
    let bent = knee + (ceiling - knee) * over / (1 + over)
    return value < 0 ? -bent : bent
  }
}
