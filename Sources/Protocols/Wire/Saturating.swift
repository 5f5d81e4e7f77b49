extension FixedWidthInteger {
  /// The number without its fraction, clamped to the type's range; 0 for NaN.
  ///
  /// `Int(_: Double)` traps on 1e300 and NaN, and a peer may send both. A project test finds conversions that bypass
  /// this.
  public init(saturating number: Double) {
    if let exact = Self(exactly: number.rounded(.towardZero)) {
      self = exact
    } else {
      self = number.isNaN ? 0 : number < 0 ? .min : .max
    }
  }
}

extension Duration {
  /// A duration in seconds, rounded toward zero to a nanosecond and clamped to 292 years either way; zero for NaN.
  /// `Duration.seconds(_: Double)` traps on such numbers.
  public static func seconds(saturating seconds: Double) -> Duration {
    .nanoseconds(Int64(saturating: seconds * 1e9))
  }
}
