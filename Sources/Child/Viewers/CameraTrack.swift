internal import Frames
internal import Pipelines
internal import RTP
internal import RTPSending
internal import VideoFormats

/// The video track of one camera, packetised once for all viewers of a rendition and codec. Confined to the event loop.
final class CameraTrack {
  let pipeline: VideoPipeline
  var allocators: PerCodec<RenditionAllocator>
  var refreshes = PerCodec { _ in PictureRefresh() }
  private var packetizers: PerRendition<VP8Packetizer>
  private var h264Packetizers = PerRendition { _ in H264Packetizer() }

  /// The smallest rendition is for paths of 100 kbit/s and less, where a full packet takes 100 ms or more. The sound behind
  /// it would come so late, and the estimate would take it for a queue.
  private static let narrowPayloadSize = 500

  init(pipeline: VideoPipeline, settings: RenditionAllocator.Settings) {
    self.pipeline = pipeline
    allocators = PerCodec { RenditionAllocator(settings: settings, codec: $0) }
    // RFC 7741 section 4.2 allows any initial values. Random ones keep receivers from confusing a restarted child with
    // the old one.
    packetizers = PerRendition { _ in
      VP8Packetizer(pictureID: .random(in: 0...UInt16.max), tl0PictureIndex: .random(in: 0...UInt8.max))
    }
  }

  func packetize(_ frame: EncodedVideoFrame) -> [[UInt8]] {
    let size = frame.rendition == .low ? Self.narrowPayloadSize : RTPSenderConfiguration.recommendedPayloadSize
    return switch frame.codec {
    case .vp8:
      packetizers[frame.rendition].packetize(
        frame.data, isKeyFrame: frame.isKeyFrame, temporalLayer: frame.temporalLayer, isLayerSync: frame.isLayerSync,
        maximumPayloadSize: size)
    case .h264: h264Packetizers[frame.rendition].packetize(frame.data, maximumPayloadSize: size)
    }
  }
}
