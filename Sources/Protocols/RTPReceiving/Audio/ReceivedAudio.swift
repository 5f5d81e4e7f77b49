public import Wire

/// What the loudspeaker gets for one stretch of time. These come without a hole from a stream's beginning on, each when
/// it is due; when nothing has come from the sender for a second, they stop until something does.
public struct ReceivedAudio: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// An Opus packet to decode.
    case packet([UInt8])
    /// The packet got lost, but the one after it is here and carries a coarser copy of it: decode that copy. The packet
    /// itself comes as the next element. RFC 6716 section 2.1.7.
    case forwardErrorCorrection(next: [UInt8])
    /// Nothing is here: the decoder makes up `samples` that sound like what came before.
    case concealment
    /// The sender says nothing, or has not been heard for so long that making up sound would be wrong.
    case silence
  }

  public var content: Content
  /// Of the first sample.
  public var rtpTimestamp: UInt32
  /// At the stream's clock rate: 960 for 20 ms of Opus; a multiple of 2.5 ms, at most 120 ms.
  public var samples: Int
  /// Time was dropped or put in before the first sample: a cross-fade hides the seam.
  public var isAfterDiscontinuity: Bool
  /// When the first sample was taken, on the sender's clock: nanoseconds since 1970 as its reports say; nil until one came.
  public var captureTime: Instant?

  public init(
    content: Content, rtpTimestamp: UInt32, samples: Int, isAfterDiscontinuity: Bool = false,
    captureTime: Instant? = nil
  ) {
    self.content = content
    self.rtpTimestamp = rtpTimestamp
    self.samples = samples
    self.isAfterDiscontinuity = isAfterDiscontinuity
    self.captureTime = captureTime
  }
}
