internal import Wire

/// A child's statement that it can be met, signed by its identity key: the payload of a compact JWS that every meeting place
/// passes on. interfaces/wire.md, "Meeting places".
///
/// The challenge is the child's own. A parent's offer carries it, so the child knows that the offer was made after this
/// statement, whatever the place between them says or repeats.
public struct Presence: Hashable, Sendable {
  /// The child's id: 16 lower-case hexadecimal digits.
  public var child: String
  /// 128 random bits, base64url.
  public var challenge: String
  /// Until when the child accepts offers with this challenge, in seconds since 1970 by the child's clock.
  public var expires: Int64
  /// 128 random bits of the child's process, base64url: one that has begun again knows no session of the one before. Nil from
  /// earlier versions.
  public var process: String?

  public init(child: String, challenge: String, expires: Int64, process: String? = nil) {
    self.child = child
    self.challenge = challenge
    self.expires = expires
    self.process = process
  }

  /// The longest statement, signed.
  public static let maximumBytes = 1024
}

/// The challenges that a child has announced. The latest is replaced at half its time; each counts until its end.
struct AnnouncedChallenges: Sendable {
  private struct Entry: Sendable {
    var challenge: String
    var until: Instant
  }

  /// An offer that somebody recorded is of use until then, and only while its session has been forgotten.
  static let lifetime: Duration = .seconds(2 * 3600)

  private var random: any RandomNumberGenerator & Sendable
  /// The latest last; two at most.
  private var entries: [Entry] = []

  init(random: any RandomNumberGenerator & Sendable) {
    self.random = random
  }

  /// When the next challenge is due; nil before the first.
  var renewal: Instant? { entries.last.map { $0.until - Self.lifetime / 2 } }

  /// The challenge to announce now, and its end.
  mutating func current(now: Instant) -> (challenge: String, until: Instant) {
    entries.removeAll { $0.until <= now }
    if let last = entries.last, let renewal, now < renewal { return (last.challenge, last.until) }
    let next = Entry(challenge: RandomName.make(from: &random), until: now + Self.lifetime)
    entries.append(next)
    return (next.challenge, next.until)
  }

  func contains(_ challenge: String, now: Instant) -> Bool {
    entries.contains { $0.challenge == challenge && $0.until > now }
  }
}
