internal import Synchronization
internal import Wire

/// Buffers sound for a speaker from a producer on another clock: a peer or a file.
///
/// The ring keeps a small stock against jitter. A sound card is up to a few 100 ppm faster or slower than the producer,
/// so the stock grows or shrinks. A producer that reads the excess compensates for that; if none does, or far too much
/// is queued, the ring plays slightly faster or slower, by one to ten samples every 10 ms. Bounded: the oldest samples
/// are dropped when nobody reads. All calls are short and may come from any thread.
public final class PlaybackRing: Sendable {
  /// Counters so far; samples at 48 kHz.
  public struct Statistics: Hashable, Sendable {
    /// Samples queued now.
    public var level = 0
    /// How often the speaker ran out of samples; the end of a talk counts as one.
    public var underruns = 0
    /// Samples of silence played in place of sound, not counting the time before the first sound.
    public var silentSamples = 0
    /// How often sound was discarded because too much was queued, and how many samples.
    public var overruns = 0
    public var lostSamples = 0
    /// Dropped and repeated to follow the producer's clock.
    public var droppedSamples = 0
    public var repeatedSamples = 0
  }

  private let stock: Mutex<PlaybackStock>

  /// `target` is the minimum to keep queued, 5...200 ms: as much as the producer's blocks may be late. At `patience`
  /// above that, 50...1000 ms, the ring jumps to its newest sound.
  public init(target: Duration = .milliseconds(20), patience: Duration = .milliseconds(200)) {
    let target = min(.milliseconds(200), max(.milliseconds(5), target))
    let patience = min(.seconds(1), max(.milliseconds(50), patience))
    stock = Mutex(
      PlaybackStock(target: Int(target.inMilliseconds * 48), patience: Int(patience.inMilliseconds * 48)))
  }

  /// Producer side: any number of samples.
  public func write(_ samples: [Int16]) {
    stock.withLock { $0.write(samples) }
  }

  /// Speaker side: fills the whole array, with silence where there is no sound.
  public func read(into samples: inout [Int16]) {
    stock.withLock { $0.read(into: &samples) }
  }

  /// For `Speakers.open`: plays the ring.
  public var pull: PlaybackPull {
    { [self] (samples, _) in read(into: &samples) }
  }

  /// Discards what is queued; the next sound builds up a new stock.
  public func clear() {
    stock.withLock { $0.clear() }
  }

  /// How far the ring's minimum level was above the target in the last second of playback, in samples; negative if
  /// below. Once per second, for a producer that adjusts its rate by that.
  public func takeExcess() -> Int? {
    stock.withLock { $0.takeExcess() }
  }

  public var statistics: Statistics {
    stock.withLock { $0.statistics }
  }
}
