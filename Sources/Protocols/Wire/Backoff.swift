/// The delay after a failure; doubles each time.
public struct Backoff: Sendable {
  private let first: Duration
  private let longest: Duration
  private var next: Duration

  public init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
    next = first
  }

  /// The delay after one more failure.
  public mutating func nextDelay() -> Duration {
    defer { next = min(next * 2, longest) }
    return next
  }

  /// After a success.
  public mutating func reset() {
    next = first
  }
}
