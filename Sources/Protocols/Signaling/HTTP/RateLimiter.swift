public import Wire

/// A token bucket, to limit how fast attempts may come: stored as the time at which it will be full again (the generic cell
/// rate algorithm), so it needs no timer.
public struct TokenBucket: Sendable {
  public enum Verdict: Hashable, Sendable {
    case admitted
    /// The bucket is empty; the next token comes after this time.
    case refused(retryAfter: Duration)

    /// Nil when it was admitted.
    public var wait: Duration? {
      if case .refused(let retryAfter) = self { retryAfter } else { nil }
    }
  }

  /// Attempts that may come at once.
  public let burst: Int
  /// The time for one token.
  public let interval: Duration
  /// Nil while it is full.
  fileprivate var fullAgain: Instant?

  public init(burst: Int, interval: Duration) {
    precondition(burst > 0 && interval > .zero, "a limit lets something through")
    self.burst = burst
    self.interval = interval
  }

  /// Takes a token, if there is one.
  public mutating func admit(now: Instant) -> Verdict {
    let next = max(fullAgain ?? now, now) + interval
    let wait = next - now - interval * burst
    guard wait <= .zero else { return .refused(retryAfter: wait) }
    fullAgain = next
    return .admitted
  }
}

/// Token buckets by key. At `maximumKeys` the key nearest to full is forgotten.
public struct RateLimiter<Key: Hashable & Sendable>: Sendable {
  public typealias Verdict = TokenBucket.Verdict

  private let full: TokenBucket
  public let maximumKeys: Int
  private var fullAgain: [Key: Instant] = [:]

  /// - Parameters:
  ///   - burst: attempts of one key that may come at once.
  ///   - interval: the time for one more.
  public init(burst: Int, interval: Duration, maximumKeys: Int = 1024) {
    precondition(maximumKeys > 0, "a limit lets something through")
    full = TokenBucket(burst: burst, interval: interval)
    self.maximumKeys = maximumKeys
  }

  /// Takes a token for `key`, if there is one.
  public mutating func admit(_ key: Key, now: Instant) -> Verdict {
    var bucket = full
    bucket.fullAgain = fullAgain[key]
    let verdict = bucket.admit(now: now)
    guard case .admitted = verdict else { return verdict }
    if fullAgain[key] == nil { makeRoom(now: now) }
    fullAgain[key] = bucket.fullAgain
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
