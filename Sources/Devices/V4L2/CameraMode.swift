internal import Wire

/// Time between two pictures in seconds, as the driver counts it.
struct FrameInterval: Hashable, Sendable {
  var numerator: UInt32
  var denominator: UInt32

  /// Nil if either is zero, which some drivers answer when they do not know.
  init?(numerator: UInt32, denominator: UInt32) {
    guard numerator > 0, denominator > 0 else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  var framesPerSecond: Double { Double(denominator) / Double(numerator) }
}

/// The rates of one picture size in one format.
enum FrameRates: Hashable, Sendable {
  case discrete([FrameInterval])
  /// Any between the two.
  case range(shortest: FrameInterval, longest: FrameInterval)
  /// The driver does not say: it may or may not reach the wish.
  case unknown

  /// The interval that comes closest to the wish; of two equally far the faster one. Nil if nothing is known.
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

/// One way in which a camera can deliver.
struct CameraMode: Hashable, Sendable {
  var format: CameraFormat
  var width: Int
  var height: Int
  var rates: FrameRates
}

/// Which mode of a camera serves a wish best.
enum ModeChoice {
  /// In this order: colour before grey; the nearest size; the nearest rate; the format that costs least.
  /// So an uncompressed format is taken when it reaches the rate, and MJPEG where only that does.
  /// Nil if there are no modes.
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
      // 29.97 is as good as 30: a rate within 2 % is not worth a dearer format.
      rateDistance = difference <= request.framesPerSecond * 0.02 ? 0 : difference
    }

    func isBetter(than other: Candidate) -> Bool {
      let (isGrey, otherIsGrey) = (mode.format == .grey, other.mode.format == .grey)
      if isGrey != otherIsGrey { return otherIsGrey }
      if sizeDistance != other.sizeDistance { return sizeDistance < other.sizeDistance }
      if rateDistance != other.rateDistance { return rateDistance < other.rateDistance }
      let (rate, otherRate) = (interval?.framesPerSecond ?? 0, other.interval?.framesPerSecond ?? 0)
      // 12.5 and 17.5 are both 2.5 from 15: more pictures rather than fewer.
      if rateDistance > 0, rate != otherRate { return rate > otherRate }
      return mode.format.cost < other.mode.format.cost
    }
  }

  /// 0 for the same; half as wide is as far as twice as wide.
  private static func distance(_ offered: Int, _ wanted: Int) -> Double {
    let (offered, wanted) = (Double(max(1, offered)), Double(max(1, wanted)))
    return max(offered, wanted) / min(offered, wanted) - 1
  }
}
