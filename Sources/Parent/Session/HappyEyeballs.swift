/// The order in which a child's addresses are tried: each a short time after the one before, without waiting for that one
/// to fail, as in RFC 8305 (Happy Eyeballs).
///
/// At first only the child's own certificate is accepted. A child may have been given another certificate, though, and
/// prove itself by what it signs; so addresses that showed another key are tried again when no other is left.
struct HappyEyeballs: Sendable {
  struct Attempt: Hashable, Sendable {
    let address: ChildAddress
    /// Only the child's own key is accepted.
    let isPinned: Bool
  }

  enum Action: Hashable, Sendable {
    case dial(Attempt)
    /// Call `spacingOver` after `spacing`.
    case wait
    /// No address could be reached. The last action; one sentence for each address.
    case giveUp([String])
  }

  enum Failure: Hashable, Sendable {
    case unreachable(String)
    /// Something took the connection and did not keep it, or did not answer.
    case lost(String)
    /// The server showed another key.
    case otherKey
  }

  /// RFC 8305 section 5.
  static let spacing: Duration = .milliseconds(300)

  private var waiting: [Attempt] = []
  private var running: Set<Attempt> = []
  private var seen: Set<ChildAddress> = []
  private var strangers: [ChildAddress] = []
  private var reasons: [String] = []
  private var isComplete = false
  /// An address was lost: whoever is there may only be busy.
  private(set) var hasLost = false
  /// One is open; the others wait.
  private var isPaused = false
  private var mayStartBeside = true

  /// One more address.
  mutating func add(_ address: ChildAddress) -> [Action] {
    guard seen.insert(address).inserted else { return [] }
    waiting.append(Attempt(address: address, isPinned: true))
    return advance()
  }

  /// There are no more addresses.
  mutating func complete() -> [Action] {
    isComplete = true
    return advance()
  }

  mutating func spacingOver() -> [Action] {
    mayStartBeside = true
    return advance()
  }

  mutating func failed(_ attempt: Attempt, _ failure: Failure) -> [Action] {
    guard running.remove(attempt) != nil else { return [] }
    switch failure {
    case .otherKey where attempt.isPinned: strangers.append(attempt.address)
    case .otherKey: reasons.append("\(attempt.address): its certificate is not trusted")
    case .unreachable(let reason): reasons.append("\(attempt.address): \(reason)")
    case .lost(let reason):
      reasons.append("\(attempt.address): \(reason)")
      hasLost = true
    }
    mayStartBeside = true
    return advance()
  }

  /// The others wait until `goOn`.
  ///
  /// - Returns: those that were being tried. Give them up.
  mutating func connected(_ attempt: Attempt) -> [Attempt] {
    guard running.remove(attempt) != nil else { return [] }
    isPaused = true
    let others = running.sorted { "\($0.address)" < "\($1.address)" }
    waiting = others + waiting
    running = []
    return others
  }

  /// The one that was open is of no use.
  mutating func goOn(_ attempt: Attempt, because reason: String) -> [Action] {
    reasons.append("\(attempt.address): \(reason)")
    isPaused = false
    mayStartBeside = true
    return advance()
  }

  private mutating func advance() -> [Action] {
    guard !isPaused else { return [] }
    if waiting.isEmpty, running.isEmpty, isComplete {
      guard !strangers.isEmpty else { return [.giveUp(reasons)] }
      waiting = strangers.map { Attempt(address: $0, isPinned: false) }
      strangers = []
    }
    guard let next = waiting.first, mayStartBeside || running.isEmpty else { return [] }
    waiting.removeFirst()
    running.insert(next)
    mayStartBeside = false
    return [.dial(next), .wait]
  }
}
