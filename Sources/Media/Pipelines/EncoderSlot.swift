internal import Codecs
internal import DeviceNames
public import Frames
internal import Glibc

/// One rendition's encoder with its speed control. Recreated when the picture's size changes; lives on the encoder
/// thread.
public struct EncoderSlot {
  private var encoder: VP8Encoder?
  private var size = (width: 0, height: 0)
  /// The nominal frame rate, in fps.
  private let framesPerSecond: Double
  private let baseLayerPercent: Int
  private let nominalInterval: Duration
  private var governor: SpeedGovernor
  private var currentKbps = 0
  private var filtersNoise = false

  public init(settings: VideoPipeline.Settings, rendition: Rendition = .high) {
    let camera = max(1, settings.request.framesPerSecond)
    framesPerSecond = rendition.maximumFramesPerSecond.map { min(camera, Double($0)) } ?? camera
    baseLayerPercent =
      rendition >= .high
      ? VP8EncoderConfiguration.baseLayerPercent : VP8EncoderConfiguration.weakPathBaseLayerPercent
    nominalInterval = .seconds(1 / framesPerSecond)
    governor = SpeedGovernor(frameInterval: nominalInterval)
  }

  /// The current libvpx `cpu-used`; negative and fixed.
  public var speed: Int { governor.speed }

  /// Nil when the encoder dropped the frame to hold its bitrate, or failed; after a failure it is recreated.
  ///
  /// - Parameter filtersNoise: a change comes with a key frame: the filter compares a picture with those before it.
  public mutating func encode(
    _ frame: VideoFrame, kbps: Int, forceKeyFrame: Bool, filtersNoise: Bool = false
  ) -> EncodedVideoFrame? {
    let isChange = encoder != nil && filtersNoise != self.filtersNoise
    self.filtersNoise = filtersNoise
    if encoder == nil || size != (frame.width, frame.height) {
      size = (frame.width, frame.height)
      currentKbps = kbps
      encoder = try? VP8Encoder(
        configuration: VP8EncoderConfiguration(
          width: frame.width, height: frame.height, framesPerSecond: Int(framesPerSecond.rounded()),
          bitrateKbps: kbps,
          threads: VP8EncoderConfiguration.defaultThreads(
            width: frame.width, height: frame.height, cores: Self.processors),
          speed: governor.speed, temporalLayers: 2, baseLayerPercent: baseLayerPercent,
          noiseFilter: filtersNoise ? .night : .off))
    }
    if kbps != currentKbps {
      currentKbps = kbps
      try? encoder?.setBitrate(kbps: kbps)
    }
    do {
      if isChange { try encoder?.setNoiseFilter(filtersNoise ? .night : .off) }
      return try encoder?.encode(frame, forceKeyFrame: forceKeyFrame || isChange)
    } catch {
      encoder = nil
      return nil
    }
  }

  /// Reports the last picture's encoding time, which decides the speed of the next ones.
  public mutating func note(encodeTime: Duration) {
    // In the dark a camera may be slower than asked, which leaves more time for each picture.
    if let encoder { governor.frameInterval = max(nominalInterval, encoder.frameInterval) }
    if let speed = governor.record(encodingTime: encodeTime) { try? encoder?.setSpeed(speed) }
  }

  /// sysconf(3).
  private static let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
