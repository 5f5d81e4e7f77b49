/// Decides how many samples more or fewer than it plays a ring takes, so that its stock stays where it should.
///
/// The stock goes up and down with every block of the producer's. What counts is its lowest point over a second: that
/// much was never needed. It acts on what the producer cannot: words that waited for the speaker, a stall. The clocks' own
/// difference the producer makes up for, who is told of the deviation.
struct PlaybackRegulator: Sendable {
  let target: Int
  /// The ring jumps to its newest sound when it has so much too much.
  private let patience: Int
  private var lowest = Int.max
  private var readsInWindow = 0
  /// Samples per block; goes on until the stock is at its target.
  private var step = 0
  /// How far the lowest stock of the last whole second was above the target, in samples.
  private(set) var excess: Int?

  /// One second of 10 ms.
  private static let window = 100
  /// 1 in 480 samples is a shift of a thirtieth of a semitone; 4 are used for what would take half a minute otherwise.
  private static let smallStep = 1
  private static let largeStep = 4
  private static let largeExcess = 1920
  /// Only an owner that is so patient gets there. A third of a semitone, for words that waited for the speaker.
  private static let hugeStep = 10
  private static let hugeExcess = 9600
  /// The producer's blocks: 20 ms.
  private static let producerBlock = 960

  init(target: Int, patience: Int) {
    self.target = target
    self.patience = patience
  }

  /// Half of it is too little, one and a half times is too much, but 5 ms either way are nothing.
  private var tolerance: Int { max(240, target / 2) }

  /// The ring jumps to its newest sound beyond this.
  var maximumLevel: Int { target + patience }
  /// What a ring holds at all: half a second more.
  var capacity: Int { maximumLevel + 24_000 }

  /// With that much playing begins: the target is left when the producer's next block is just about to come.
  func startLevel(reading count: Int) -> Int { target + max(Self.producerBlock, count) }

  mutating func restart() {
    (lowest, readsInWindow, step, excess) = (Int.max, 0, 0, nil)
  }

  /// Gives `excess` once.
  mutating func takeExcess() -> Int? { excess.take() }

  /// For the next block of `count` samples, with `level` there: positive to drop, negative to repeat.
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
    // Goes on until the target is reached.
    default: step = step.signum() == excess.signum() && abs(excess) > tolerance / 4 ? step.signum() : 0
    }
  }
}
