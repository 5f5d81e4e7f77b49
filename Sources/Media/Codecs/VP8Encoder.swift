internal import CVPX
public import Frames
import Wire

/// VP8 by libvpx (RFC 6386), set up for a live camera: one pass, constant bitrate, no lookahead, key frames only on
/// request. Synchronous; used from one thread at a time.
public final class VP8Encoder: VideoEncoder {
  public let width: Int
  public let height: Int
  private let context: UnsafeMutablePointer<vpx_codec_ctx_t>
  private var settings: vpx_codec_enc_cfg_t
  private let baseLayerPercent: Int
  private var pattern: TemporalPattern
  private var clock: EncoderClock
  /// The first frame is a key frame; a request stays pending until a key frame comes out.
  private var needsKeyFrame = true
  /// The rate control dropped the previous frame.
  private var wasDropped = false

  /// Throws `CodecError.setUp` for settings that libvpx rejects.
  public init(configuration: VP8EncoderConfiguration) throws(CodecError) {
    width = configuration.width
    height = configuration.height
    guard (1...2).contains(configuration.temporalLayers), (1...240).contains(configuration.framesPerSecond),
      (2...16382).contains(width), (2...16382).contains(height), width % 2 == 0, height % 2 == 0,
      configuration.noiseFilter.isValid, (1...99).contains(configuration.baseLayerPercent),
      (1...1_000_000).contains(configuration.bitrateKbps), (1...64).contains(configuration.threads)
    else { throw .setUp("VP8 encoder settings out of range") }
    pattern = TemporalPattern(layers: configuration.temporalLayers)
    clock = EncoderClock(framesPerSecond: configuration.framesPerSecond)
    settings = Self.settings(for: configuration)
    baseLayerPercent = configuration.baseLayerPercent
    context = .allocate(capacity: 1)
    context.initialize(to: vpx_codec_ctx_t())
    guard cvpx_vp8_encoder_init(context, &settings) == VPX_CODEC_OK else {
      let text = Self.errorText(context)
      context.deallocate()
      throw .setUp("VP8 encoder: \(text)")
    }
    for (control, value) in Self.controls(for: configuration) {
      // Every libvpx since 1.3 knows these; if one is rejected the library's default stays.
      _ = cvpx_set(context, Int32(control.rawValue), value)
    }
  }

  deinit {
    vpx_codec_destroy(context)
    context.deallocate()
  }

  /// The time between two frames of late, as far as the rate control follows it.
  public var frameInterval: Duration { .nanoseconds(Int64(clock.interval * 1000)) }

  /// Encodes one frame; nil when the rate control dropped it.
  ///
  /// Throws `sizeMismatch` for a frame of another size and `failed` with libvpx's error text.
  public func encode(_ frame: VideoFrame, forceKeyFrame: Bool = false) throws(CodecError) -> EncodedVideoFrame? {
    guard frame.width == width, frame.height == height else {
      throw .sizeMismatch(width: frame.width, height: frame.height)
    }
    needsKeyFrame = needsKeyFrame || forceKeyFrame
    let step = pattern.next(isKeyFrame: needsKeyFrame)
    if pattern.layers > 1 {
      try check(cvpx_set(context, Int32(VP8E_SET_TEMPORAL_LAYER_ID.rawValue), Int32(step.layer)))
    }
    // Never drop two in a row: a moving picture keeps at least half its frame rate.
    if wasDropped { try setDropping(isAllowed: false) }
    var image = image(of: frame)
    let time = clock.advance(to: frame.captureTime)
    try check(
      vpx_codec_encode(
        context, &image, time.presentation, UInt(time.duration), step.flags, cvpx_deadline_realtime))
    guard let (data, isKeyFrame) = takePacket() else {
      wasDropped = true
      pattern.skip(layer: step.layer)
      return nil
    }
    if wasDropped {
      wasDropped = false
      try setDropping(isAllowed: true)
    }
    if isKeyFrame { needsKeyFrame = false }
    pattern.advance(isKeyFrame: isKeyFrame)
    return EncodedVideoFrame(
      data: data, captureTime: frame.captureTime, isKeyFrame: isKeyFrame, temporalLayer: step.layer,
      isLayerSync: step.isLayerSync, width: width, height: height)
  }

