internal import Codecs
internal import Devices
internal import Frames
internal import NIOCore

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
    governor = SpeedGovernor(frameInterval: .seconds(1 / max(1, settings.request.framesPerSecond)))
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
          width: frame.width, height: frame.height, framesPerSecond: Int(settings.request.framesPerSecond.rounded()),
          bitrateKbps: kbps,
          threads: VP8EncoderConfiguration.defaultThreads(
            width: frame.width, height: frame.height, cores: System.coreCount),
          speed: governor.speed, temporalLayers: 2))
    }
    if kbps != currentKbps {
      currentKbps = kbps
      try? encoder?.setBitrate(kbps: kbps)
    }
    do {
      return try encoder?.encode(frame, forceKeyFrame: forceKeyFrame)
    } catch {
      encoder = nil
      return nil
    }
  }

  mutating func note(encodeTime: Duration) {
    if let speed = governor.record(encodingTime: encodeTime) { try? encoder?.setSpeed(speed) }
  }
}
