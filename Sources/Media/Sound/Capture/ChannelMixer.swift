/// Makes one channel of a microphone's: the mean, unless one of two carries nothing or they are in opposite phase. Each without
/// its DC offset.
public struct ChannelMixer: Sendable {
  public enum Wiring: String, Hashable, Sendable {
    case regular
    case leftOnly = "One of its two channels carries nothing; the left one is used."
    case rightOnly = "One of its two channels carries nothing; the right one is used."
    case opposite = "Its two channels are in opposite phase; one is inverted."
  }

  public let channels: Int
  /// How the channels are wired, by the sound of the last seconds.
  public private(set) var wiring = Wiring.regular
  private var filters: [HighPassFilter]
  /// Mean power of both and of their product, over about a second.
  private var power: (left: Float, right: Float, product: Float) = (0, 0, 0)
  private var frames = 0
  private var weights: (left: Float, right: Float) = (0.5, 0.5)

  /// A channel this much below the other carries nothing: 30 dB.
  private static let empty: Float = 0.001
  /// The share that a new block has in the means; blocks of 20 ms.
  private static let share: Float = 0.02

  public init(channels: Int) {
    self.channels = max(1, channels)
    filters = [HighPassFilter](repeating: HighPassFilter(), count: max(1, channels))
  }

  /// - Parameter frames: interleaved samples of all channels, full scale ±1.
  public mutating func mix(_ frames: [Float]) -> [Float] {
    let count = frames.count / channels
    guard channels == 2 else {
      let scale = 1 / Float(channels)
      return (0..<count).map { frame in
        var sum: Float = 0
        for channel in 0..<channels { sum += filters[channel].filter(frames[frame * channels + channel]) }
        return sum * scale
      }
    }
    var pairs = frames
    var (left, right, product): (Float, Float, Float) = (0, 0, 0)
    for index in 0..<count {
      pairs[2 * index] = filters[0].filter(frames[2 * index])
      pairs[2 * index + 1] = filters[1].filter(frames[2 * index + 1])
      left += pairs[2 * index] * pairs[2 * index]
      right += pairs[2 * index + 1] * pairs[2 * index + 1]
      product += pairs[2 * index] * pairs[2 * index + 1]
    }
    learn(left, right, product, count)
    let target = target
    let step = (
      left: (target.left - weights.left) / Float(max(1, count)),
      right: (target.right - weights.right) / Float(max(1, count))
    )
    return (0..<count).map { index in
      weights.left += step.left
      weights.right += step.right
      return pairs[2 * index] * weights.left + pairs[2 * index + 1] * weights.right
    }
  }

  private mutating func learn(_ left: Float, _ right: Float, _ product: Float, _ count: Int) {
    guard count > 0 else { return }
    frames += count
    // At the beginning the plain mean of what there is, which soon is enough to go by.
    let share = max(Self.share * Float(count) / 960, Float(count) / Float(max(count, frames)))
    power.left += share * (left / Float(count) - power.left)
    power.right += share * (right / Float(count) - power.right)
    power.product += share * (product / Float(count) - power.product)
    decide()
  }

  private mutating func decide() {
    // -100 dB: with less nothing can be measured.
    guard max(power.left, power.right) > 1e-10 else { return }
    let correlation = power.product / max(1e-20, (power.left * power.right).squareRoot())
    if power.right < Self.empty * power.left {
      wiring = .leftOnly
    } else if power.left < Self.empty * power.right {
      wiring = .rightOnly
    } else if correlation < -0.5 || wiring == .opposite && correlation < -0.2 {
      wiring = .opposite
    } else {
      wiring = .regular
    }
  }

  private var target: (left: Float, right: Float) {
    switch wiring {
    case .regular: (0.5, 0.5)
    case .leftOnly: (1, 0)
    case .rightOnly: (0, 1)
    case .opposite: (0.5, -0.5)
    }
  }
}
