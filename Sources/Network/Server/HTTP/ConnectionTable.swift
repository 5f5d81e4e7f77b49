internal import Signaling
internal import Wire

/// Allocates places at the HTTPS port: which client gets one, which client loses one when all are taken, and how many
/// requests a client may make before it has presented a token or a pairing.
///
/// The rules, and why:
/// - Strangers cannot lock anybody out: when all places are taken, a stranger loses its place, never a client that has
///   proven itself. It is the oldest connection of the address with most connections, so a flood from one address
///   displaces itself, and a parent behind the same router still gets in: as the newest, it would be the last to go.
/// - No credential can lock anybody out either: each has a few places, guests and tokens together have some, and some are
///   never anybody's, so that newcomers always get in (see `ProvenPlaces`).
/// - Within such a flood, silent connections and those that have sent something take turns at being evicted, whichever
///   are more. Otherwise either kind could be used to starve the other.
/// - Who pairs while the pairing window is open keeps its place, one connection for each address.
/// - A place costs next to nothing; a TLS handshake and a response cost processor time, which pictures and sound need.
///   Both are rate-limited, per address and for all strangers together, because one machine in an IPv6 network can use
///   any number of addresses. Addresses that have proven themselves before are exempt from the common limit. Requests of
///   a credential are limited by themselves, however many connections it has.
struct ConnectionTable {
  typealias ID = UInt64

  struct Limits: Sendable {
    var places = 256
    /// Enough for a household that reconnects after a power cut, all through one router.
    var handshakeBurst = 100
    var handshakeInterval: Duration = .milliseconds(50)
    /// The phone page is some hundred files, which a first visit asks for twice (the page and its service worker: browsers
    /// keep nothing that came over a certificate that is not trusted), and a house may share one address behind its router.
    /// Eight phones in the same moment, and their rooms; or one whose user loads the page again and again.
    var requestBurst = 1700
    var requestInterval: Duration = .milliseconds(50)
    /// The limit for all strangers together, as a multiple of the limit per address.
    var strangers = 5
    /// How many addresses of proven clients are remembered.
    var knownAddresses = 64
    /// Places of clients that are pairing, at most.
    var pairing = 4
  }

  private enum Standing {
    /// Connected, but has not sent anything.
    case silent
    case speaking
    case pairing
    /// Holds a token or is a paired parent.
    case proven
  }

  private struct Place {
    var address: IPAddress?
    var standing: Standing

    var isStranger: Bool { standing == .silent || standing == .speaking }
  }

  /// Rate limits per address and for all strangers.
  private struct Allowance {
    private var each: RateLimiter<IPAddress?>
    private var all: RateLimiter<Bool>

    init(burst: Int, interval: Duration, strangers: Int) {
      each = RateLimiter(burst: burst, interval: interval)
      all = RateLimiter(burst: burst * strangers, interval: interval / strangers, maximumKeys: 1)
    }

    /// Checks the address first: a refused request must not use up the common allowance.
    mutating func admit(_ address: IPAddress?, isKnown: Bool, now: Instant) -> Duration? {
      each.admit(address, now: now).wait ?? (isKnown ? nil : all.admit(true, now: now).wait)
    }
  }

  private let limits: Limits
  private var places: [ID: Place] = [:]
  /// Places of unproven clients, by address.
  private var strangers: [IPAddress?: Int] = [:]
  private var proven: ProvenPlaces
  /// The oldest first.
  private var pairing: [ID] = []
  private var handshakes: Allowance
  private var requests: Allowance
  private var credentialRequests: RateLimiter<String>
  private var lastID: ID = 0

  init(limits: Limits = Limits()) {
    self.limits = limits
    proven = ProvenPlaces(places: limits.places, knownAddresses: limits.knownAddresses)
    handshakes = Allowance(
      burst: limits.handshakeBurst, interval: limits.handshakeInterval, strangers: limits.strangers)
    requests = Allowance(burst: limits.requestBurst, interval: limits.requestInterval, strangers: limits.strangers)
    credentialRequests = RateLimiter(burst: limits.requestBurst, interval: limits.requestInterval)
  }

  var count: Int { places.count }
  /// The credentials that have places, or that addresses are remembered for.
  var credentials: [String] { proven.credentials }

