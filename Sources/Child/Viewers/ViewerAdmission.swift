internal import Wire

/// Who may come in when many want to, and who gives way: no credential can keep a family out of its own child.
///
/// - One credential has a few places of its own. When they are taken, a session of the same credential whose connection
///   is not up gives way; else the newcomer is refused.
/// - Some places are kept for paired parents. Tokens and guests share the rest.
/// - When all places are taken, sessions whose connection is not up give way first; a paired parent then takes the place
///   of a token's session or, failing that, of a guest's.
struct ViewerAdmission {
  /// Whom a session belongs to. Each gives way to those above it.
  enum Rank: Int, Comparable {
    /// A third-party player with a bearer token.
    case token
    /// A pair record that expires.
    case guest
    /// A pair record for good.
    case parent

    static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }
  }

  /// Who asks.
  struct Candidate {
    var credential: Credential
    var rank: Rank
    /// Paired, and may administer: the family's own devices share this credential.
    var isAdministrator: Bool
  }

  /// A session that has a place.
  struct Place {
    var credential: Credential
    var rank: Rank
    /// The connection is up at this moment.
    var isConnected: Bool
    var since: Instant
  }

  enum Refusal: Error, Equatable {
    /// The credential has as many sessions as it may.
    case tooManySessions(maximum: Int)
    /// No place is free, and nobody has to give way.
    case full
  }

  /// Places in all; a home has fewer viewers, and each costs about a megabyte.
  static let places = 32
  /// Of these, so many are for paired parents alone.
  static let keptForParents = 8
  /// Sessions of one credential: a few devices or tabs.
  static let maximumSessions = 4
  /// Sessions of a paired administrator's credential, which several programs share.
  static let maximumAdministratorSessions = 16
  /// A session that is still connecting keeps its place so long.
  static let connectionPatience = Duration.seconds(5)

  /// Decides on a newcomer.
  ///
  /// - Returns: the index of the place that has to be vacated first; nil when one is free.
  static func place(
    for candidate: Candidate, among places: [Place], now: Instant
  ) throws(Refusal) -> Int? {
    let isIdle = { (index: Int) in !places[index].isConnected && now - places[index].since >= connectionPatience }
    let oldest = { (some: [Int]) in some.min { places[$0].since < places[$1].since } }

    let own = places.indices.filter { places[$0].credential == candidate.credential }
    let maximum = candidate.isAdministrator ? maximumAdministratorSessions : maximumSessions
    if own.count >= maximum {
      guard let victim = oldest(own.filter(isIdle)) else { throw .tooManySessions(maximum: maximum) }
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

  /// Whoever has most sessions loses the last one.
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
