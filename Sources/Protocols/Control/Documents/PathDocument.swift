/// What the child knows of the path to one viewer, as the sender of its media.
public struct PathDocument: Codable, Hashable, Sendable {
  /// What the path is thought to carry, kbit/s.
  public var estimateKbps: Int
  /// What may be sent now, kbit/s: less than the estimate while a queue drains.
  public var targetKbps: Int
  /// How long packets wait on the path, more than on the empty one; nil where the viewer does not report when they arrive.
  public var queueMs: Double?
  /// Bursts of padding that found out whether the path carries more, and those that arrived at about their rate.
  public var probesSent: UInt64
  public var probesSucceeded: UInt64
  /// Nil before the first measurement.
  public var roundTripMs: Double?
  /// Of the packets of the last seconds, percent, as the viewer reports.
  public var lossPercent: Double
  /// How many earlier packets each packet of sound repeats.
  public var soundCopies: Int
  /// Whether the path has just been found to carry less than was sent.
  public var isCongested: Bool

  public init(
    estimateKbps: Int, targetKbps: Int, queueMs: Double?, probesSent: UInt64, probesSucceeded: UInt64,
    roundTripMs: Double?, lossPercent: Double, soundCopies: Int, isCongested: Bool
  ) {
    self.estimateKbps = estimateKbps
    self.targetKbps = targetKbps
    self.queueMs = queueMs
    self.probesSent = probesSent
    self.probesSucceeded = probesSucceeded
    self.roundTripMs = roundTripMs
    self.lossPercent = lossPercent
    self.soundCopies = soundCopies
    self.isCongested = isCongested
  }
}
