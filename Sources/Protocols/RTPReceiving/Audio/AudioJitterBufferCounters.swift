/// Counters of received sound, named as in W3C webrtc-stats: RTCInboundRtpStreamStats. Samples are at the clock rate.
public struct AudioJitterCounters: Hashable, Sendable {
  /// All that was handed out, made-up sound and silence included.
  public var totalSamplesReceived: UInt64 = 0
  /// Concealment and silence.
  public var concealedSamples: UInt64 = 0
  /// Silence alone.
  public var silentConcealedSamples: UInt64 = 0
  /// Stretches of concealment, whatever their length.
  public var concealmentEvents: UInt64 = 0
  /// By which the playout was put off; they are among `concealedSamples`.
  public var insertedSamplesForDeceleration: UInt64 = 0
  /// By which the playout was put forward.
  public var removedSamplesForAcceleration: UInt64 = 0
  /// Seconds between the arrival of a sample and its handing out, summed over `jitterBufferEmittedCount` samples.
  public var jitterBufferDelay: Double = 0
  /// Seconds aimed at, summed likewise.
  public var jitterBufferTargetDelay: Double = 0
  /// Seconds that the network alone asks for, without the configured bounds, summed likewise.
  public var jitterBufferMinimumDelay: Double = 0
  /// Samples of packets that came in time.
  public var jitterBufferEmittedCount: UInt64 = 0
  /// Packets that came too late, or that did not fit.
  public var packetsDiscarded: UInt64 = 0
  /// Samples taken from the copy in the packet after the lost one.
  public var fecSamplesUsed: UInt64 = 0
  /// Not in webrtc-stats: packets that were here already.
  public var duplicatePackets: UInt64 = 0

  public init() {}
}
