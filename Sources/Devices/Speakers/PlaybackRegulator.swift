/// Decides how many samples to drop or repeat per block so that a ring's fill level (its stock) stays near its target.
///
/// The stock rises and falls with every block of the producer. Its minimum over a second counts: that much was never
/// needed. The regulator handles what the producer cannot: speech queued while the speaker was busy, or a stall. Clock
/// drift is left to the producer, which gets the excess.
struct PlaybackRegulator: Sendable {
  let target: Int
  /// The ring jumps to its newest sound when it is this far above the target.
  private let patience: Int
  private var lowest = Int.max
  private var readsInWindow = 0
  /// Samples per block; kept until the stock is at its target.
  private var step = 0
  /// How far the minimum stock of the last full second was above the target, in samples.
  private(set) var excess: Int?

  /// One second of 10 ms blocks.
  private static let window = 100
  /// 1 in 480 samples shifts the pitch by a thirtieth of a semitone; 4 are used where that would take half a minute.
  private static let smallStep = 1
  private static let largeStep = 4
  private static let largeExcess = 1920
  /// Reached only with a large `patience`: for speech queued while the speaker was busy. A third of a semitone.
  private static let hugeStep = 10
  private static let hugeExcess = 9600
  /// The producer's blocks: 20 ms.
  private static let producerBlock = 960

  init(target: Int, patience: Int) {
    self.target = target
    self.patience = patience
  }

  /// Below half the target is too little, above one and a half times too much, but 5 ms either way are ignored.
  private var tolerance: Int { max(240, target / 2) }

  /// The ring jumps to its newest sound beyond this.
  var maximumLevel: Int { target + patience }
  /// The ring's size: half a second more.
  var capacity: Int { maximumLevel + 24_000 }

  /// The level at which playback starts: the target is left just before the producer's next block arrives.
  func startLevel(reading count: Int) -> Int { target + max(Self.producerBlock, count) }

  mutating func restart() {
    (lowest, readsInWindow, step, excess) = (Int.max, 0, 0, nil)
  }

  /// Returns `excess` once.
  mutating func takeExcess() -> Int? { excess.take() }

  /// For the next block of `count` samples at fill level `level`: positive to drop, negative to repeat.
  mutating func step(level: Int, reading count: Int) -> Int {
    lowest = min(lowest, level - count)
    readsInWindow += 1
    if readsInWindow == Self.window {
      decide()
      (lowest, readsInWindow) = (Int.max, 0)
    }
    return step
  }

  private mutating func decide() {
    let excess = lowest - target
    self.excess = excess
    switch excess {
    case _ where excess > Self.hugeExcess: step = Self.hugeStep
    case _ where abs(excess) > Self.largeExcess: step = Self.largeStep * excess.signum()
    case _ where abs(excess) > tolerance: step = Self.smallStep * excess.signum()
    // Continues until the target is reached.
    default: step = step.signum() == excess.signum() && abs(excess) > tolerance / 4 ? step.signum() : 0
    }
  }
}
