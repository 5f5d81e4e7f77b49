internal import CLAME
public import Frames

/// MPEG-1 Layer III by LAME: 48 kHz mono in frames of 24 ms, each of which can be decoded without those before. Synchronous; used from
/// one thread at a time.
public final class MP3Encoder {
  /// Clear speech and crying at full bandwidth.
  public static let bitrateKbps = 64
  /// ISO/IEC 11172-3 section 2.4.3.1: 144 times the rate over the sample rate, the same for each frame.
  public static let bytesPerFrame = 144 * bitrateKbps * 1000 / AudioFormat.sampleRate
  /// 0 (best) ... 9: at this rate and with one channel the better ones are hard to hear, and take three times as long.
  private static let quality: Int32 = 7

  private let encoder: OpaquePointer

  public init() throws(CodecError) {
    guard let encoder = lame_init() else { throw .setUp("MP3 encoder") }
    self.encoder = encoder
    lame_set_in_samplerate(encoder, Int32(AudioFormat.sampleRate))
    lame_set_out_samplerate(encoder, Int32(AudioFormat.sampleRate))
    lame_set_num_channels(encoder, 1)
    lame_set_mode(encoder, MONO)
    lame_set_brate(encoder, Int32(Self.bitrateKbps))
    lame_set_quality(encoder, Self.quality)
    // Listeners come and go in the middle, and slow ones miss frames.
    lame_set_disable_reservoir(encoder, 1)
    lame_set_bWriteVbrTag(encoder, 0)
    guard lame_init_params(encoder) >= 0 else { throw .setUp("MP3 encoder") }
  }

  deinit {
    lame_close(encoder)
  }

  /// The frames that are complete with this block: none, one or several.
  public func encode(_ block: AudioBlock) throws(CodecError) -> [UInt8] {
    var status: Int32 = 0
    // lame.h: at most 1.25 times the samples and 7200 bytes.
    let capacity = block.samples.count * 5 / 4 + 7200
    let data = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      status = lame_encode_buffer(
        encoder, block.samples, nil, Int32(block.samples.count), buffer.baseAddress!, Int32(buffer.count))
      count = max(0, Int(status))
    }
    guard status >= 0 else { throw .failed("MP3 encoder: \(status)") }
    return data
  }
}
