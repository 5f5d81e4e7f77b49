/// The weaker proof, for a child without a speaker: what arrives is the noise of a room, as loud as the child's microphone
/// hears it, and not zeros or one buffer over and over.
public struct NoiseFloor: Sendable {
  /// What both ends measure.
  public struct Figures: Hashable, Sendable {
    /// RMS, dB relative to full scale as in the child's own level; -100 for zeros.
    public var levelDb: Double
    /// Whether there is sound at all, and no stretch of 100 ms is like the one before.
    public var isAlive: Bool

    public init(levelDb: Double, isAlive: Bool) {
      self.levelDb = levelDb
      self.isAlive = isAlive
    }
  }

  /// Opus keeps the level of noise within a few dB; a room's changes while it is measured.
  private static let tolerance = 10.0
  /// 100 ms at 48 kHz.
  private static let stretch = 4800

  private var energies: [Double] = []
  private var energy = 0.0
  private var count = 0

  public init() {}

  /// The next samples, 48 kHz; those of the last minute count.
  public mutating func add(_ samples: some Sequence<Int16>) {
    for sample in samples {
      energy += Double(sample) * Double(sample)
      count += 1
      guard count == Self.stretch else { continue }
      if energies.count == 600 { energies.removeFirst() }
      energies.append(energy)
      (energy, count) = (0, 0)
    }
  }

  /// Nil before a second has been heard. `decibels` is 10 log10 of a power, full scale being 1.
  public func figures(decibels: (Double) -> Double) -> Figures? {
    guard energies.count >= 10 else { return nil }
    let mean = energies.reduce(0, +) / Double(energies.count * Self.stretch)
    let repeated = zip(energies, energies.dropFirst()).contains { $0 == $1 }
    let power = mean / (32768 * 32768)
    return Figures(levelDb: power > 0 ? decibels(power) : -100, isAlive: power > 0 && !repeated)
  }

  /// Whether a parent hears the room that the child hears.
  public static func isSameRoom(_ child: Figures, _ parent: Figures) -> Bool {
    child.isAlive && parent.isAlive && abs(child.levelDb - parent.levelDb) <= tolerance
  }
}
