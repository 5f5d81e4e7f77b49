/// A tune as a sequence of notes.
public struct Melody: Hashable, Sendable {
  public struct Note: Hashable, Sendable {
    /// MIDI key number: 69 is a' at 440 Hz.
    public var key: Int
    /// In eighths.
    public var eighths: Int
  }

  public var notes: [Note]
  public var eighthsPerMinute: Int

  /// `tune` lists each note as its name and its length in eighths: "C5:2 F#5:1".
  init(eighthsPerMinute: Int, tune: String) {
    self.eighthsPerMinute = eighthsPerMinute
    notes = tune.split(whereSeparator: \.isWhitespace).map { word in
      let parts = word.split(separator: ":")
      return Note(key: Self.key(parts[0]), eighths: Int(parts[1])!)
    }
  }

  private static func key(_ name: Substring) -> Int {
    let steps: [Character: Int] = ["C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11]
    let octave = name.last!.wholeNumberValue!
    return 12 * (octave + 1) + steps[name.first!]! + (name.contains("#") ? 1 : 0)
  }
}

extension Melody {
  /// Johannes Brahms, Wiegenlied, op. 49 no. 4 (1868): the voice, in C major.
  public static let wiegenlied = Melody(
    eighthsPerMinute: 150,
    tune: """
      E5:1 E5:1  G5:3 E5:1 E5:2  G5:4 E5:1 G5:1  C6:2 B5:3 A5:1  A5:2 G5:2 D5:1 E5:1
      F5:2 D5:2 D5:1 E5:1  F5:4 D5:1 F5:1  B5:1 A5:1 G5:2 B5:2  C6:4 C5:1 C5:1
      C6:4 A5:1 F5:1  G5:4 E5:1 C5:1  F5:2 G5:2 A5:2  G5:4 C5:1 C5:1
      C6:4 A5:1 F5:1  G5:4 E5:1 C5:1  F5:2 E5:2 D5:2  C5:4
      """)

  /// "Ah! vous dirai-je, maman" (France, about 1760), known as "Twinkle, twinkle, little star".
  public static let maman = Melody(
    eighthsPerMinute: 176,
    tune: """
      C5:2 C5:2 G5:2 G5:2  A5:2 A5:2 G5:4  F5:2 F5:2 E5:2 E5:2  D5:2 D5:2 C5:4
      G5:2 G5:2 F5:2 F5:2  E5:2 E5:2 D5:4  G5:2 G5:2 F5:2 F5:2  E5:2 E5:2 D5:4
      C5:2 C5:2 G5:2 G5:2  A5:2 A5:2 G5:4  F5:2 F5:2 E5:2 E5:2  D5:2 D5:2 C5:4
      """)
}
