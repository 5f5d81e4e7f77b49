public import DeviceNames

/// The last step of a microphone's sound: gain, and 16 bits. Used from one thread at a time.
public final class MicrophoneAmplifier {
  private let factor: Float
  private let automatic: AutomaticGain?
  private var filter = HighPassFilter()
  /// A linear congruential generator (Numerical Recipes) for dither.
  private var dither: UInt32 = 1

  /// With automatic gain, before it: its input has 16 bits.
  private static let automaticDecibels = 12.0

  public init(gain: MicrophoneGain) {
    switch gain {
    case .fixed(let decibels):
      factor = Float(Decibels.amplitude(Double(decibels)))
      automatic = nil
    case .automatic:
      automatic = AutomaticGain()
      factor = automatic == nil ? 1 : Float(Decibels.amplitude(Self.automaticDecibels))
    }
  }

  /// - Parameters:
  ///   - samples: a block, full scale ±1, without DC offset.
  ///   - isDithered: they have more than 16 bits: what is below the last one stays audible, and is no digital silence.
  public func amplify(_ samples: ArraySlice<Float>, isDithered: Bool = false) -> [Int16] {
    let isConstant = samples.allSatisfy { $0 == samples.first }
    var result = samples.map { sample in
      var value = (factor == 1 ? sample : SoftLimiter.limit(sample * factor)) * 32768
      if isDithered, !isConstant {
        dither = dither &* 1_664_525 &+ 1_013_904_223
        value += Float(dither >> 8) / 16_777_216 - 0.5
      }
      return Int16(max(-32768, min(32767, value.isNaN ? 0 : value.rounded())))
    }
    if !isConstant { automatic?.apply(to: &result) }
    return result
  }

  /// For sound of 16 bits that comes from elsewhere: a block without its DC offset, with the gain.
  public func amplify(_ samples: [Int16]) -> [Int16] {
    amplify(samples.map { filter.filter(Float($0) / 32768) }[...])
  }
}
