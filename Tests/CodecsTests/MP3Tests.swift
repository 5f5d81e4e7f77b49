import Codecs
import Frames
import Sound
import Testing
import Wire

@Suite struct MP3Tests {
  /// ISO/IEC 11172-3 section 2.4.1.3: sync word, version 1, layer III, no CRC; 64 kbit/s, 48 kHz, no padding; one channel.
  @Test func framesAreWholeAndAllAlike() throws {
    var generator = ToneGenerator()
    let encoder = try MP3Encoder()
    var bytes: [UInt8] = []
    for index in 0..<100 {
      let frames = try encoder.encode(
        generator.makeBlock(
          captureTime: Instant(nanoseconds: Int64(index) * 20_000_000), samplePosition: UInt64(index * 960),
          unixNanoseconds: Int64(index) * 20_000_000))
      #expect(frames.count.isMultiple(of: MP3Encoder.bytesPerFrame))
      bytes += frames
    }
    #expect(MP3Encoder.bytesPerFrame == 192)
    // Two seconds in frames of 24 ms, of which LAME keeps two or three.
    #expect((79...83).contains(bytes.count / 192))
    for start in stride(from: 0, to: bytes.count, by: 192) {
      #expect(bytes[start...].starts(with: [0xff, 0xfb, 0x54]) && bytes[start + 3] & 0xc0 == 0xc0)
      // No bytes of earlier frames (main_data_begin, nine bits).
      #expect(bytes[start + 4] == 0 && bytes[start + 5] & 0x80 == 0)
    }
  }
}
