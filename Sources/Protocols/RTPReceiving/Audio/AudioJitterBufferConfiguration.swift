/// How long received sound waits so that late packets still make it. The defaults are meant for Wi-Fi and for a
/// listener who would rather hear a moment lost than everything late.
public struct AudioJitterBufferConfiguration: Hashable, Sendable {
  /// Until there is a second of packets to judge by.
  public var initialDelay = Duration.milliseconds(40)
  /// What the scheduling of an event loop and of a decoding thread needs, on the best of networks.
  public var minimumDelay = Duration.milliseconds(20)
  /// A network that needs more is not waited for.
  public var maximumDelay = Duration.milliseconds(500)
  /// So long before its turn a packet that is here is handed out, and with it no timer need run. Little more than
  /// what whoever plays the sound has in stock.
  public var earliness = Duration.milliseconds(5)
  /// Retransmissions are waited for while the delay stays below this; later than this they cost more than they bring.
  public var maximumRecoveryDelay = Duration.milliseconds(250)
  /// So much above the target is dropped at once, as after a stall; less is worn off packet by packet.
  public var catchUpAbove = Duration.milliseconds(200)
  /// What the decoder makes up is credible for this long; then there is silence.
  public var longestConcealment = Duration.milliseconds(200)
  /// After so long without a packet the sender has stopped, and nothing is handed out until it starts again.
  public var stopAfter = Duration.seconds(1)
  /// In bytes, for all waiting packets together: 6 s at 320 kbit/s.
  public var maximumBufferedBytes = 256 * 1024

  public init() {}
}
