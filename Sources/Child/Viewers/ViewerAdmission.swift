internal import Wire

/// Decides which sessions are admitted when places run short, so that no credential can lock a family out of its child.
///
/// - Each credential has a limited number of sessions. When it is reached, a session of the same credential that never
///   connected is evicted, else one that is not connected now; otherwise the newcomer is refused.
/// - Some places are reserved for paired parents. Tokens and guests share the rest.
/// - When all places are taken, sessions that are not connected are evicted first; after that, a paired parent takes
///   the place of a token's session or, failing that, of a guest's.
struct ViewerAdmission {
  /// Owner of a session, by priority: each may be evicted for those of higher rank.
  enum Rank: Int, Comparable {
    /// A third-party player with a bearer token.
    case token
    /// A pair record that expires.
    case guest
    /// A pair record without expiry.
    case parent

    static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }
  }

  /// The session to be admitted.
  struct Candidate {
    var credential: Credential
    var rank: Rank
    /// Whether it is paired with `admin`: the family's own devices share this credential.
    var isAdministrator: Bool
  }

  /// A session that has a place.
  struct Place {
    var credential: Credential
    var rank: Rank
    /// Whether the connection is up now.
    var isConnected: Bool
    /// Whether it has been up at least once.
    var wasConnected = true
    var since: Instant
  }

  enum Refusal: Error, Equatable {
    /// The credential has reached its limit of sessions.
    case tooManySessions(maximum: Int)
    /// The credential starts sessions faster than it may.
    case tooOften(retryAfter: Duration)
    /// No place is free, and no session may be evicted.
    case full
  }

  /// Total number of places; a home has fewer viewers, and each costs about a megabyte.
  static let places = 32
  /// Places reserved for paired parents, out of `places`.
  static let keptForParents = 8
  /// Sessions per credential: a few devices or tabs.
  static let maximumSessions = 4
  /// Sessions of a paired administrator's credential, which several programs share.
  static let maximumAdministratorSessions = 16
  /// A session that is still connecting keeps its place for this long.
  static let connectionPatience = Duration.seconds(5)

  /// Decides whether to admit a session.
  ///
  /// - Returns: the index of the place to vacate first; nil when one is free.
  static func place(
    for candidate: Candidate, among places: [Place], now: Instant
  ) throws(Refusal) -> Int? {
    let isIdle = { (index: Int) in !places[index].isConnected && now - places[index].since >= connectionPatience }
    let oldest = { (some: [Int]) in some.min { places[$0].since < places[$1].since } }

    let own = places.indices.filter { places[$0].credential == candidate.credential }
    let maximum = candidate.isAdministrator ? maximumAdministratorSessions : maximumSessions
    if own.count >= maximum {
      // Some players give up on an answer without a DELETE, and try again.
      guard let victim = oldest(own.filter { !places[$0].wasConnected }) ?? oldest(own.filter(isIdle)) else {
        throw .tooManySessions(maximum: maximum)
      }
      return victim
    }

    let shared = places.indices.filter { places[$0].rank < .parent }
    let isFull = places.count >= Self.places
    let isSharedFull = candidate.rank < .parent && shared.count >= Self.places - keptForParents
    guard isFull || isSharedFull else { return nil }
    let below = isSharedFull ? shared : Array(places.indices)
    for rank in [Rank.token, .guest, .parent] where rank <= candidate.rank {
      if let victim = oldest(below.filter { places[$0].rank == rank && isIdle($0) }) { return victim }
    }
    guard candidate.rank == .parent, let rank = shared.map({ places[$0].rank }).min() else { throw .full }
    return newestOfTheLargest(shared.filter { places[$0].rank == rank }, places)
  }

  /// Of the credential with most sessions, the newest session.
  private static func newestOfTheLargest(_ some: [Int], _ places: [Place]) -> Int? {
    let byCredential = Dictionary(grouping: some) { places[$0].credential }
    let largest = byCredential.values.max { one, other in
      (one.count, since(one, places)) < (other.count, since(other, places))
    }
    return largest?.max { places[$0].since < places[$1].since }
  }

  private static func since(_ some: [Int], _ places: [Place]) -> Instant {
    some.map { places[$0].since }.max() ?? .zero
  }
}
