public import Wire

/// One element of audio to play. Elements follow each other without gaps from the start of a stream, each when it is
/// due; after a second without packets they stop until one arrives.
public struct ReceivedAudio: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// An Opus packet to decode.
    case packet([UInt8])
    /// The packet was lost, but the next one has arrived and carries a coarser copy of it: decode that copy. The next
    /// packet itself follows as the next element. RFC 6716 section 2.1.7.
    case forwardErrorCorrection(next: [UInt8])
    /// No packet: the decoder conceals `samples`.
    case concealment
    /// The sender pauses, or packets have been missing for too long for concealment.
    case silence
  }

  public var content: Content
  /// Of the first sample.
  public var rtpTimestamp: UInt32
  /// At the stream's clock rate: 960 for 20 ms of Opus; a multiple of 2.5 ms, at most 120 ms.
  public var samples: Int
  /// Time was removed or inserted before the first sample: a cross-fade hides the discontinuity.
  public var isAfterDiscontinuity: Bool
  /// Capture time of the first sample on the sender's clock: nanoseconds since 1970 according to its sender reports;
  /// nil before the first report.
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
