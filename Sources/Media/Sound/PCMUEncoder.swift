internal import CSpeexDSP
public import Frames

/// G.711 µ-law at 8 kHz, as telephones and many recorders speak it. libspeexdsp takes the rate down; used from one thread.
public final class PCMUEncoder {
  public static let sampleRate = 8000
  /// ITU-T G.711: what is added to a magnitude so that each segment begins at a power of two, and the largest magnitude.
  private static let bias = 132
  private static let maximum = 32_635
  /// As `Resampler`: aliasing is 80 dB down.
  private static let quality: Int32 = 5

  private let state: OpaquePointer

  /// Nil if out of memory.
  public init?() {
    var status: Int32 = 0
    guard
      let state = speex_resampler_init(
        1, UInt32(AudioFormat.sampleRate), UInt32(Self.sampleRate), Self.quality, &status),
      status == RESAMPLER_ERR_SUCCESS
    else { return nil }
    self.state = state
  }

  deinit {
    speex_resampler_destroy(state)
  }

  /// 160 bytes, of sound that is some milliseconds older.
  public func encode(_ block: AudioBlock) -> [UInt8] {
    let room = AudioFormat.samplesPerBlock * Self.sampleRate / AudioFormat.sampleRate
    let samples = [Int16](unsafeUninitializedCapacity: room) { buffer, count in
      var taken = UInt32(block.samples.count)
      var given = UInt32(room)
      let status = speex_resampler_process_int(state, 0, block.samples, &taken, buffer.baseAddress!, &given)
      count = status == RESAMPLER_ERR_SUCCESS ? Int(given) : 0
    }
    return samples.map(Self.encode)
  }

  /// ITU-T G.711, table 2: sign, three bits of segment, four of its step; all inverted.
  static func encode(_ sample: Int16) -> UInt8 {
    let magnitude = min(abs(Int(sample)), maximum) + bias
    // 7...14 for segments 0...7.
    let top = Int.bitWidth - 1 - magnitude.leadingZeroBitCount
    let step = magnitude >> (top - 4) & 0xf
    return ~UInt8((sample < 0 ? 0x80 : 0) | (top - 7) << 4 | step)
  }
}
