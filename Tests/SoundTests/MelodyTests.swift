import Sound
import TestSupport
import Testing

@Suite struct MelodyTests {
  private func read(_ source: inout some SoundSource, _ count: Int, piece: Int = 480) -> [Float] {
    var result: [Float] = []
    var samples = [Float](repeating: 0, count: piece)
    while result.count < count {
      let read = source.read(into: &samples)
      result += samples[..<read]
      if read < piece { break }
    }
    return result
  }

  private func level(_ samples: ArraySlice<Float>, hertz: Double) -> Double {
    ToneDetector.level(of: samples.map { Int16($0 * 32767) }, hertz: hertz)
  }

  @Test(arguments: [Melody.wiegenlied, .maman]) func aMusicBoxPlaysItsTuneAndEnds(melody: Melody) throws {
    var box = MusicBox(melody)
    let length = try #require(box.length)
    let beginning = read(&box, 48_000 * 6)
    box.seek(to: length - 48_000 * 6)
    let end = read(&box, .max)
    #expect(end.count == 48_000 * 6)
    let sound = beginning + end
    let peak = sound.map(abs).max() ?? 0
    #expect((0.15..<0.6).contains(peak), "\(peak)")
    #expect(abs(sound[0]) < 1e-6 && end.suffix(480).allSatisfy { abs($0) < 0.003 })
    // No note is struck with a click: the steepest of them is a tone of 1 kHz with its overtones.
    for part in [beginning, end] { #expect(zip(part, part.dropFirst()).allSatisfy { abs($0 - $1) < 0.12 }) }
    var samples = [Float](repeating: 0, count: 480)
    #expect(box.read(into: &samples) == 0)
  }

  @Test func notesHaveTheirPitchAndTheirTime() {
    // C C G G A A G, two notes to the bar's half: 176 eighths a minute.
    var box = MusicBox(.maman)
    let sound = read(&box, 48_000 * 6)
    let quarter = 2 * 48_000 * 60 / 176
    let pitches = [523.25, 523.25, 783.99, 783.99, 880, 880, 783.99]
    for (index, pitch) in pitches.enumerated() {
      let piece = sound[index * quarter + 200..<index * quarter + 9800]
      #expect(level(piece, hertz: pitch) > -28, "note \(index)")
    }
    #expect(level(sound[200..<9800], hertz: 783.99) < -45)
    #expect(Melody.wiegenlied.notes.map(\.eighths).reduce(0, +) == 6 * 16)
    #expect(Melody.maman.notes.map(\.eighths).reduce(0, +) == 96)
  }

  @Test func seekingGoesOnAsIfItHadPlayedUpToThere() {
    var straight = MusicBox(.wiegenlied)
    let sound = read(&straight, 48_000 * 8)
    var other = MusicBox(.wiegenlied)
    for position in [0, 48_001, 250_000, 19_200] {
      other.seek(to: position)
      let piece = read(&other, 4800)
      for index in stride(from: 0, to: 4800, by: 7) {
        guard abs(piece[index] - sound[position + index]) < 2e-3 else {
          return #expect(Bool(false), "\(position) + \(index)")
        }
      }
    }
    other.seek(to: .max)
    #expect(read(&other, 480).isEmpty)
    other.seek(to: -5)
    #expect(!read(&other, 480).isEmpty)
  }

  @Test func theHeartBeatsOnceASecondAndSoftly() {
    var heart = Heartbeat()
    let sound = read(&heart, 48_000 * 3)
    #expect(heart.length == nil)
    #expect(sound[..<48_000] == sound[48_000..<96_000])
    let peak = Double(sound.map(abs).max() ?? 0)
    #expect(abs(Decibels.from(amplitude: peak) + 10) < 1)
    #expect(zip(sound, sound.dropFirst()).allSatisfy { abs($0 - $1) < 0.01 })
    // Lub, dub, and a rest.
    func loudness(_ range: Range<Int>) -> Float { sound[range].map(abs).max() ?? 0 }
    #expect(loudness(0..<9600) > loudness(14_880..<24_000) && loudness(14_880..<24_000) > 0.1)
    #expect(loudness(30_000..<48_000) < 0.01)
    heart.seek(to: 48_000 * 7 + 100)
    #expect(read(&heart, 480).prefix(300) == sound[100..<400])
  }
}
