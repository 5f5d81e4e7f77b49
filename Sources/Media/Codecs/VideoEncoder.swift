public import Frames

/// The encoder of one stream of pictures of one size. Synchronous; used from one thread at a time.
public protocol VideoEncoder: AnyObject {
  /// The time between two frames of late, as far as the rate control follows it.
  var frameInterval: Duration { get }

  /// Encodes one frame; nil when the rate control dropped it. The first one is a key frame, later ones only on request.
  func encode(_ frame: VideoFrame, forceKeyFrame: Bool) throws(CodecError) -> EncodedVideoFrame?

  /// Sets the total bitrate from the next frame on; no key frame, no restart.
  func setBitrate(kbps: Int) throws(CodecError)

  /// Sets a step of `SpeedGovernor`. Encoders that have none stay as they are.
  func setSpeed(_ speed: Int) throws(CodecError)

  /// Filters the sensor's noise, or not. Encoders without such a filter stay as they are. Returns whether the next frame has to
  /// be a key frame.
  func setFiltersNoise(_ isOn: Bool) throws(CodecError) -> Bool
}

extension VideoEncoder {
  public func setSpeed(_ speed: Int) throws(CodecError) {}
  public func setFiltersNoise(_ isOn: Bool) throws(CodecError) -> Bool { false }
}
