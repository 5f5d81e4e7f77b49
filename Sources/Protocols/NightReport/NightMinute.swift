/// One minute of the child's room, as it is stored.
public struct NightMinute: Hashable, Sendable {
  /// Minutes since 1970-01-01 UTC.
  public var minute: Int64
  /// The microphone delivered all through it.
  public var isDelivered: Bool
  /// The loudest 200 ms, tenths of dB relative to full scale; nil when nothing was measured.
  public var peak: Int16?
  /// The mean of all levels, in the same unit.
  public var mean: Int16?
  /// A number for the set of those who received sound; 0: nobody.
  public var audience: Int

  public init(minute: Int64, isDelivered: Bool, peak: Int16?, mean: Int16?, audience: Int) {
    self.minute = minute
    self.isDelivered = isDelivered
    self.peak = peak
    self.mean = mean
    self.audience = audience
  }
}

/// A minute that has just passed, with the names of those who heard it.
public struct MinuteRecord: Hashable, Sendable {
  /// Minutes since 1970-01-01 UTC.
  public var minute: Int64
  public var isDelivered: Bool
  /// Tenths of dB, as in `NightMinute`.
  public var peak: Int16?
  public var mean: Int16?
  /// Sorted, each once.
  public var listeners: [String]

  public init(minute: Int64, isDelivered: Bool, peak: Int16?, mean: Int16?, listeners: [String]) {
    self.minute = minute
    self.isDelivered = isDelivered
    self.peak = peak
    self.mean = mean
    self.listeners = listeners
  }
}
