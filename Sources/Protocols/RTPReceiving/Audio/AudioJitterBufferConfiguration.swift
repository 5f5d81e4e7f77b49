/// Settings of the jitter buffer. The defaults are meant for Wi-Fi and for a listener who prefers a short loss over a
/// long delay.
public struct AudioJitterBufferConfiguration: Hashable, Sendable {
  /// Used until a second of packets has been measured.
  public var initialDelay = Duration.milliseconds(40)
  /// Needed for scheduling the event loop and the decoder thread, even on the best network.
  public var minimumDelay = Duration.milliseconds(20)
  /// Upper limit, even if the network needs more.
  public var maximumDelay = Duration.milliseconds(500)
  /// A buffered packet may be handed out this early, which saves a timer. Little more than what the player has
  /// buffered.
  public var earliness = Duration.milliseconds(5)
  /// Retransmissions are waited for while the delay stays below this; beyond, they cost more than they gain.
  public var maximumRecoveryDelay = Duration.milliseconds(250)
  /// This much above the target is dropped at once, as after a stall; less is reduced packet by packet.
  public var catchUpAbove = Duration.milliseconds(200)
  /// Concealment is plausible for this long; then there is silence.
  public var longestConcealment = Duration.milliseconds(200)
  /// After this long without a packet the sender counts as stopped, and nothing is handed out until it starts again.
  public var stopAfter = Duration.seconds(1)
  /// In bytes, for all buffered packets together: 6 s at 320 kbit/s.
  public var maximumBufferedBytes = 256 * 1024

  public init() {}
}
