import Frames
import Testing

@testable import Devices

struct WAVTests {
  private func reader(_ bytes: [UInt8]) throws(DeviceError) -> WAVReader {
    try WAVReader(ByteArray(bytes: bytes), name: "clip.wav")
  }

  private func problem(_ bytes: [UInt8]) -> String? {
    do throws(DeviceError) {
      _ = try reader(bytes)
      return nil
    } catch {
      return error.summary
    }
  }

  @Test func samplesOfTheSameRatePassUnchanged() throws {
    let samples = (0..<960).map { Int16($0 * 30 - 14400) }
    var reader = try reader(MediaBytes.wav(samples: samples))
    #expect(try reader.nextBlock() == samples)
  }

  @Test func soundRepeatsWithoutAGap() throws {
    let samples = (0..<700).map { Int16($0) }
    var reader = try reader(MediaBytes.wav(samples: samples))
    let sound = try reader.nextBlock() + reader.nextBlock() + reader.nextBlock()
    #expect(sound == (0..<2880).map { Int16($0 % 700) })
  }

  @Test func aFileLongerThanTheWindowIsReadThrough() throws {
    let samples = (0..<10_000).map { Int16(truncatingIfNeeded: $0 * 3) }
    var reader = try reader(MediaBytes.wav(samples: samples))
    var sound: [Int16] = []
    for _ in 0..<12 { sound += try reader.nextBlock() }
    #expect(sound == (0..<11_520).map { samples[$0 % 10_000] })
  }

  @Test func stereoIsAveraged() throws {
    let samples = (0..<960).flatMap { _ in [Int16(1000), Int16(-400)] } + [Int16.max, Int16.max]
    var reader = try reader(MediaBytes.wav(channels: 2, samples: samples))
    #expect(try reader.nextBlock().allSatisfy { $0 == 300 })
    #expect(try reader.nextBlock()[0] == .max)
  }

  @Test func lowerRatesAreInterpolated() throws {
    var slow = try reader(MediaBytes.wav(rate: 8000, samples: [0, 600, 1200, 1800]))
    #expect(
      try slow.nextBlock().prefix(19) == [
        0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700, 1800,
      ])
    // 441 frames of 44.1 kHz are 10 ms.
    let ramp = (0..<441).map { Int16($0 * 10) }
    var cd = try reader(MediaBytes.wav(rate: 44100, samples: ramp))
    let sound = try cd.nextBlock()
    #expect(sound[0] == 0 && sound[480] == 0)
    #expect(abs(Int(sound[240]) - 2205) <= 1)
  }

  @Test func fullScaleDoesNotOverflow() throws {
    var reader = try reader(MediaBytes.wav(rate: 22050, samples: [.max, .min, .max, .min]))
    for _ in 0..<10 { #expect(try reader.nextBlock().count == 960) }
  }

  @Test func otherChunksAreSkippedAndPaddingIsMinded() throws {
    let wav = MediaBytes.wav(samples: [5, 6])
    let bytes = Array(wav.prefix(12)) + MediaBytes.chunk("LIST", [1, 2, 3]) + Array(wav.dropFirst(12))
    #expect(try reader(bytes).header.frameCount == 2)
  }

  @Test func sizesOfAStreamedFileMeanAllThatIsThere() throws {
    var bytes = MediaBytes.wav(samples: [1, 2, 3, 4])
    for value: UInt32 in [0, .max] {
      bytes.replaceSubrange(40..<44, with: MediaBytes.little32(value))
      #expect(try reader(bytes).header.frameCount == 4)
    }
  }

  @Test func extensibleFormatsAreRead() throws {
    var bytes = MediaBytes.wav(samples: [7, 8])
    let format = Array(bytes[20..<36])
    let extended =
      MediaBytes.little16(0xfffe) + format.dropFirst(2) + MediaBytes.little16(22) + [16, 0, 4, 0, 0, 0, 1, 0]
      + [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
    bytes = Array(bytes.prefix(12)) + MediaBytes.chunk("fmt ", extended) + Array(bytes.dropFirst(36))
    #expect(try reader(bytes).header.sampleRate == 48000)
  }

  @Test func aBadFileIsRefusedWithItsReason() {
    let good = MediaBytes.wav(samples: [1, 2, 3])
    #expect(problem([])?.contains("not a WAV file") == true)
    #expect(problem(Array(good.prefix(11)))?.contains("not a WAV file") == true)
    #expect(problem(Array(good.prefix(12)))?.contains("no fmt") == true)
    #expect(problem(Array(good.prefix(36)))?.contains("no data") == true)
    #expect(problem(Array(good.prefix(44)))?.contains("no sound") == true)
    #expect(problem(MediaBytes.wav(bits: 24, samples: [1]))?.contains("16-bit") == true)
    #expect(problem(MediaBytes.wav(channels: 6, samples: [1, 2, 3, 4, 5, 6]))?.contains("6 channels") == true)
    #expect(problem(MediaBytes.wav(rate: 96000, samples: [1]))?.contains("96000") == true)
    #expect(problem(MediaBytes.wav(rate: 0, samples: [1]))?.contains("rate") == true)
    let head = Array(good.prefix(12))
    #expect(problem(head + MediaBytes.chunk("data", [1, 2]))?.contains("before their format") == true)
    #expect(problem(head + MediaBytes.chunk("fmt ", [1, 0, 1, 0]))?.contains("too short") == true)
  }
}
