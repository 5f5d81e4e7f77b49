internal import CSpeexDSP
internal import Frames

/// Takes what a speaker plays out of what a microphone hears: libspeexdsp's adaptive filter, and its suppressor for what
/// the filter leaves. 20 ms at a time, at 48 kHz; what comes out is 20 ms behind what goes in.
final class EchoCanceller {
  private let filter: OpaquePointer
  private let suppressor: OpaquePointer

  /// 200 ms: an alignment that is some tens of milliseconds off, and the ring of a furnished room.
  private static let tail = AudioFormat.sampleRate / 5
  /// How far the suppressor may press what is left of the echo, in dB; while somebody in the room is heard it must not
  /// touch the voice.
  private static let suppression: Int32 = -40
  private static let suppressionWhileHeard: Int32 = -12

  /// Nil when there is no memory for it: about 400 kB.
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
    // The noise of the room stays: a parent wants to hear it as it is, and breathing is in it.
    set(SPEEX_PREPROCESS_SET_NOISE_SUPPRESS, 0)
    set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS, Self.suppression)
    set(SPEEX_PREPROCESS_SET_ECHO_SUPPRESS_ACTIVE, Self.suppressionWhileHeard)
  }

  deinit {
    speex_preprocess_state_destroy(suppressor)
    speex_echo_state_destroy(filter)
  }

  /// All three have 960 samples; `heard` and `cleaned` are two arrays.
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
