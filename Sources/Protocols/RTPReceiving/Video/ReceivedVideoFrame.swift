public import Wire

/// One complete VP8 frame that can be decoded after those handed out before it.
public struct ReceivedVideoFrame: Hashable, Sendable {
  /// The frame in the format of RFC 6386.
  public var payload: [UInt8]
  /// In units of the clock rate, with the sender's random offset.
  public var rtpTimestamp: UInt32
  public var isKeyFrame: Bool
  /// 7 or 15 bits, as in the stream; nil if absent.
  public var pictureID: UInt16?
  /// 0 is the base layer, and the only one in a stream without temporal layers.
  public var temporalLayer: Int
  /// When the first and the last of its packets arrived.
  public var firstArrival: Instant
  public var lastArrival: Instant
  /// On the sender's clock, nanoseconds since 1970 according to its sender reports; nil before the first report.
  public var captureTime: Instant?
  /// Which media section it belongs to.
  public var mid: String?

  public init(
    payload: [UInt8], rtpTimestamp: UInt32, isKeyFrame: Bool, pictureID: UInt16? = nil, temporalLayer: Int = 0,
    firstArrival: Instant, lastArrival: Instant, captureTime: Instant? = nil, mid: String? = nil
  ) {
    self.payload = payload
    self.rtpTimestamp = rtpTimestamp
    self.isKeyFrame = isKeyFrame
    self.pictureID = pictureID
    self.temporalLayer = temporalLayer
    self.firstArrival = firstArrival
    self.lastArrival = lastArrival
    self.captureTime = captureTime
    self.mid = mid
  }
}
