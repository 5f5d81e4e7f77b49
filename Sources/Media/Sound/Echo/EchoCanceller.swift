internal import CSpeexDSP
internal import Frames

/// Removes a speaker's sound from a microphone signal: libspeexdsp's adaptive filter, and its suppressor for the
/// residual echo. 20 ms at a time, at 48 kHz; the output is 20 ms behind the input.
final class EchoCanceller {
  private let filter: OpaquePointer
  private let suppressor: OpaquePointer

  /// 200 ms: covers an alignment error of some tens of milliseconds and the reverberation of a furnished room.
  private static let tail = AudioFormat.sampleRate / 5
  /// Maximum suppression of the residual echo, in dB; during near-end speech it must not touch the voice.
  private static let suppression: Int32 = -40
  private static let suppressionWhileHeard: Int32 = -12

  /// Nil if out of memory: it needs about 400 kB.
  init?() {
    let frame = Int32(AudioFormat.samplesPerBlock)
    guard let filter = speex_echo_state_init(frame, Int32(Self.tail)) else { return nil }
    guard let suppressor = speex_preprocess_state_init(frame, Int32(AudioFormat.sampleRate)) else {
      speex_echo_state_destroy(filter)
      return nil
    }
    self.filter = filter
    self.suppressor = suppressor
    var rate = Int32(AudioFormat.sampleRate)
    speex_echo_ctl(filter, SPEEX_ECHO_SET_SAMPLING_RATE, &rate)
    speex_preprocess_ctl(suppressor, SPEEX_PREPROCESS_SET_ECHO_STATE, UnsafeMutableRawPointer(filter))
    // Room noise stays: a parent wants to hear the room as it is, breathing included.
    set(SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, 0)
    set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS, Self.suppression)
    set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS_ACTIVE, Self.suppressionWhileHeard)
  }

  deinit {
    speex_preprocess_state_destroy(suppressor)
    speex_echo_state_destroy(filter)
  }

  /// All three have 960 samples; `heard` and `cleaned` are different arrays.
  func cancel(_ heard: [Int16], played: [Int16], into cleaned: inout [Int16]) {
    let count = AudioFormat.samplesPerBlock
    guard heard.count == count, played.count == count, cleaned.count == count else { return }
    cleaned.withUnsafeMutableBufferPointer { cleaned in
      speex_echo_cancellation(filter, heard, played, cleaned.baseAddress)
      speex_preprocess_run(suppressor, cleaned.baseAddress)
    }
  }

  private func set(_ request: Int32, _ value: Int32) {
    var value = value
    speex_preprocess_ctl(suppressor, request, &value)
  }
}
