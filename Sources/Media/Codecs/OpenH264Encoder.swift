internal import COpenH264
public import Frames
internal import VideoFormats
import Wire

/// H.264 by OpenH264, set up for a live camera: constrained baseline of level 3.1, constant bitrate, one slice for each picture,
/// key frames only on request. There are no temporal layers and no filter for noise. Synchronous; used from one thread at a time.
public final class OpenH264Encoder: VideoEncoder {
  public let width: Int
  public let height: Int
  private let encoder: UnsafeMutablePointer<ISVCEncoder?>
  private let output: UnsafeMutablePointer<SFrameBSInfo>
  private var clock: EncoderClock
  /// What its rate control counts with, in fps.
  private var framesPerSecond: Float
  private var kbps: Int
  /// A request stays pending until a key frame comes out.
  private var needsKeyFrame = true

  /// - Parameters:
  ///   - width: pixels, even, at least 16; with `height`, no more than `H264Level` has.
  ///   - framesPerSecond: the source's nominal rate, 1...60; the encoder follows the capture times.
  ///   - bitrateKbps: at most what the level has.
  /// - Throws: `CodecError.setUp` for settings out of range, or that OpenH264 rejects.
  public init(width: Int, height: Int, framesPerSecond: Int = 30, bitrateKbps: Int = 1500) throws(CodecError) {
    guard width >= 16, height >= 16, width % 2 == 0, height % 2 == 0, H264Level.fits(width: width, height: height),
      (1...60).contains(framesPerSecond), (1...H264Level.maximumKbps).contains(bitrateKbps)
    else { throw .setUp("H.264 encoder settings out of range") }
    self.width = width
    self.height = height
    self.framesPerSecond = Float(framesPerSecond)
    kbps = bitrateKbps
    clock = EncoderClock(framesPerSecond: framesPerSecond)
    var made: UnsafeMutablePointer<ISVCEncoder?>?
    guard WelsCreateSVCEncoder(&made) == 0, let made else { throw .setUp("H.264 encoder") }
    var parameters = SEncParamExt()
    _ = copenh264_encoder_defaults(made, &parameters)
    Self.set(&parameters, width: width, height: height, framesPerSecond: framesPerSecond, kbps: bitrateKbps)
    guard copenh264_encoder_start(made, &parameters) == 0 else {
      WelsDestroySVCEncoder(made)
      throw .setUp("H.264 encoder: OpenH264 rejects \(width)×\(height)")
    }
    encoder = made
    output = .allocate(capacity: 1)
    output.initialize(to: SFrameBSInfo())
  }

  deinit {
    copenh264_encoder_destroy(encoder)
    output.deallocate()
  }

  public var frameInterval: Duration { .nanoseconds(Int64(clock.interval * 1000)) }

  /// Encodes one frame, in the format of ITU-T H.264 annex B; parameter sets stand before each key frame. Nil when the rate
  /// control dropped it.
  ///
  /// Throws `sizeMismatch` for a frame of another size and `failed` with OpenH264's number.
  public func encode(_ frame: VideoFrame, forceKeyFrame: Bool = false) throws(CodecError) -> EncodedVideoFrame? {
    guard frame.width == width, frame.height == height else {
      throw .sizeMismatch(width: frame.width, height: frame.height)
    }
    needsKeyFrame = needsKeyFrame || forceKeyFrame
    if needsKeyFrame { try check(copenh264_force_key_frame(encoder)) }
    let time = clock.advance(to: frame.captureTime)
    try followFrameRate()
    var picture = SSourcePicture()
    picture.iColorFormat = Int32(videoFormatI420.rawValue)
    picture.iPicWidth = Int32(width)
    picture.iPicHeight = Int32(height)
    picture.uiTimeStamp = time.presentation / (Int64(EncoderClock.ticksPerSecond) / 1000)
    picture.pData = (frame.mutableY, frame.mutableU, frame.mutableV, nil)
    picture.iStride = (Int32(frame.strideY), Int32(frame.strideUV), Int32(frame.strideUV), 0)
    try check(copenh264_encode(encoder, &picture, output))
    let data = takeOutput()
    guard !data.isEmpty else { return nil }
    let isKeyFrame = output.pointee.eFrameType == videoFrameTypeIDR
    if isKeyFrame { needsKeyFrame = false }
    return EncodedVideoFrame(
      data: data, captureTime: frame.captureTime, isKeyFrame: isKeyFrame, temporalLayer: 0, isLayerSync: false,
      width: width, height: height, codec: .h264)
  }

