internal import Identity
internal import NIOHTTP1
public import Pairing
internal import Server
internal import Signaling
internal import Storage
internal import Wire

/// Pairs this parent with a child, over `POST /pair`. interfaces/wire.md, "Pairing".
public struct PairingCall: Sendable {
  public struct Outcome: Sendable {
    public let record: PairRecord
    /// The child shows the same words.
    public let words: CheckWords
    public let grant: PairingGrant
    fileprivate let initiator: PairingInitiator
    fileprivate let address: ChildAddress
  }

  private let state: ParentState
  private let name: String
  /// The name under which the child was found on the network: with a number where another one has it.
  public var announcedName: String?

  /// - Parameter name: this parent's name, as the child will show it.
  public init(state: ParentState, name: String) {
    self.state = state
    self.name = name
  }

  /// Pairs by a code with the first of these addresses that answers, and stores the pair.
  ///
  /// - Throws: `PairingError`, or what storing throws.
  public func pair(_ code: PairingCode, at addresses: [ChildAddress]) async throws -> Outcome {
    try await pair(.code(code), at: addresses)
  }

  /// Pairs by a link, and stores the pair.
  ///
  /// - Throws: `PairingError`, or what storing throws.
  public func pair(_ link: PairingLink) async throws -> Outcome {
    guard let origin = try? HTTPURL("\(link.origin)/").origin else { throw PairingError.wrongLink }
    return try await pair(.link(link.secret), at: [ChildAddress(host: origin.host, port: origin.port)])
  }

  private func pair(_ means: PairingInitiator.Means, at addresses: [ChildAddress]) async throws -> Outcome {
    let identity = try state.identity()
    // A store that cannot be read is no reason to use a code up.
    let known = try state.pairs()
    var reasons: [String] = []
    for address in addresses {
      let initiator = PairingInitiator(
        means, identity: identity, name: name, crypto: PairingPrimitives(), random: SystemRandomNumberGenerator())
      do {
        let outcome = try await Self.converse(initiator, at: address)
        return try await keep(
          outcome, among: addresses, wasKnown: known.records.contains { $0.id == outcome.record.id })
      } catch let error as HTTPClientError {
        reasons.append("\(address): \(error)")
      }
    }
    throw PairingError.unreachable(reasons)
  }

  /// Accepts any certificate: the code, or the link's secret, proves both sides to each other.
  private static func converse(_ initiator: PairingInitiator, at address: ChildAddress) async throws -> Outcome {
    try await HTTPCalls.with(address.origin, trust: .firstUse { _ in true }) { calls in
      var initiator = initiator
      let url = try HTTPURL("\(address.origin)/pair")
      do {
        var request = try initiator.start()
        while true {
          let reply = try await ask(request, url, calls)
          switch try initiator.receive(reply, date: .now) {
          case .send(let next): request = next
          case .paired(let record, let words, let grant):
            return Outcome(record: record, words: words, grant: grant, initiator: initiator, address: address)
          }
        }
      } catch PairingFailure.wrongCode(tell: let report) {
        // The answer is always a refusal, which says how many tries are left.
        do {
          _ = try await ask(report, url, calls)
        } catch PairingError.refused(.wrongCode(let left)) {
          throw PairingError.wrongCode(triesLeft: left)
        } catch {
          throw PairingError.wrongCode(triesLeft: nil)
        }
        throw PairingError.wrongCode(triesLeft: nil)
      } catch let failure as PairingFailure {
        throw PairingError(failure)
      }
    }
  }

  private static func ask(_ request: PairingRequest, _ url: HTTPURL, _ calls: HTTPCalls) async throws -> PairingReply {
    let response = try await calls.send(
      HTTPClientRequest(
        .POST, url, headers: ["Content-Type": PairingMessages.contentType], body: PairingMessages.encode(request)))
    guard response.status == .ok else {
      guard let refusal = PairingProblem.refusal(response.body) else {
        throw PairingError.failed(response.refusal)
      }
      throw PairingError.refused(refusal)
    }
    return try PairingMessages.reply(response.body)
  }

  /// Stores the pair. Where that fails, the child drops it, too: nobody could use it.
  private func keep(_ outcome: Outcome, among all: [ChildAddress], wasKnown: Bool) async throws -> Outcome {
    do {
      return try store(outcome, among: all)
    } catch {
      // The record from before still works.
      if wasKnown { throw PairingError.notStored("\(error)", .stillPaired) }
      do {
        try await settle(.cancel, outcome)
      } catch {
        throw PairingError.notStored("\(error)", .leftAtChild(id: try state.identity().id))
      }
      throw PairingError.notStored("\(error)", .undone)
    }
  }

  /// The check words are the same, as far as anybody has said: the pair is completed. The child goes by its use as well, so
  /// that not reaching it does no harm.
  public func confirm(_ outcome: Outcome) async {
    try? await settle(.confirm, outcome)
  }

  /// The check words differ: removes the pair here and at the child.
  ///
  /// - Throws: `PairingError.leftAtChild` when the child could not be reached, or what storing throws.
  public func cancel(_ outcome: Outcome) async throws {
    let isTold: Bool
    do {
      try await settle(.cancel, outcome)
      isTold = true
    } catch {
      isTold = false
    }
    try state.changePairs { store in
      if store.book.records.contains(where: { $0.id == outcome.record.id }) { try store.revoke(id: outcome.record.id) }
    }
    if !isTold { throw PairingError.leftAtChild(id: try state.identity().id) }
  }

  private func settle(_ verdict: PairingVerdict, _ outcome: Outcome) async throws {
    guard let request = outcome.initiator.verdict(verdict) else { return }
    try await HTTPCalls.with(outcome.address.origin, trust: .firstUse { _ in true }) { calls in
      let reply = try await Self.ask(request, HTTPURL("\(outcome.address.origin)/pair"), calls)
      guard reply == .settled(verdict) else { throw PairingError.notUnderstood("it does not answer the request") }
    }
  }

  private func store(_ outcome: Outcome, among all: [ChildAddress]) throws -> Outcome {
    let address = outcome.address
    var record = outcome.record
    // The other addresses are the same child's, and may work another day.
    let others = all.reversed().filter { $0 != address && $0.port == address.port }
    var known: KnownAddress?
    for one in others + [address] { known = KnownAddress(reached: one, remote: nil, before: known) }
    record.lastAddress = known
    record.lastSeenAt = record.createdAt
    // As people know it from the network.
    if let announcedName, announcedName.hasPrefix("\(record.name) #") { record.name = announcedName }
    record = try state.pairs().named(record)
    let stored = record
    try state.changePairs { try $0.add(stored) }
    return Outcome(
      record: stored, words: outcome.words, grant: outcome.grant, initiator: outcome.initiator, address: address)
  }
}
