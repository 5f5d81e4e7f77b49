internal import CSpeexDSP
internal import Frames

/// Converts another sample rate to 48 kHz with libspeexdsp.
public final class Resampler {
  private let state: OpaquePointer
  /// 0...10: 5 keeps aliasing 80 dB down at a third of the cost of the highest.
  private static let quality: Int32 = 5

  /// Nil if out of memory.
  public init?(from sampleRate: Int) {
    var status: Int32 = 0
    guard
      let state = speex_resampler_init(1, UInt32(sampleRate), UInt32(AudioFormat.sampleRate), Self.quality, &status),
      status == RESAMPLER_ERR_SUCCESS
    else { return nil }
    self.state = state
    // Skips the filter's run-in, which would be silence at the beginning.
    speex_resampler_skip_zeros(state)
  }

  deinit {
    speex_resampler_destroy(state)
  }

  /// Converts from another rate, in Hz, from the next samples on.
  public func setRate(_ sampleRate: Int) {
    speex_resampler_set_rate(state, UInt32(clamping: sampleRate), UInt32(AudioFormat.sampleRate))
  }

  /// Input samples still in the filter when the input ends.
  var latency: Int { Int(speex_resampler_get_input_latency(state)) }

  /// Converts from `input` to `output` until either is exhausted.
  public func process(
    _ input: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Float>
  ) -> (taken: Int, given: Int) {
    guard let source = input.baseAddress, let target = output.baseAddress else { return (0, 0) }
    var taken = UInt32(clamping: input.count)
    var given = UInt32(clamping: output.count)
    let status = speex_resampler_process_float(state, 0, source, &taken, target, &given)
    return status == RESAMPLER_ERR_SUCCESS ? (Int(taken), Int(given)) : (0, 0)
  }

  /// Call after a jump in the input.
  func reset() {
    speex_resampler_reset_mem(state)
    speex_resampler_skip_zeros(state)
  }
}
