public import FoundationEssentials
public import Pairing

extension UnixTime {
  /// Whole seconds, rounded down; 1970 for a date that is out of range.
  public init(date: Date) {
    self.init(seconds: Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0)
  }

  public var date: Date { Date(timeIntervalSince1970: Double(seconds)) }
}
