internal import CSpeexDSP
internal import Frames

/// Stretches or shrinks 48 kHz sound by some parts per million, so that it keeps pace with another clock. libspeexdsp,
/// used from one thread at a time.
public final class DriftResampler {
  private let state: OpaquePointer
  /// Difference between the requested rate and the fraction in force, in parts per billion.
  private var rest: Int64 = 0

  /// 0...10: at 3 its distortion is 60 dB down, for a third of a percent of a small board's core.
  private static let quality: Int32 = 3
  /// The library multiplies two of these in 32 bits.
  private static let denominator: Int64 = 65_536
  /// Keeps the dividend positive, where division rounds down.
  private static let offset = 1000 * (2_000_000_000 / denominator)
  /// 2000 ppm.
  private static let maximumRate: Int64 = 2_000_000

  /// Nil if out of memory.
  public init?() {
    var status: Int32 = 0
    let rate = UInt32(AudioFormat.sampleRate)
    guard let state = speex_resampler_init(1, rate, rate, Self.quality, &status), status == RESAMPLER_ERR_SUCCESS
    else { return nil }
    self.state = state
    setRate(0)
    // Skips the filter's run-in, which would be silence at the beginning.
    speex_resampler_skip_zeros(state)
  }

  deinit {
    speex_resampler_destroy(state)
  }

  /// Parts per billion by which the sound plays faster, from the next samples on. Fractions are 30 ppm apart and the
  /// remainder carries over to the next call, so call this repeatedly, once a second.
  public func setRate(_ partsPerBillion: Int64) {
    let wanted = min(max(partsPerBillion, -Self.maximumRate), Self.maximumRate) + rest
    // The numerator is odd and the denominator a power of two, so the library never reduces the fraction, which would
    // lose its position between two samples.
    let twoSteps = 2_000_000_000 / Self.denominator
    let steps = 2 * ((wanted + Self.offset) / twoSteps - Self.offset / twoSteps) + 1
    rest = wanted - steps * 1_000_000_000 / Self.denominator
    let rate = UInt32(AudioFormat.sampleRate)
    speex_resampler_set_rate_frac(
      state, UInt32(Self.denominator + steps), UInt32(Self.denominator), rate, rate)
  }

  /// Returns as many samples, or a few more or fewer; 0.5 ms behind the input.
  public func process(_ samples: [Int16]) -> [Int16] {
    // A hundredth exceeds any rate used here.
    [Int16](unsafeUninitializedCapacity: samples.count + samples.count / 100 + 16) { buffer, count in
      var taken = UInt32(clamping: samples.count)
      var given = UInt32(clamping: buffer.count)
      let status = speex_resampler_process_int(state, 0, samples, &taken, buffer.baseAddress!, &given)
      count = status == RESAMPLER_ERR_SUCCESS ? Int(given) : 0
    }
  }
}