  /// Sets the total bitrate of all layers from the next frame on; no key frame, no restart.
  public func setBitrate(kbps: Int) throws(CodecError) {
    guard (1...1_000_000).contains(kbps) else { throw .failed("a rate of \(kbps) kbit/s") }
    guard settings.rc_target_bitrate != UInt32(kbps) else { return }
    Self.setRate(kbps, baseLayerPercent: baseLayerPercent, in: &settings)
    try check(vpx_codec_enc_config_set(context, &settings))
  }

  private func setDropping(isAllowed: Bool) throws(CodecError) {
    settings.rc_dropframe_thresh =
      isAllowed
      ? VP8RateControl.dropFrameThreshold(kbps: Int(settings.rc_target_bitrate), width: width, height: height) : 0
    try check(vpx_codec_enc_config_set(context, &settings))
  }

  /// Sets libvpx's cpu-used, -16 (fast) ... -1, from the next frame on.
  public func setSpeed(_ speed: Int) throws(CodecError) {
    guard (-16 ... -1).contains(speed) else { throw .failed("a speed of \(speed)") }
    try check(cvpx_set(context, Int32(VP8E_SET_CPUUSED.rawValue), Int32(speed)))
  }

  /// From the next frame on, which should be a key frame: the filter compares a picture with those before it, and has none
  /// yet.
  public func setNoiseFilter(_ filter: VP8NoiseFilter) throws(CodecError) {
    guard filter.isValid else { throw .failed("a noise filter of \(filter)") }
    settings.rc_min_quantizer = UInt32(filter.minimumQuantizer)
    try check(vpx_codec_enc_config_set(context, &settings))
    try check(cvpx_set(context, Int32(VP8E_SET_NOISE_SENSITIVITY.rawValue), Int32(filter.sensitivity)))
  }

  public func setFiltersNoise(_ isOn: Bool) throws(CodecError) -> Bool {
    try setNoiseFilter(isOn ? .night : .off)
    return true
  }

  private func image(of frame: VideoFrame) -> vpx_image_t {
    var image = vpx_image_t()
    vpx_img_wrap(&image, VPX_IMG_FMT_I420, UInt32(width), UInt32(height), 1, frame.mutableY)
    image.planes.0 = frame.mutableY
    image.planes.1 = frame.mutableU
    image.planes.2 = frame.mutableV
    image.stride.0 = Int32(frame.strideY)
    image.stride.1 = Int32(frame.strideUV)
    image.stride.2 = Int32(frame.strideUV)
    return image
  }

  /// One encode call gives at most one packet: there are no lookahead and no invisible frames.
  private func takePacket() -> (data: [UInt8], isKeyFrame: Bool)? {
    var iterator: vpx_codec_iter_t?
    while let packet = vpx_codec_get_cx_data(context, &iterator) {
      guard packet.pointee.kind == VPX_CODEC_CX_FRAME_PKT else { continue }
      let frame = packet.pointee.data.frame
      guard let start = frame.buf, frame.sz > 0 else { continue }
      let data = [UInt8](UnsafeRawBufferPointer(start: start, count: frame.sz))
      return (data, frame.flags & cvpx_packet_is_key != 0)
    }
    return nil
  }

  private func check(_ status: vpx_codec_err_t) throws(CodecError) {
    guard status == VPX_CODEC_OK else { throw .failed("VP8 encoder: \(Self.errorText(context))") }
  }

  private static func errorText(_ context: UnsafeMutablePointer<vpx_codec_ctx_t>) -> String {
    let text = String(cString: vpx_codec_error(context))
    return vpx_codec_error_detail(context).map { "\(text) (\(String(cString: $0)))" } ?? text
  }

