internal import Frames

/// Opens a loudspeaker when it becomes loud and closes it when it has been quiet for a while. Pure: time is counted in
/// samples.
///
/// The last seconds before it opens are kept and played first, so that a cry is heard whole. Quiet parts of them are
/// played four times as fast, until nothing is left to catch up with.
public struct VoxGate: Sendable {
  /// What is kept.
  public static let kept = 3 * AudioFormat.sampleRate
  /// It closes after so much below the level.
  public static let closingTime = 5 * AudioFormat.sampleRate

  private struct Block: Sendable {
    var samples: [Int16]
    var isQuiet: Bool
  }

  /// dB below full scale.
  public let threshold: Double
  public private(set) var isOpen = false
  private var waiting: [Block] = []
  private var waitingSamples = 0
  private var meter = LevelMeter()
  /// Samples since it was loud.
  private var quietFor = 0
  private var last: Int16 = 0

  private static let seam = 120
  private static let haste = 4

  public init(threshold: Double) {
    self.threshold = threshold
  }

  /// Takes what was received and returns what is to be played now: about as much, silence while it is closed.
  public mutating func pass(_ samples: [Int16]) -> [Int16] {
    guard !samples.isEmpty else { return [] }
    waiting.append(Block(samples: samples, isQuiet: Self.level(samples) < threshold))
    waitingSamples += samples.count
    quietFor += samples.count
    if let level = meter.add(samples), level.rms >= threshold {
      quietFor = 0
      isOpen = true
    }
    guard isOpen else {
      while waitingSamples > Self.kept { drop() }
      return [Int16](repeating: 0, count: samples.count)
    }
    if quietFor >= Self.closingTime { return close(samples.count) }
    return play()
  }

  /// RMS, as `LevelMeter` has it.
  private static func level(_ samples: [Int16]) -> Double {
    let sum = samples.reduce(into: UInt64(0)) { $0 += UInt64($1.magnitude) * UInt64($1.magnitude) }
    return Decibels.from(amplitude: (2 * Double(sum) / Double(samples.count)).squareRoot() / 32768)
  }

  private mutating func drop() {
    guard !waiting.isEmpty else { return }
    waitingSamples -= waiting.removeFirst().samples.count
  }

  private mutating func play() -> [Int16] {
    var dropped = 0
    while dropped < Self.haste - 1, waiting.count > 1, waiting[0].isQuiet, waiting[1].isQuiet {
      drop()
      dropped += 1
    }
    guard let block = waiting.first else { return [] }
    drop()
    var samples = block.samples
    if dropped > 0 || last == 0 {
      for index in 0..<min(Self.seam, samples.count) {
        samples[index] = Crossfade.mix(last, samples[index], step: index, of: Self.seam)
      }
    }
    last = samples.last ?? 0
    return samples
  }

  private mutating func close(_ count: Int) -> [Int16] {
    isOpen = false
    var samples = play()
    Crossfade.fadeOut(&samples, 0..<samples.count)
    last = 0
    return samples.isEmpty ? [Int16](repeating: 0, count: count) : samples
  }
}
