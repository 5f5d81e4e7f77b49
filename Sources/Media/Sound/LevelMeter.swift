import Frames

/// Measures the loudness of a stream over 200 ms: five values a second.
public struct LevelMeter: Sendable {
  public struct Level: Hashable, Sendable {
    /// dBFS according to AES17: a full-scale sine is 0.
    public var rms: Double
    /// dBFS of the largest sample.
    public var peak: Double
  }

  /// Samples per value.
  public static let window = AudioFormat.sampleRate / 5

  /// The level of the last full window; silence before the first.
  public private(set) var level = Level(rms: Decibels.silence, peak: Decibels.silence)
  private var sumOfSquares: UInt64 = 0
  private var largest: UInt16 = 0
  private var count = 0

  public init() {}

  /// Adds any number of samples; returns the newest level if a window was completed.
  @discardableResult
  public mutating func add(_ samples: [Int16]) -> Level? {
    var completed: Level?
    for sample in samples {
      let magnitude = sample.magnitude
      sumOfSquares &+= UInt64(magnitude) &* UInt64(magnitude)
      largest = max(largest, magnitude)
      count += 1
      if count == Self.window { completed = finish() }
    }
    return completed
  }

  private mutating func finish() -> Level {
    let meanSquare = Double(sumOfSquares) / Double(count)
    level = Level(
      rms: Decibels.from(amplitude: (2 * meanSquare).squareRoot() / 32768),
      peak: Decibels.from(amplitude: Double(largest) / 32768))
    sumOfSquares = 0
    largest = 0
    count = 0
    return level
  }
}
