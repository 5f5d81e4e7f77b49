public import Wire

/// Token buckets by key, to limit how fast attempts may come. A bucket is stored as the time at which it will be full
/// again (the generic cell rate algorithm), so it needs no timer. At `maximumKeys` the key nearest to full is forgotten.
public struct RateLimiter<Key: Hashable & Sendable>: Sendable {
  public enum Verdict: Hashable, Sendable {
    case admitted
    /// The bucket is empty; the next token comes after this time.
    case refused(retryAfter: Duration)
  }

  /// Attempts that may come at once.
  public let burst: Int
  /// The time for one token.
  public let interval: Duration
  public let maximumKeys: Int
  private var fullAgain: [Key: Instant] = [:]

  public init(burst: Int, interval: Duration, maximumKeys: Int = 1024) {
    precondition(burst > 0 && interval > .zero && maximumKeys > 0, "a limit lets something through")
    self.burst = burst
    self.interval = interval
    self.maximumKeys = maximumKeys
  }

  /// Takes a token for `key`, if there is one.
  public mutating func admit(_ key: Key, now: Instant) -> Verdict {
    let next = max(fullAgain[key] ?? now, now) + interval
    let wait = next - now - interval * burst
    guard wait <= .zero else { return .refused(retryAfter: wait) }
    if fullAgain[key] == nil { makeRoom(now: now) }
    fullAgain[key] = next
    return .admitted
  }

  /// Refills the bucket of `key`, as after a success.
  public mutating func forgive(_ key: Key) {
    fullAgain[key] = nil
  }

  /// Remembered keys.
  public var count: Int { fullAgain.count }

  private mutating func makeRoom(now: Instant) {
    guard fullAgain.count >= maximumKeys else { return }
    fullAgain = fullAgain.filter { $0.value > now }
    guard fullAgain.count >= maximumKeys, let nearest = fullAgain.min(by: { $0.value < $1.value }) else { return }
    fullAgain[nearest.key] = nil
  }
}
