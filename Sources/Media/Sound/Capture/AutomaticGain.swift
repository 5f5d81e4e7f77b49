internal import CSpeexDSP
internal import Frames

/// Makes quiet sound louder by itself: libspeexdsp's automatic gain control, in blocks of 20 ms at 48 kHz.
final class AutomaticGain {
  private let state: OpaquePointer

  /// dB at most, and how fast it follows: a voice is at its level after some seconds, and a scream at once.
  private static let maximum: Int32 = 36
  private static let increment: Int32 = 12
  private static let decrement: Int32 = -40
  /// RMS of 16-bit samples that a voice is brought to: -18 dB of full scale.
  private static let level: Float = 4000

  /// Nil if out of memory, or if the library was built without it (for processors without floating point).
  init?() {
    let frame = Int32(AudioFormat.samplesPerBlock)
    guard let state = speex_preprocess_state_init(frame, Int32(AudioFormat.sampleRate)) else { return nil }
    self.state = state
    var level = Self.level
    guard set(SPEEX_PREPROCESS_SET_AGC, 1) == 0,
      speex_preprocess_ctl(state, SPEEX_PREPROCESS_SET_AGC_LEVEL, &level) == 0
    else { return nil }
    // Room noise stays: a parent wants to hear the room as it is, breathing included.
    set(SPEEX_PREPROCESS_SET_DENOISE, 0)
    set(SPEEX_PREPROCESS_SET_AGC_MAX_GAIN, Self.maximum)
    set(SPEEX_PREPROCESS_SET_AGC_INCREMENT, Self.increment)
    set(SPEEX_PREPROCESS_SET_AGC_DECREMENT, Self.decrement)
  }

  deinit { speex_preprocess_state_destroy(state) }

  /// - Parameter samples: a block.
  func apply(to samples: inout [Int16]) {
    guard samples.count == AudioFormat.samplesPerBlock else { return }
    samples.withUnsafeMutableBufferPointer { _ = speex_preprocess_run(state, $0.baseAddress) }
  }

  @discardableResult
  private func set(_ request: Int32, _ value: Int32) -> Int32 {
    var value = value
    return speex_preprocess_ctl(state, request, &value)
  }
}
