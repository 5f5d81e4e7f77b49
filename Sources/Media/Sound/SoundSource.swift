/// A source of sound, read in pieces: 48 kHz, mono, full scale at 1.0. A file, or generated.
public protocol SoundSource {
  /// Total length in samples; nil if it never ends, and for files that do not say.
  var length: Int? { get }

  /// Fills the array from the front with the next samples. Returns how many: fewer than the array holds only at the
  /// end, and 0 from then on.
  mutating func read(into samples: inout [Float]) -> Int

  /// Continues at a sample counted from the beginning; a position beyond the end is the end.
  mutating func seek(to position: Int)
}
