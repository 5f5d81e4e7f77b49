internal import CSpeexDSP
internal import Frames

/// Makes sound of 48 kHz longer or shorter by some parts per million, so that it keeps pace with another clock.
/// libspeexdsp, used from one thread at a time.
public final class DriftResampler {
  private let state: OpaquePointer
  /// What the fraction in force leaves of the rate that was asked for, in parts per billion.
  private var rest: Int64 = 0

  /// 0...10: with 3 what it adds is 60 dB down, at a third of a percent of a small board's core.
  private static let quality: Int32 = 3
  /// The library multiplies two of them in 32 bits.
  private static let denominator: Int64 = 65_536
  /// Keeps the division above zero, where it rounds down.
  private static let offset = 1000 * (2_000_000_000 / denominator)
  /// 2000 ppm.
  private static let maximumRate: Int64 = 2_000_000

  /// Nil when there is no memory for it.
  public init?() {
    var status: Int32 = 0
    let rate = UInt32(AudioFormat.sampleRate)
    guard let state = speex_resampler_init(1, rate, rate, Self.quality, &status), status == RESAMPLER_ERR_SUCCESS
    else { return nil }
    self.state = state
    setRate(0)
    // The filter's run-in would be silence at the beginning.
    speex_resampler_skip_zeros(state)
  }

  deinit {
    speex_resampler_destroy(state)
  }

  /// Parts per billion by which the sound is to go faster, from the next samples on. Fractions are 30 ppm apart; what one
  /// of them leaves is made up for by the next, so this is to be called again and again, once a second.
  public func setRate(_ partsPerBillion: Int64) {
    let wanted = min(max(partsPerBillion, -Self.maximumRate), Self.maximumRate) + rest
    // The numerator is odd and the denominator a power of two. So the library never reduces the fraction, and with it
    // the place between two samples where it is.
    let twoSteps = 2_000_000_000 / Self.denominator
    let steps = 2 * ((wanted + Self.offset) / twoSteps - Self.offset / twoSteps) + 1
    rest = wanted - steps * 1_000_000_000 / Self.denominator
    let rate = UInt32(AudioFormat.sampleRate)
    speex_resampler_set_rate_frac(
      state, UInt32(Self.denominator + steps), UInt32(Self.denominator), rate, rate)
  }

  /// As many samples, or a few more or fewer; 0.5 ms behind what went in.
  public func process(_ samples: [Int16]) -> [Int16] {
    // A hundredth is more than any rate here asks for.
    [Int16](unsafeUninitializedCapacity: samples.count + samples.count / 100 + 16) { buffer, count in
      var taken = UInt32(clamping: samples.count)
      var given = UInt32(clamping: buffer.count)
      let status = speex_resampler_process_int(state, 0, samples, &taken, buffer.baseAddress!, &given)
      count = status == RESAMPLER_ERR_SUCCESS ? Int(given) : 0
    }
  }
}
