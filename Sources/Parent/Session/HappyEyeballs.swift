internal import Wire

/// The order in which a child's addresses are tried: each a short time after the one before, without waiting for that one
/// to fail, as in RFC 8305 (Happy Eyeballs). The first that is open is used, and the others wait in case it is of no use.
///
/// At first only the child's own certificate is accepted. A child may have been given another certificate, though, and
/// prove itself by what it signs; so addresses that showed another key are tried again when no other is left.
///
/// A core: the time is passed in, and `nextDeadline` says when `handleTimeout` is due.
struct HappyEyeballs: Sendable {
  struct Attempt: Hashable, Sendable {
    let address: ChildAddress
    /// Only the child's own key is accepted.
    let isPinned: Bool
  }

  enum Action: Hashable, Sendable {
    /// `connected` or `failed` follows.
    case dial(Attempt)
    /// Give it up; nothing follows.
    case cancel(Attempt)
    /// It is open.
    case use(Attempt)
    /// No address is left. The last action.
    case giveUp(End)
  }

  enum Failure: Hashable, Sendable {
    case unreachable(String)
    /// Something took the connection and did not keep it, or did not answer.
    case lost(String)
    /// The server showed another key.
    case otherKey
  }

  struct End: Hashable, Sendable {
    /// One sentence for each address.
    var reasons: [String]
    /// One address was open.
    var wasOpen = false
    /// An address was lost: whoever is there may only be busy.
    var hasLost = false
  }

  /// RFC 8305 section 5.
  static let spacing: Duration = .milliseconds(300)

  private var waiting: [Attempt] = []
  private var running: Set<Attempt> = []
  private var seen: Set<ChildAddress> = []
  private var strangers: [ChildAddress] = []
  private var end = End(reasons: [])
  private var isComplete = false
  /// The others wait.
  private var used: Attempt?
  /// When the next may be tried beside those that are running.
  private var nextStart = Instant.zero

  var nextDeadline: Instant? {
    used == nil && !waiting.isEmpty && !running.isEmpty ? nextStart : nil
  }

  // MARK: - Calls

  /// One more address.
  mutating func add(_ address: ChildAddress, now: Instant) -> [Action] {
    guard seen.insert(address).inserted else { return [] }
    waiting.append(Attempt(address: address, isPinned: true))
    return advance(now)
  }

  /// There are no more addresses.
  mutating func complete(now: Instant) -> [Action] {
    isComplete = true
    return advance(now)
  }

  mutating func handleTimeout(now: Instant) -> [Action] { advance(now) }

  mutating func failed(_ attempt: Attempt, _ failure: Failure, now: Instant) -> [Action] {
    guard running.remove(attempt) != nil else { return [] }
    switch failure {
    case .otherKey where attempt.isPinned: strangers.append(attempt.address)
    case .otherKey: end.reasons.append("\(attempt.address): its certificate is not trusted")
    case .unreachable(let reason): end.reasons.append("\(attempt.address): \(reason)")
    case .lost(let reason):
      end.reasons.append("\(attempt.address): \(reason)")
      end.hasLost = true
    }
    nextStart = now
    return advance(now)
  }

  /// The others wait until `goOn`.
  mutating func connected(_ attempt: Attempt) -> [Action] {
    guard running.remove(attempt) != nil else { return [] }
    used = attempt
    end.wasOpen = true
    let others = running.sorted { "\($0.address)" < "\($1.address)" }
    waiting = others + waiting
    running = []
    return others.map(Action.cancel) + [.use(attempt)]
  }

  /// The one that was open is of no use.
  mutating func goOn(because reason: String, now: Instant) -> [Action] {
    guard let attempt = used else { return [] }
    end.reasons.append("\(attempt.address): \(reason)")
    used = nil
    nextStart = now
    return advance(now)
  }

  private mutating func advance(_ now: Instant) -> [Action] {
    guard used == nil else { return [] }
    if waiting.isEmpty, running.isEmpty, isComplete {
      guard !strangers.isEmpty else { return [.giveUp(end)] }
      waiting = strangers.map { Attempt(address: $0, isPinned: false) }
      strangers = []
    }
    guard let next = waiting.first, running.isEmpty || now >= nextStart else { return [] }
    waiting.removeFirst()
    running.insert(next)
    nextStart = now + Self.spacing
    return [.dial(next)]
  }
}
