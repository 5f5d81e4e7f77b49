internal import Frames
internal import Pipelines
internal import RTP
internal import RTPSending

/// The video track of one camera, packetised once for all viewers of a rendition. Confined to the event loop.
final class CameraTrack {
  let pipeline: VideoPipeline
  var allocator: RenditionAllocator
  var refresh = PictureRefresh()
  private var packetizers: PerRendition<VP8Packetizer>

  /// The smallest rendition is for paths of 100 kbit/s and less, where a full packet takes 100 ms or more. The sound behind
  /// it would come so late, and the estimate would take it for a queue.
  private static let narrowPayloadSize = 500

  init(pipeline: VideoPipeline, allocator: RenditionAllocator) {
    self.pipeline = pipeline
    self.allocator = allocator
    // RFC 7741 section 4.2 allows any initial values. Random ones keep receivers from confusing a restarted child with
    // the old one.
    packetizers = PerRendition { _ in
      VP8Packetizer(pictureID: .random(in: 0...UInt16.max), tl0PictureIndex: .random(in: 0...UInt8.max))
    }
  }

  func packetize(_ frame: EncodedVideoFrame) -> [[UInt8]] {
    packetizers[frame.rendition].packetize(
      frame.data, isKeyFrame: frame.isKeyFrame, temporalLayer: frame.temporalLayer, isLayerSync: frame.isLayerSync,
      maximumPayloadSize: frame.rendition == .low
        ? Self.narrowPayloadSize : RTPSenderConfiguration.recommendedPayloadSize)
  }
}
