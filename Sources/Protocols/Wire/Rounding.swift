// Figures for people and documents: a third decimal of a delay or a level says nothing.
extension Double {
  /// Rounded to one decimal.
  public var tenths: Double { (self * 10).rounded() / 10 }

  /// Rounded to two decimals.
  public var hundredths: Double { (self * 100).rounded() / 100 }

  /// A rounded number without a fraction that is zero: `3`, `0.4`.
  public var shortText: String { self == rounded() ? "\(Int(saturating: self))" : "\(self)" }
}
