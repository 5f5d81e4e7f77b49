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
