internal import Codecs
internal import Frames

/// The encoder of one rendition with what steers it. Made anew when the picture's size changes; lives on the encoder
/// thread.
struct EncoderSlot {
  private let settings: VideoPipeline.Settings
  private var encoder: VP8Encoder?
  private var size = (width: 0, height: 0)
  private var governor: SpeedGovernor
  private var currentKbps = 0

  init(settings: VideoPipeline.Settings) {
    self.settings = settings
    governor = SpeedGovernor(framesPerSecond: settings.request.framesPerSecond)
  }

  /// The libvpx `cpu-used` in force; negative and fixed.
  var speed: Int { governor.speed }

  /// Nil when the encoder dropped the frame to hold its rate, or failed; after a failure a new one is made.
  mutating func encode(_ frame: VideoFrame, kbps: Int, forceKeyFrame: Bool) -> EncodedVideoFrame? {
    if encoder == nil || size != (frame.width, frame.height) {
      size = (frame.width, frame.height)
      currentKbps = kbps
      encoder = try? VP8Encoder(
        configuration: VP8EncoderConfiguration(
          width: frame.width, height: frame.height, framesPerSecond: settings.request.framesPerSecond,
          bitrateKbps: kbps, speed: governor.speed, temporalLayers: 2))
    }
    if kbps != currentKbps {
      currentKbps = kbps
      encoder?.setBitrate(kbps: kbps)
    }
    do {
      return try encoder?.encode(frame, forceKeyFrame: forceKeyFrame)
    } catch {
      encoder = nil
      return nil
    }
  }

  mutating func note(encodeTime: Duration) {
    if let speed = governor.note(encodeTime: encodeTime) { encoder?.setSpeed(speed) }
  }
}
