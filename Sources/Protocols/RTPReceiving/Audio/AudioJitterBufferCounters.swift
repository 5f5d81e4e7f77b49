/// Counters of received audio, named as in W3C webrtc-stats: RTCInboundRtpStreamStats. Samples are at the clock rate.
public struct AudioJitterCounters: Hashable, Sendable {
  /// All samples handed out, including concealment and silence.
  public var totalSamplesReceived: UInt64 = 0
  /// Concealment and silence.
  public var concealedSamples: UInt64 = 0
  /// Silence only.
  public var silentConcealedSamples: UInt64 = 0
  /// Runs of concealment, regardless of length.
  public var concealmentEvents: UInt64 = 0
  /// Samples by which playout was delayed; they are among `concealedSamples`.
  public var insertedSamplesForDeceleration: UInt64 = 0
  /// Samples by which playout was advanced.
  public var removedSamplesForAcceleration: UInt64 = 0
  /// Seconds from a sample's arrival to its playout, summed over `jitterBufferEmittedCount` samples.
  public var jitterBufferDelay: Double = 0
  /// Target delay in seconds, summed likewise.
  public var jitterBufferTargetDelay: Double = 0
  /// Target delay in seconds without the configured bounds, summed likewise.
  public var jitterBufferMinimumDelay: Double = 0
  /// Samples of packets that were played.
  public var jitterBufferEmittedCount: UInt64 = 0
  /// Packets that arrived too late, or that did not fit.
  public var packetsDiscarded: UInt64 = 0
  /// Samples decoded from the copy in the packet after a lost one.
  public var fecSamplesUsed: UInt64 = 0
  /// Not in webrtc-stats: packets already received.
  public var duplicatePackets: UInt64 = 0

  public init() {}
}
