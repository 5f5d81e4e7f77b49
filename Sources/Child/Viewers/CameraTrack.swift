internal import Frames
internal import Pipelines
internal import RTP
internal import RTPSending

/// The video track of one camera, packetised once for all viewers. Confined to the event loop.
final class CameraTrack {
  let pipeline: VideoPipeline
  var allocation: RateAllocation
  private var packetizer: VP8Packetizer

  init(pipeline: VideoPipeline, allocation: RateAllocation) {
    self.pipeline = pipeline
    self.allocation = allocation
    // RFC 7741 section 4.2 allows any initial values. Random ones keep receivers from confusing a restarted child with
    // the old one.
    packetizer = VP8Packetizer(
      pictureID: .random(in: 0...UInt16.max), tl0PictureIndex: .random(in: 0...UInt8.max))
  }

  func packetize(_ frame: EncodedVideoFrame) -> [[UInt8]] {
    packetizer.packetize(
      frame.data, isKeyFrame: frame.isKeyFrame, temporalLayer: frame.temporalLayer, isLayerSync: frame.isLayerSync,
      maximumPayloadSize: RTPSenderConfiguration.recommendedPayloadSize)
  }
}
