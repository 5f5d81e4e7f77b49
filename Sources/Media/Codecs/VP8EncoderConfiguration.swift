/// Settings of a VP8 encoder. Those that may change while it runs have a method on `VP8Encoder`.
public struct VP8EncoderConfiguration: Hashable, Sendable {
  /// Pixels, even, 2...16382.
  public var width: Int
  public var height: Int
  /// The source's nominal rate; the encoder follows the capture times.
  public var framesPerSecond: Int
  /// Total of all layers.
  public var bitrateKbps: Int
  /// Encoder threads; see `defaultThreads`.
  public var threads: Int
  /// Negative: libvpx's fixed cpu-used, -16 (fast) ... -1. libvpx's own adaptation (positive values) also aims at a
  /// share of the frame interval, but jumps between frames; `SpeedGovernor` steps calmly.
  public var speed: Int
  /// 1, or 2: base layer alternating with discardable frames.
  public var temporalLayers: Int
  /// The base layer's share of the bitrate with two layers, 1...99.
  public var baseLayerPercent: Int
  public var noiseFilter: VP8NoiseFilter

  public init(
    width: Int, height: Int, framesPerSecond: Int = 30, bitrateKbps: Int = 1500, threads: Int = 1,
    speed: Int = SpeedGovernor.defaultSpeed, temporalLayers: Int = 2, baseLayerPercent: Int = Self.baseLayerPercent,
    noiseFilter: VP8NoiseFilter = .off
  ) {
    self.baseLayerPercent = baseLayerPercent
    self.width = width
    self.height = height
    self.framesPerSecond = framesPerSecond
    self.bitrateKbps = bitrateKbps
    self.threads = threads
    self.speed = speed
    self.temporalLayers = temporalLayers
    self.noiseFilter = noiseFilter
  }

  /// All other frames predict from base frames. At 60 % the test picture loses 1.5 dB against one layer, at 75 % nothing;
  /// more makes layer 1 visibly worse.
  public static let baseLayerPercent = 75
  /// For weak paths: what has to arrive for a picture at all is smaller. Issue 18's share.
  public static let weakPathBaseLayerPercent = 60

  /// One thread up to three cores: libvpx's threads busy-wait for one another, so once capture, sound or the network
  /// needs one of their cores, a frame takes ten times as long instead of half.
  public static func defaultThreads(width: Int, height: Int, cores: Int) -> Int {
    switch (width * height, cores) {
    case (..<(1280 * 720), _), (_, ..<4): 1
    case (..<(1920 * 1080), _), (_, ..<6): 2
    default: 3
    }
  }
}

/// How the noise of the sensor is kept out of the picture.
///
/// libvpx's filter alone makes the picture better at the same rate: with a constant bit rate the encoder spends what the
/// filter saves on the noise that is left. A lowest quantizer that does not resolve that noise saves it.
public struct VP8NoiseFilter: Hashable, Sendable {
  /// VP8E_SET_NOISE_SENSITIVITY: 0 (off), 1 (luma), 2 (luma and chroma), 3 (aggressive), 4 (adaptive).
  public var sensitivity: Int
  /// 0...63.
  public var minimumQuantizer: Int

  public init(sensitivity: Int, minimumQuantizer: Int) {
    self.sensitivity = sensitivity
    self.minimumQuantizer = minimumQuantizer
  }

  public static let off = VP8NoiseFilter(
    sensitivity: 0, minimumQuantizer: Int(VP8RateControl.minimumQuantizer))
  /// `bench.py --only noise` has the figures. Aggressive filtering (3) needs a third less still, but loses faint motion,
  /// such as breathing; this one shows it better than no filter does. It is for noisy pictures: others lose detail.
  public static let night = VP8NoiseFilter(sensitivity: 4, minimumQuantizer: 32)

  var isValid: Bool { (0...4).contains(sensitivity) && (0...63).contains(minimumQuantizer) }
}

/// Rate control constants for every encoder, each with its reason.
enum VP8RateControl {
  /// libvpx's quantizer scale is 0...63. Below 4 the bits go into invisible noise; the upper end is unrestricted,
  /// because a bitrate that the network cannot carry costs more than a soft picture.
  static let minimumQuantizer: UInt32 = 4
  static let maximumQuantizer: UInt32 = 63
  /// In percent of the buffer; below that libvpx drops frames. 0: never, which is right while the highest quantizer can
  /// hold the bitrate: viewers joining in a row leave a debt of key frames, and a soft picture for a second is better
  /// than none. Where even that quantizer is too much (below 400 kbit/s at 720p), dropping bounds the delay.
  static func dropFrameThreshold(kbps: Int, width: Int, height: Int) -> UInt32 {
    kbps * 1280 * 720 < 400 * width * height ? 10 : 0
  }
  /// The modelled decoder buffer in milliseconds: how far the bitrate may vary. Longer ones gain 0.05 dB but queue
  /// more.
  static let bufferMilliseconds: UInt32 = 600
  static let bufferInitialMilliseconds: UInt32 = 300
  static let bufferOptimalMilliseconds: UInt32 = 400
  /// May undershoot by all that was overspent, and overshoot the target by half while the buffer has reserves.
  static let undershootPercent: UInt32 = 100
  static let overshootPercent: UInt32 = 50
  /// A key frame may cost six frames. A lower limit only moves the cost to the next frame, where it is worth less.
  static let maximumIntraPercent: Int32 = 600
  /// A 16 x 16 macroblock is skipped when its squared difference is below this: 0.9 levels per pixel, which eight bits
  /// do not resolve. With little motion that saves a tenth of the time without loss on the test picture; camera noise
  /// is far above it. 400 would save a sixth of the bitrate but lose faint motion.
  static let staticThreshold: Int32 = 200
  /// Frames of both layers between two refreshes of the golden frame, the base layer's second reference. Even, so that
  /// the refresh always falls on a base frame.
  static let goldenInterval = 16
  /// How many base frames follow the first key frame before the layers alternate. The picture is sharp half a second
  /// earlier than with alternation from the start, and the queue behind a key frame is half as long. Even, as above.
  static let baseFramesAfterKey = 16
  /// Longest gap between frames that counts, as a multiple of the nominal interval: after a pause one frame must not
  /// get the bit budget of the whole pause.
  static let maximumIntervals = 4.0
  /// That many seconds count in any case: in the dark a camera for 30 or 60 frames a second may deliver five.
  static let slowestInterval = 0.2
}
