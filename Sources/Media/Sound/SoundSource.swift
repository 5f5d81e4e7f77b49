/// Sound that is asked for piece by piece: 48 kHz, mono, full scale at 1.0. A file, or made by the program.
public protocol SoundSource {
  /// Samples from the beginning to the end; nil for what never ends, and for files that do not say.
  var length: Int? { get }

  /// Fills the array from the front with what comes next. Returns how many samples that were: fewer than the array has
  /// at the end only, and 0 from then on.
  mutating func read(into samples: inout [Float]) -> Int

  /// Goes on at a sample counted from the beginning; what lies beyond the end is the end.
  mutating func seek(to position: Int)
}
