import Frames
import Glibc
import Sound
import TestSupport
import Testing

/// One after the other, because one of them looks whether the library is loaded.
@Suite(.serialized) struct SoundFileTests {
  private typealias Format = SoundFileWriter.Format
  private let folder = SoundFolder()

  private func file(_ format: Format, rate: Int = 44_100, channels: Int = 2, seconds: Double = 1) throws -> String {
    // Opus knows a few rates only.
    let rate = format == .opus ? 48_000 : rate
    let path = "\(folder.path)/tone.\(format.rawValue)"
    let tone = SoundFileWriter.tone(hertz: 500, seconds: seconds, sampleRate: rate, channels: channels)
    try SoundFileWriter.write(tone, to: path, format, sampleRate: rate, channels: channels)
    return path
  }

  /// All there is, but no more than ten seconds of it.
  private func read(_ file: SoundFile, piece: Int = 4800) -> [Float] {
    var result: [Float] = []
    var samples = [Float](repeating: 0, count: piece)
    while result.count < 480_000 {
      let count = file.read(into: &samples)
      result += samples[..<count]
      if count < piece { break }
    }
    return result
  }

  private func level(_ samples: some Sequence<Float>, hertz: Double) -> Double {
    ToneDetector.level(of: samples.map { Int16(max(-1, min(1, $0)) * 32767) }, hertz: hertz)
  }

  private func error(_ path: String) -> SoundFileError? {
    do throws(SoundFileError) {
      _ = try SoundFile(path: path)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: SoundFileWriter.Format.allCases) func everyFormatIsPlayed(format: SoundFileWriter.Format) throws {
    let sound = try SoundFile(path: file(format))
    let length = try #require(sound.length)
    // MP3 has frames of 26 ms, and silence around what it was made of.
    #expect(abs(length - 48_000) < 2600, "\(length)")
    let samples = read(sound)
    #expect(abs(samples.count - length) < 100, "\(samples.count)")
    // Half of it in mono: -12 dB on one side of two is -18.
    let middle = level(samples[9600..<38_400], hertz: 500)
    #expect(abs(middle + 18) < 1, "\(middle) dB")
    #expect(level(samples[9600..<38_400], hertz: 700) < -50)
    var more = [Float](repeating: 0, count: 480)
    #expect(sound.read(into: &more) == 0)
  }

  @Test(arguments: [8000, 22_050, 48_000, 96_000]) func everyRateBecomesOurs(rate: Int) throws {
    let samples = read(try SoundFile(path: file(.wav, rate: rate, channels: 1)), piece: 480)
    #expect(abs(samples.count - 48_000) < 50)
    #expect(abs(level(samples[4800..<43_200], hertz: 500) + 12) < 0.2)
    // The resampler's run-in is left out: the sound begins with the file.
    #expect(level(samples[480..<960], hertz: 500) > -14)
  }

  @Test(arguments: SoundFileWriter.Format.allCases) func seekingGoesToThePlace(format: SoundFileWriter.Format) throws {
    let path = "\(folder.path)/two.\(format.rawValue)"
    let rate = format == .opus ? 48_000 : 44_100
    let tones = [500.0, 1000].flatMap {
      SoundFileWriter.tone(hertz: $0, seconds: 1, sampleRate: rate, channels: 1)
    }
    try SoundFileWriter.write(tones, to: path, format, sampleRate: rate)
    let sound = try SoundFile(path: path)
    var samples = [Float](repeating: 0, count: 9600)
    for (position, hertz) in [(60_000, 1000.0), (12_000, 500), (72_000, 1000), (0, 500)] {
      sound.seek(to: position)
      #expect(sound.read(into: &samples) == 9600)
      #expect(level(samples.suffix(4800), hertz: hertz) > -14, "\(position)")
    }
    sound.seek(to: .max)
    #expect(sound.read(into: &samples) < 9600)
    sound.seek(to: -1)
    #expect(sound.read(into: &samples) == 9600)
  }

  @Test func whatCannotBePlayedSaysWhy() {
    #expect(error("/nonexistent/a.wav") == .notFound)
    #expect(error(folder.path) == .notARegularFile)
    mkfifo("\(folder.path)/pipe", 0o600)
    #expect(error("\(folder.path)/pipe") == .notARegularFile)
    folder.write([], to: "empty.wav")
    #expect(error("\(folder.path)/empty.wav") == .unknownFormat)
    folder.write(Array("#!/bin/sh\nexit\n".utf8), to: "text.mp3")
    #expect(error("\(folder.path)/text.mp3") == .unknownFormat)
    folder.write(Array("RIFF\u{10}\u{0}\u{0}\u{0}WAVEjunk".utf8), to: "cut.wav")
    #expect(error("\(folder.path)/cut.wav") == .damaged)
    // In our words, whatever the library says.
    folder.write(Array("fLaC".utf8) + [UInt8](repeating: 0x5A, count: 400), to: "damaged.flac")
    let damaged = error("\(folder.path)/damaged.flac")
    #expect(damaged == .damaged && damaged?.description.hasPrefix("damaged or incomplete") == true)
    truncate("\(folder.path)/text.mp3", 3 << 30)
    #expect(error("\(folder.path)/text.mp3") == .tooLarge)
  }

  @Test(arguments: SoundFileWriter.Format.allCases) func aFileThatEndsEarlyEnds(format: SoundFileWriter.Format) throws {
    let path = try file(format)
    let whole = folder.bytes(of: "tone.\(format.rawValue)")
    for share in [2, 3, 10] {
      truncate(path, off_t(whole.count / share))
      guard error(path) == nil else { continue }
      #expect(read(try SoundFile(path: path)).count < 48_000 * 3 / 4)
    }
  }

  @Test(arguments: SoundFileWriter.Format.allCases) func damagedFilesEndOrAreRefused(
    format: SoundFileWriter.Format
  ) throws {
    _ = try file(format, seconds: 0.2)
    let whole = folder.bytes(of: "tone.\(format.rawValue)")
    var random = SeededGenerator(seed: 4)
    for _ in 0..<40 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        // Mostly in the header, where the lengths are.
        let range = Bool.random(using: &random) ? 0..<min(200, bytes.count) : bytes.indices
        bytes[Int.random(in: range, using: &random)] = UInt8.random(in: 0 ... .max, using: &random)
      }
      folder.write(bytes, to: "damaged")
      guard error("\(folder.path)/damaged") == nil else { continue }
      let sound = try SoundFile(path: "\(folder.path)/damaged")
      #expect(read(sound).allSatisfy { abs($0) < 8 })
      sound.seek(to: 100)
      #expect(read(sound).count <= 480_000)
    }
  }

  @Test func samplesThatAreNoNumbersAreSilence() throws {
    let path = "\(folder.path)/nan.wav"
    try SoundFileWriter.write([.nan, .infinity, -.infinity, 1e30, 0.5], to: path, .wav, sampleRate: 48_000)
    #expect(read(try SoundFile(path: path)) == [0, 0, 0, 1, 0.5])
  }

  @Test func theLibraryIsThereOnlyWhileAFileIsOpen() throws {
    func isLoaded() -> Bool {
      let file = fopen("/proc/self/maps", "re")!
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 4096)
      while fgets(&line, 4096, file) != nil {
        if String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).contains("sndfile") {
          return true
        }
      }
      return false
    }
    let path = try file(.flac)
    #expect(!isLoaded())
    var sound: SoundFile? = try SoundFile(path: path)
    #expect(isLoaded() && sound?.length == 48_000)
    sound = nil
    #expect(!isLoaded())
  }
}
