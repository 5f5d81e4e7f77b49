internal import Wire

/// Measures how many frames a second a sound card really delivers. Some webcams' microphones take 48 kHz and deliver 16 or 32.
///
/// Fed after each read. A card that stalls is not one that is slow: only parts of a second
/// that agree with each other count.
struct RateMeter: Sendable {
  enum Verdict: Hashable, Sendable {
    /// Not enough is known yet.
    case measuring
    /// It delivers so many frames a second, evenly.
    case steady(Double)
    /// It delivers too few or too many for seconds, unevenly.
    case uneven(Double)
  }

  private(set) var verdict = Verdict.measuring
  private let nominal: Double
  private var began: Instant?
  private var frames = 0
  /// The latest parts: frames and seconds.
  private var parts: [(frames: Double, seconds: Double)] = []

  private static let part: Duration = .milliseconds(800)
  /// So many parts in a row have to agree; so many have to be wrong where none do: one stall is not enough.
  private static let enough = 4
  private static let agreement = 0.08
  /// So many parts that do not agree are looked at together.
  private static let most = 10
  /// Their share of what is due.
  private static let tolerable = 0.75...1.3

  init(nominal: Int) {
    self.nominal = Double(nominal)
  }

  /// Frames were lost: what was begun says nothing.
  mutating func restart() {
    began = nil
    frames = 0
    parts = []
  }

  /// So many frames have been read.
  mutating func add(frames count: Int, now: Instant) {
    guard let began else { return self.began = now }
    frames += count
    let time = now - began
    guard time >= Self.part else { return }
    parts.append((Double(frames), time.inSeconds))
    if parts.count > Self.most { parts.removeFirst() }
    self.began = now
    frames = 0
    judge()
  }

  private mutating func judge() {
    let last = parts.suffix(Self.enough)
    if last.count == Self.enough {
      let rates = last.map { $0.frames / $0.seconds }
      let mean = last.reduce(0) { $0 + $1.frames } / last.reduce(0) { $0 + $1.seconds }
      if mean > 0, rates.allSatisfy({ abs($0 - mean) <= Self.agreement * mean }) {
        verdict = .steady(mean)
        return
      }
    }
    guard parts.count == Self.most else { return }
    let mean = parts.reduce(0) { $0 + $1.frames } / parts.reduce(0) { $0 + $1.seconds }
    let wrong = parts.count { !Self.tolerable.contains($0.frames / $0.seconds / nominal) }
    if wrong >= Self.enough, !Self.tolerable.contains(mean / nominal) { verdict = .uneven(mean) }
  }
}
