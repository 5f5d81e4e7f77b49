internal import DeviceNames
internal import Wire

/// Time between two pictures in seconds, as the driver's fraction.
struct FrameInterval: Hashable, Sendable {
  var numerator: UInt32
  var denominator: UInt32

  /// Nil if either is zero, which some drivers return for unknown.
  init?(numerator: UInt32, denominator: UInt32) {
    guard numerator > 0, denominator > 0 else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  var framesPerSecond: Double { Double(denominator) / Double(numerator) }
}

/// The frame rates of one size in one format.
enum FrameRates: Hashable, Sendable {
  case discrete([FrameInterval])
  /// Any interval between the two.
  case range(shortest: FrameInterval, longest: FrameInterval)
  /// The driver does not say; the requested rate may or may not be reached.
  case unknown

  /// The interval nearest to the requested rate; of two equally near, the faster one. Nil if nothing is known.
  func nearest(to framesPerSecond: Double) -> FrameInterval? {
    switch self {
    case .discrete(let intervals):
      return intervals.min {
        let (left, right) = (abs($0.framesPerSecond - framesPerSecond), abs($1.framesPerSecond - framesPerSecond))
        return left != right ? left < right : $0.framesPerSecond > $1.framesPerSecond
      }
    case .range(let shortest, let longest):
      if framesPerSecond >= shortest.framesPerSecond { return shortest }
      if framesPerSecond <= longest.framesPerSecond { return longest }
      return FrameInterval(numerator: 1000, denominator: UInt32(saturating: (framesPerSecond * 1000).rounded()))
    case .unknown:
      return nil
    }
  }
}

/// One combination of format, size and rates that a camera offers.
struct CameraMode: Hashable, Sendable {
  var format: CameraFormat
  var width: Int
  var height: Int
  var rates: FrameRates
}

/// A mode and one of its rates.
struct ModeAtRate: Hashable, Sendable {
  var mode: CameraMode
  /// Nil if the driver does not say.
  var interval: FrameInterval?

  /// What it takes of the USB bus, in bytes a second: compressed pictures have a quarter of a byte for each pixel or less.
  func bytesPerSecond(for request: VideoRequest) -> Double {
    let bytesPerPixel =
      switch mode.format {
      case .yuyv, .uyvy: 2.0
      case .yuv420, .nv12, .nv21, .yvu420: 1.5
      case .grey: 1.0
      case .mjpeg, .jpeg: 0.25
      }
    return Double(mode.width * mode.height) * bytesPerPixel * (interval?.framesPerSecond ?? request.framesPerSecond)
  }

  /// `YUYV 1280x720`
  var text: String { "\(mode.format.name) \(mode.width)x\(mode.height)" }
}

/// Chooses the camera mode that fits a request best.
enum ModeChoice {
  /// Criteria, in this order: colour before grey; nearest size; nearest rate; lowest conversion cost. So an
  /// uncompressed format is used when it reaches the rate, and MJPEG where nothing else does. Nil if there are no
  /// modes.
  static func best(of modes: [CameraMode], for request: VideoRequest) -> (mode: CameraMode, interval: FrameInterval?)? {
    let candidates = modes.map { Candidate($0, request) }
    guard let best = candidates.min(by: { $0.isBetter(than: $1) }) else { return nil }
    return (best.mode, best.interval)
  }

  /// The best mode, then what remains when the USB bus has no room for it: cheaper ones, best first, also at lower rates
  /// down to 5 frames/s.
  static func ranked(_ modes: [CameraMode], for request: VideoRequest) -> [ModeAtRate] {
    guard let best = best(of: modes, for: request) else { return [] }
    let first = ModeAtRate(mode: best.mode, interval: best.interval)
    let slower = modes.flatMap { mode in
      guard case .discrete(let intervals) = mode.rates else { return [mode] }
      return intervals.filter { 5...max(5, request.framesPerSecond) ~= $0.framesPerSecond }.map { interval in
        CameraMode(format: mode.format, width: mode.width, height: mode.height, rates: .discrete([interval]))
      }
    }
    let rest = (modes + slower).map { Candidate($0, request) }.sorted { $0.isBetter(than: $1) }
      .map { ModeAtRate(mode: $0.mode, interval: $0.interval) }
    return [first] + rest
  }

  /// Opens the first that the bus has room for: after ENOSPC those that need at least a fifth less, of the same size first.
  ///
  /// - Returns: what was opened, and those that were refused before it.
  static func firstWithRoom<Opened: ~Copyable>(
    _ ranked: [ModeAtRate], for request: VideoRequest, open: (ModeAtRate) throws(DeviceError) -> Opened
  ) throws(DeviceError) -> OpenedMode<Opened> {
    var refused: [ModeAtRate] = []
    var refusal: DeviceError?
    for choice in ranked {
      if let last = refused.last, choice.bytesPerSecond(for: request) > 0.8 * last.bytesPerSecond(for: request) {
        continue
      }
      do throws(DeviceError) {
        return OpenedMode(opened: try open(choice), choice: choice, refused: refused)
      } catch {
        guard error.isFullBus else { throw error }
        refused.append(choice)
        refusal = error
      }
    }
    throw refusal ?? DeviceError(device: "camera", reason: .unsupportedFormat("it offers none"))
  }

  private struct Candidate {
    let mode: CameraMode
    let interval: FrameInterval?
    let sizeDistance: Double
    let rateDistance: Double

    init(_ mode: CameraMode, _ request: VideoRequest) {
      self.mode = mode
      interval = mode.rates.nearest(to: request.framesPerSecond)
      sizeDistance = ModeChoice.distance(mode.width, request.width) + ModeChoice.distance(mode.height, request.height)
      let difference = interval.map { abs($0.framesPerSecond - request.framesPerSecond) } ?? 0
      // 29.97 is as good as 30: a rate within 2 % does not justify a costlier format.
      rateDistance = difference <= request.framesPerSecond * 0.02 ? 0 : difference
    }

    func isBetter(than other: Candidate) -> Bool {
      let (isGrey, otherIsGrey) = (mode.format == .grey, other.mode.format == .grey)
      if isGrey != otherIsGrey { return otherIsGrey }
      if sizeDistance != other.sizeDistance { return sizeDistance < other.sizeDistance }
      if rateDistance != other.rateDistance { return rateDistance < other.rateDistance }
      let (rate, otherRate) = (interval?.framesPerSecond ?? 0, other.interval?.framesPerSecond ?? 0)
      // 12.5 and 17.5 are both 2.5 from 15: prefer the higher rate.
      if rateDistance > 0, rate != otherRate { return rate > otherRate }
      return mode.format.cost < other.mode.format.cost
    }
  }

  /// 0 for equal; half the size is as far as twice the size.
  private static func distance(_ offered: Int, _ wanted: Int) -> Double {
    let (offered, wanted) = (Double(max(1, offered)), Double(max(1, wanted)))
    return max(offered, wanted) / min(offered, wanted) - 1
  }
}

/// A camera that is open in one of its modes.
struct OpenedMode<Opened: ~Copyable>: ~Copyable {
  let opened: Opened
  let choice: ModeAtRate
  /// Better ones for which the bus had no room.
  let refused: [ModeAtRate]
}