  public func setBitrate(kbps: Int) throws(CodecError) {
    guard kbps > 0 else { throw .failed("a rate of \(kbps) kbit/s") }
    let limited = min(kbps, H264Level.maximumKbps)
    guard limited != self.kbps else { return }
    self.kbps = limited
    try check(copenh264_set_bitrate(encoder, Int32(limited) * 1000))
  }

  /// The rate control divides the bitrate by a frame rate that it is given, not by times: in the dark a camera may deliver a fifth
  /// of its frames.
  private func followFrameRate() throws(CodecError) {
    let measured = Float(Double(EncoderClock.ticksPerSecond) / clock.interval)
    guard abs(measured - framesPerSecond) > framesPerSecond / 8 else { return }
    framesPerSecond = measured
    try check(copenh264_set_frame_rate(encoder, measured))
  }

  private func takeOutput() -> [UInt8] {
    var data: [UInt8] = []
    guard output.pointee.eFrameType != videoFrameTypeSkip else { return data }
    data.reserveCapacity(Int(max(0, output.pointee.iFrameSizeInBytes)))
    for index in 0..<output.pointee.iLayerNum {
      guard let layer = copenh264_layer(output, index)?.pointee, let bytes = layer.pBsBuf,
        let lengths = layer.pNalLengthInByte
      else { continue }
      let count = (0..<Int(layer.iNalCount)).reduce(0) { $0 + Int(lengths[$1]) }
      data += UnsafeBufferPointer(start: bytes, count: count)
    }
    return data
  }

  private func check(_ status: Int32) throws(CodecError) {
    guard status == 0 else { throw .failed("H.264 encoder: OpenH264's error \(status)") }
  }

  private static func set(
    _ parameters: inout SEncParamExt, width: Int, height: Int, framesPerSecond: Int, kbps: Int
  ) {
    parameters.iUsageType = CAMERA_VIDEO_REAL_TIME
    parameters.iPicWidth = Int32(width)
    parameters.iPicHeight = Int32(height)
    parameters.iTargetBitrate = Int32(kbps) * 1000
    parameters.iMaxBitrate = UNSPECIFIED_BIT_RATE
    parameters.iRCMode = RC_BITRATE_MODE
    parameters.fMaxFrameRate = Float(framesPerSecond)
    parameters.iTemporalLayerNum = 1
    parameters.iSpatialLayerNum = 1
    parameters.iComplexityMode = LOW_COMPLEXITY
    parameters.uiIntraPeriod = 0
    parameters.iNumRefFrame = 1
    // Viewers that join get the parameter sets with each key frame; new numbers would only confuse them.
    parameters.eSpsPpsIdStrategy = CONSTANT_ID
    parameters.bPrefixNalAddingCtrl = false
    // CAVLC: constrained baseline has no other.
    parameters.iEntropyCodingModeFlag = 0
    parameters.bEnableFrameSkip = true
    parameters.iMultipleThreadIdc = 1
    // Would make key frames that nobody has asked for.
    parameters.bEnableSceneChangeDetect = false
    parameters.sSpatialLayers.0.iVideoWidth = Int32(width)
    parameters.sSpatialLayers.0.iVideoHeight = Int32(height)
    parameters.sSpatialLayers.0.fFrameRate = Float(framesPerSecond)
    parameters.sSpatialLayers.0.iSpatialBitrate = Int32(kbps) * 1000
    parameters.sSpatialLayers.0.iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE
    parameters.sSpatialLayers.0.uiProfileIdc = PRO_BASELINE
    parameters.sSpatialLayers.0.uiLevelIdc = LEVEL_3_1
    parameters.sSpatialLayers.0.sSliceArgument.uiSliceMode = SM_SINGLE_SLICE
    // BT.601, limited range, as our pictures are. Players take BT.709 for granted at 720 rows and more where nothing is said.
    parameters.sSpatialLayers.0.bVideoSignalTypePresent = true
    parameters.sSpatialLayers.0.uiVideoFormat = UInt8(VF_UNDEF.rawValue)
    parameters.sSpatialLayers.0.bFullRange = false
    parameters.sSpatialLayers.0.bColorDescriptionPresent = true
    parameters.sSpatialLayers.0.uiColorPrimaries = UInt8(CP_SMPTE170M.rawValue)
    parameters.sSpatialLayers.0.uiTransferCharacteristics = UInt8(TRC_SMPTE170M.rawValue)
    parameters.sSpatialLayers.0.uiColorMatrix = UInt8(CM_SMPTE170M.rawValue)
  }
}
