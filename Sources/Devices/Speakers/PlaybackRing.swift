internal import Synchronization
internal import Wire

/// Sound on its way to a speaker, from a producer that runs by another clock: a peer's, a file's.
///
/// The ring keeps a small stock against jitter. A sound card is up to some 100 ppm faster or slower than its producer,
/// so the stock grows or shrinks. A producer that asks for the excess makes up for that; where none does, or where much
/// too much waits, the ring plays a little faster or slower, one to ten samples in each 10 ms. Bounded: the oldest sound
/// goes when nobody takes it. All calls are short and may come from any thread.
public final class PlaybackRing: Sendable {
  /// What has happened so far; samples are of 48 kHz.
  public struct Statistics: Hashable, Sendable {
    /// What waits now.
    public var level = 0
    /// How often the producer had nothing for the speaker; the end of a talk counts as one.
    public var underruns = 0
    /// How much silence was played in place of sound, the time before the first sound aside.
    public var silentSamples = 0
    /// How often sound had to be thrown away because there was too much, and how much that was.
    public var overruns = 0
    public var lostSamples = 0
    /// Left out and put in to follow the producer's clock.
    public var droppedSamples = 0
    public var repeatedSamples = 0
  }

  private let stock: Mutex<PlaybackStock>

  /// `target` is what should wait at the least, 5...200 ms: as much as the producer's blocks may be late. With `patience`
  /// more than that, 50...1000 ms, the ring goes over to its newest sound.
  public init(target: Duration = .milliseconds(20), patience: Duration = .milliseconds(200)) {
    let target = min(.milliseconds(200), max(.milliseconds(5), target))
    let patience = min(.seconds(1), max(.milliseconds(50), patience))
    stock = Mutex(
      PlaybackStock(target: Int(target.inMilliseconds * 48), patience: Int(patience.inMilliseconds * 48)))
  }

  /// The producer's side: any number of samples.
  public func write(_ samples: [Int16]) {
    stock.withLock { $0.write(samples) }
  }

  /// The speaker's side: fills the whole array, with silence where there is no sound.
  public func read(into samples: inout [Int16]) {
    stock.withLock { $0.read(into: &samples) }
  }

  /// For `Speakers.open`: plays the ring.
  public var pull: PlaybackPull {
    { [self] (samples, _) in read(into: &samples) }
  }

  /// Lets go what waits; the next sound begins with a stock of its own.
  public func clear() {
    stock.withLock { $0.clear() }
  }

  /// How many samples more than it should the ring had at its lowest in the last second of playing; less than zero: too
  /// few. Once for each second, for a producer that runs faster or slower by that.
  public func takeExcess() -> Int? {
    stock.withLock { $0.takeExcess() }
  }

  public var statistics: Statistics {
    stock.withLock { $0.statistics }
  }
}
