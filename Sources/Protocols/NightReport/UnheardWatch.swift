public import Wire

/// Says when nobody has been listening for too long, once for each spell, and when somebody does again.
public struct UnheardWatch: Sendable {
  public enum Change: Hashable, Sendable {
    /// Nobody has received fresh sound for so long.
    case unheard(Duration)
    /// After so long.
    case heardAgain(Duration)
  }

  /// Nil: never.
  private let limit: Duration?
  private var heardAt: Instant
  private var isTold = false

  /// The child's start counts as the last moment when somebody listened.
  public init(limit: Duration?, now: Instant) {
    self.limit = limit
    heardAt = now
  }

  /// - Parameter isHeard: somebody received fresh sound just now.
  public mutating func note(isHeard: Bool, now: Instant) -> Change? {
    guard let limit else { return nil }
    let time = now - heardAt
    if isHeard {
      heardAt = now
      defer { isTold = false }
      return isTold ? .heardAgain(time) : nil
    }
    guard !isTold, time >= limit else { return nil }
    isTold = true
    return .unheard(time)
  }
}