  private static func settings(for configuration: VP8EncoderConfiguration) -> vpx_codec_enc_cfg_t {
    var settings = vpx_codec_enc_cfg_t()
    _ = cvpx_vp8_encoder_defaults(&settings)
    settings.g_w = UInt32(configuration.width)
    settings.g_h = UInt32(configuration.height)
    settings.g_timebase = vpx_rational(num: 1, den: Int32(EncoderClock.ticksPerSecond))
    settings.g_threads = UInt32(configuration.threads)
    settings.g_pass = VPX_RC_ONE_PASS
    settings.g_lag_in_frames = 0
    // Without error resilience libvpx refreshes the golden frame on its own schedule, on whichever frame is due,
    // regardless of that frame's flags: layer 1 would no longer be discardable. It costs 0.1 dB at most. With one layer
    // that refresh is welcome.
    settings.g_error_resilient = configuration.temporalLayers > 1 ? UInt32(VPX_ERROR_RESILIENT_DEFAULT) : 0
    settings.rc_end_usage = VPX_CBR
    settings.rc_resize_allowed = 0
    settings.rc_min_quantizer = UInt32(configuration.noiseFilter.minimumQuantizer)
    settings.rc_max_quantizer = VP8RateControl.maximumQuantizer
    settings.rc_undershoot_pct = VP8RateControl.undershootPercent
    settings.rc_overshoot_pct = VP8RateControl.overshootPercent
    settings.rc_buf_sz = VP8RateControl.bufferMilliseconds
    settings.rc_buf_initial_sz = VP8RateControl.bufferInitialMilliseconds
    settings.rc_buf_optimal_sz = VP8RateControl.bufferOptimalMilliseconds
    settings.kf_mode = VPX_KF_DISABLED
    if configuration.temporalLayers == 2 {
      settings.ts_number_layers = 2
      settings.ts_periodicity = 2
      settings.ts_rate_decimator.0 = 2
      settings.ts_rate_decimator.1 = 1
      settings.ts_layer_id.0 = 0
      settings.ts_layer_id.1 = 1
    }
    setRate(configuration.bitrateKbps, baseLayerPercent: configuration.baseLayerPercent, in: &settings)
    return settings
  }

  /// Layer rates are cumulative.
  private static func setRate(_ kbps: Int, baseLayerPercent: Int, in settings: inout vpx_codec_enc_cfg_t) {
    settings.rc_target_bitrate = UInt32(kbps)
    settings.rc_dropframe_thresh = VP8RateControl.dropFrameThreshold(
      kbps: kbps, width: Int(settings.g_w), height: Int(settings.g_h))
    guard settings.ts_number_layers == 2 else { return }
    settings.ts_target_bitrate.0 = UInt32(max(1, kbps * baseLayerPercent / 100))
    settings.ts_target_bitrate.1 = UInt32(kbps)
  }

  private static func controls(for configuration: VP8EncoderConfiguration) -> [(vp8e_enc_control_id, Int32)] {
    [
      (VP8E_SET_CPUUSED, Int32(min(-1, max(-16, configuration.speed)))),
      (VP8E_SET_STATIC_THRESHOLD, VP8RateControl.staticThreshold),
      (VP8E_SET_MAX_INTRA_BITRATE_PCT, VP8RateControl.maximumIntraPercent),
      // log2 of the count: as many token partitions as threads can write in parallel.
      (VP8E_SET_TOKEN_PARTITIONS, configuration.threads > 2 ? 2 : configuration.threads - 1 == 1 ? 1 : 0),
      (VP8E_SET_NOISE_SENSITIVITY, Int32(configuration.noiseFilter.sensitivity)),
      (VP8E_SET_ENABLEAUTOALTREF, 0),
      (VP8E_SET_SCREEN_CONTENT_MODE, 0),
    ]
  }
}

/// Maps capture times to libvpx timestamps. libvpx derives each frame's bit budget from the distance to the previous
/// frame, so source jitter and pauses are smoothed first.
struct EncoderClock {
  static let ticksPerSecond = 1_000_000
  private let nominal: Double
  private let longest: Double
  /// Smoothed, in ticks.
  private(set) var interval: Double
  private var presentation = 0.0
  private var last: Instant?

  init(framesPerSecond: Int) {
    nominal = Double(Self.ticksPerSecond) / Double(framesPerSecond)
    longest = max(
      nominal * VP8RateControl.maximumIntervals, VP8RateControl.slowestInterval * Double(Self.ticksPerSecond))
    interval = nominal
  }

  /// Ticks of a frame and until the next is expected; strictly increasing whatever the capture times do.
  mutating func advance(to captureTime: Instant) -> (presentation: Int64, duration: Int64) {
    if let last {
      let distance = (captureTime - last).inSeconds * Double(Self.ticksPerSecond)
      let bounded = min(max(distance, nominal / 4), longest)
      interval += (bounded - interval) / 8
      presentation += interval
    }
    last = captureTime
    return (Int64(presentation), max(1, Int64(interval)))
  }
}
