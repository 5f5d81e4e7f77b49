extension FixedWidthInteger {
  /// The number without its fraction; the nearest bound when it is out of range, 0 when it is not a number.
  ///
  /// `Int(_: Double)` ends the program for 1e300 and NaN, and a peer may send both. A project test finds conversions
  /// that do not go through here.
  public init(saturating number: Double) {
    if let exact = Self(exactly: number.rounded(.towardZero)) {
      self = exact
    } else {
      self = number.isNaN ? 0 : number < 0 ? .min : .max
    }
  }
}

extension Duration {
  /// So many seconds, rounded toward zero to a nanosecond; at most 292 years either way, zero when it is not a number.
  /// `Duration.seconds(_: Double)` ends the program for such numbers.
  public static func seconds(saturating seconds: Double) -> Duration {
    .nanoseconds(Int64(saturating: seconds * 1e9))
  }
}
