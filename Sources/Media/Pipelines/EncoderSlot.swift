internal import Codecs
internal import DeviceNames
public import Frames
internal import Glibc
public import VideoFormats

/// One rendition's encoder with its speed control. Recreated when the picture's size changes; lives on the encoder
/// thread.
public struct EncoderSlot {
  private let codec: VideoCodec
  private var encoder: (any VideoEncoder)?
  private var size = (width: 0, height: 0)
  /// The nominal frame rate, in fps.
  private let framesPerSecond: Double
  private let baseLayerPercent: Int
  private let nominalInterval: Duration
  private var governor: SpeedGovernor
  private var currentKbps = 0
  private var filtersNoise = false

  public init(settings: VideoPipeline.Settings, codec: VideoCodec = .vp8, rendition: Rendition = .high) {
    self.codec = codec
    let camera = max(1, settings.request.framesPerSecond)
    framesPerSecond = rendition.maximumFramesPerSecond(of: codec).map { min(camera, Double($0)) } ?? camera
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
  /// - Parameter filtersNoise: a change may come with a key frame: the filter compares a picture with those before it.
  public mutating func encode(
    _ frame: VideoFrame, kbps: Int, forceKeyFrame: Bool, filtersNoise: Bool = false
  ) -> EncodedVideoFrame? {
    let isChange = encoder != nil && filtersNoise != self.filtersNoise
    self.filtersNoise = filtersNoise
    if encoder == nil || size != (frame.width, frame.height) {
      size = (frame.width, frame.height)
      currentKbps = kbps
      encoder = try? makeEncoder()
    }
    if kbps != currentKbps {
      currentKbps = kbps
      try? encoder?.setBitrate(kbps: kbps)
    }
    do {
      let beginsAgain = try isChange && (encoder?.setFiltersNoise(filtersNoise) ?? false)
      return try encoder?.encode(frame, forceKeyFrame: forceKeyFrame || beginsAgain)
    } catch {
      encoder = nil
      return nil
    }
  }

  private func makeEncoder() throws(CodecError) -> any VideoEncoder {
    let nominal = Int(framesPerSecond.rounded())
    switch codec {
    case .h264:
      return try OpenH264Encoder(
        width: size.width, height: size.height, framesPerSecond: nominal,
        bitrateKbps: min(currentKbps, H264Level.maximumKbps))
    case .vp8:
      return try VP8Encoder(
        configuration: VP8EncoderConfiguration(
          width: size.width, height: size.height, framesPerSecond: nominal, bitrateKbps: currentKbps,
          threads: VP8EncoderConfiguration.defaultThreads(
            width: size.width, height: size.height, cores: Self.processors),
          speed: governor.speed, temporalLayers: 2, baseLayerPercent: baseLayerPercent,
          noiseFilter: filtersNoise ? .night : .off))
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