  /// A place for a new connection, and the connection to close for it. Nil if there is nobody to close.
  mutating func enter(from address: IPAddress?) -> (id: ID, evicted: ID?)? {
    var evicted: ID?
    if places.count >= limits.places {
      guard let oldest = leastWorthy() else { return nil }
      leave(oldest)
      evicted = oldest
    }
    lastID += 1
    places[lastID] = Place(address: address, standing: .silent)
    strangers[address, default: 0] += 1
    return (lastID, evicted)
  }

  /// A proxy has said where the connection comes from, before its first bytes or with a request. What another client has shown
  /// over the same connection counts no more.
  mutating func move(_ id: ID, to address: IPAddress) {
    guard let place = places[id], place.address != address else { return }
    if !place.isStranger {
      proven.remove(id)
      lower(id)
    }
    forgetStranger(at: place.address)
    places[id]?.address = address
    strangers[address, default: 0] += 1
  }

  /// Where the connection comes from.
  func address(of id: ID) -> IPAddress? { places[id]?.address }

  /// The connection's first bytes have arrived. Nil when its TLS handshake may begin, otherwise the time to wait: a proxy
  /// may make a connection for each of the page's files, and a browser does not ask again for one that was refused.
  mutating func greet(_ id: ID, now: Instant) -> Duration? {
    guard var place = places[id], place.standing == .silent else { return nil }
    if let wait = handshakes.admit(place.address, isKnown: proven.isKnown(place.address), now: now) { return wait }
    place.standing = .speaking
    places[id] = place
    return nil
  }

  /// Nil when a request may be answered, otherwise the time to wait.
  mutating func ask(_ id: ID, now: Instant) -> Duration? {
    guard let place = places[id] else { return nil }
    if place.standing == .proven, let credential = proven.credential(of: id) {
      return credentialRequests.admit(credential, now: now).wait
    }
    return requests.admit(place.address, isKnown: proven.isKnown(place.address), now: now)
  }

  /// The client has shown who it is.
  mutating func raise(_ id: ID, to standing: ConnectionStanding) {
    guard let place = places[id] else { return }
    switch standing {
    case .holder(let credential):
      let outcome = proven.insert(id, of: credential, from: place.address)
      for lost in outcome.lost { lower(lost) }
      if outcome.hasPlace { set(id, .proven) }
    case .pairing:
      guard place.isStranger else { return }
      if let same = pairing.first(where: { places[$0]?.address == place.address }) ?? oldestPairing { lower(same) }
      set(id, .pairing)
      pairing.append(id)
    }
  }

  /// Applies what has become of the credentials: those that are gone give their places back, and others may have more or fewer.
  ///
  /// - Parameter current: nil for a credential that no longer counts.
  mutating func review(_ current: (_ credential: String) -> ConnectionCredential?) {
    for lost in proven.review(current) { lower(lost) }
  }

  /// The connection is gone. Unknown ids are ignored.
  mutating func leave(_ id: ID) {
    guard let place = places[id] else { return }
    if place.isStranger { forgetStranger(at: place.address) }
    pairing.removeAll { $0 == id }
    proven.remove(id)
    places[id] = nil
  }

  private var oldestPairing: ID? { pairing.count >= limits.pairing ? pairing.first : nil }

  /// A connection becomes a stranger's again.
  private mutating func lower(_ id: ID) { set(id, .speaking) }

  private mutating func set(_ id: ID, _ standing: Standing) {
    guard var place = places[id] else { return }
    if place.isStranger { forgetStranger(at: place.address) }
    pairing.removeAll { $0 == id }
    place.standing = standing
    places[id] = place
    if place.isStranger { strangers[place.address, default: 0] += 1 }
  }

  private mutating func forgetStranger(at address: IPAddress?) {
    let left = (strangers[address] ?? 1) - 1
    strangers[address] = left > 0 ? left : nil
  }

  /// Ids increase, so the smallest is the oldest.
  private func leastWorthy() -> ID? {
    guard let most = strangers.values.max() else { return nil }
    var silent: (count: Int, oldest: ID) = (0, .max)
    var speaking: (count: Int, oldest: ID) = (0, .max)
    for (id, place) in places where strangers[place.address] == most {
      switch place.standing {
      case .silent: silent = (silent.count + 1, min(silent.oldest, id))
      case .speaking: speaking = (speaking.count + 1, min(speaking.oldest, id))
      case .pairing, .proven: break
      }
    }
    return silent.count >= speaking.count ? silent.oldest : speaking.oldest
  }
}
