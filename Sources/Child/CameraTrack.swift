internal import Frames
internal import RTP

/// One camera's picture as the viewers share it: packetised once for all of them. Lives on the event loop.
final class CameraTrack {
  let pipeline: VideoPipeline
  var allocation: RateAllocation
  private var packetizer = VP8Packetizer()

  /// RTP payload bytes: 1200 for the UDP payload (RFC 8831 section 5; every browser takes it), less RTP header with
  /// extensions and the SRTP tag.
  private static let maximumPayloadSize = 1200 - 12 - 28 - 16

  init(pipeline: VideoPipeline, allocation: RateAllocation) {
    self.pipeline = pipeline
    self.allocation = allocation
  }

  func packetize(_ frame: EncodedVideoFrame) -> [[UInt8]] {
    packetizer.packetize(
      frame.data, isKeyFrame: frame.isKeyFrame, temporalLayer: frame.temporalLayer, isLayerSync: frame.isLayerSync,
      maximumPayloadSize: Self.maximumPayloadSize)
  }
}
