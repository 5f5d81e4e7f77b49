/// How a VP8 encoder is set up. What may change while it runs has a method on `VP8Encoder`.
public struct VP8EncoderConfiguration: Hashable, Sendable {
  /// Pixels, even, 2...16382.
  public var width: Int
  public var height: Int
  /// What the source promises; the encoder follows the capture times.
  public var framesPerSecond: Int
  /// Of all layers together.
  public var bitrateKbps: Int
  /// Encoder threads; see `defaultThreads`.
  public var threads: Int
  /// Negative: libvpx's fixed cpu-used, -16 (fast) ... -1. libvpx's own adaptation (positive values) aims at a share of
  /// the frame interval too, but jumps between frames; `SpeedGovernor` steps calmly.
  public var speed: Int
  /// 1, or 2: base layer and discardable frames between, in turns.
  public var temporalLayers: Int

  public init(
    width: Int, height: Int, framesPerSecond: Int = 30, bitrateKbps: Int = 1500, threads: Int = 1,
    speed: Int = SpeedGovernor.defaultSpeed, temporalLayers: Int = 2
  ) {
    self.width = width
    self.height = height
    self.framesPerSecond = framesPerSecond
    self.bitrateKbps = bitrateKbps
    self.threads = threads
    self.speed = speed
    self.temporalLayers = temporalLayers
  }

  /// One thread up to three cores: libvpx's threads wait for one another by spinning, so as soon as capture, sound
  /// or the network wants one of their cores, a frame takes ten times as long instead of half.
  public static func defaultThreads(width: Int, height: Int, cores: Int) -> Int {
    switch (width * height, cores) {
    case (..<(1280 * 720), _), (_, ..<4): 1
    case (..<(1920 * 1080), _), (_, ..<6): 2
    default: 3
    }
  }
}

/// What stays the same for every encoder, each with its reason.
enum VP8RateControl {
  /// The base layer's share of the rate. Base frames are what everything else predicts from. With 60 % the test picture
  /// loses 1.5 dB against one layer, with 75 % nothing; more leaves the frames between visibly worse.
  static let baseLayerPercent = 75
  /// libvpx's quantizer scale is 0...63. Below 4 the rate goes into noise that no one sees; the whole scale upwards,
  /// because a rate that the network does not carry costs more than a soft picture.
  static let minimumQuantizer: UInt32 = 4
  static let maximumQuantizer: UInt32 = 63
  /// In percent of the buffer: below it libvpx drops frames. 0: never, which is right as long as the highest quantizer can
  /// hold the rate: viewers who join in a row leave a debt of key frames behind, and a soft picture for a second is better
  /// than none. Where even that quantizer is too much (below 400 kbit/s at 720p) dropping keeps the delay bounded.
  static func dropFrameThreshold(kbps: Int, width: Int, height: Int) -> UInt32 {
    kbps * 1280 * 720 < 400 * width * height ? 10 : 0
  }
  /// The modelled decoder buffer in milliseconds: what the rate may swing. Longer ones gain 0.05 dB and queue longer.
  static let bufferMilliseconds: UInt32 = 600
  static let bufferInitialMilliseconds: UInt32 = 300
  static let bufferOptimalMilliseconds: UInt32 = 400
  /// May take back all that was overspent, and half above the target while it has savings.
  static let undershootPercent: UInt32 = 100
  static let overshootPercent: UInt32 = 50
  /// A key frame may cost six frames. A smaller one only moves its cost to the next frame, where it is worth less.
  static let maximumIntraPercent: Int32 = 600
  /// A block of 16 x 16 is left as it is shown when it differs by less than this in squared error: 0.9 levels a pixel,
  /// which eight bits do not resolve. Where little moves that saves a tenth of the time and loses none of the test
  /// picture; a camera's noise is far above it. With 400 a sixth of the rate goes, and movement that is hardly there.
  static let staticThreshold: Int32 = 200
  /// Frames of both layers between two refreshes of the golden frame, the base layer's second reference. Even, so that
  /// it always falls on a base frame.
  static let goldenInterval = 16
  /// How many base frames follow the first key frame before the layers begin to take turns. The picture is sharp half a second
  /// earlier than with turns from the start, and the queue behind a key frame half as long. Even, as above.
  static let baseFramesAfterKey = 16
  /// Frame interval beyond which a gap of the source counts as that long and no longer, as a multiple of the nominal
  /// one: after a pause the budget of one frame must not be that of the whole pause.
  static let maximumIntervals = 4.0
}
