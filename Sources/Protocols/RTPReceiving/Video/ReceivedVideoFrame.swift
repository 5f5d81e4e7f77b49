public import Wire

/// One VP8 frame that is whole and can be decoded after those handed out before it.
public struct ReceivedVideoFrame: Hashable, Sendable {
  /// The frame as RFC 6386 has it.
  public var payload: [UInt8]
  /// In units of the clock rate, with the sender's random offset.
  public var rtpTimestamp: UInt32
  public var isKeyFrame: Bool
  /// 7 or 15 bits, as the stream has it; nil where it has none.
  public var pictureID: UInt16?
  /// 0 is the base layer, and the only one where the stream names none.
  public var temporalLayer: Int
  /// When the first and the last of its packets came.
  public var firstArrival: Instant
  public var lastArrival: Instant
  /// On the sender's clock, nanoseconds since 1970 as its reports say; nil until one came.
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
