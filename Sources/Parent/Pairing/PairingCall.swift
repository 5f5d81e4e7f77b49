internal import Identity
internal import Messages
internal import NIOHTTP1
public import Pairing
internal import Server
internal import Signaling
internal import Storage
internal import Wire

/// Pairs this parent with a child, over `POST /pair`. INTERFACES.md, "Pairing".
public struct PairingCall: Sendable {
  public struct Outcome: Sendable {
    public let record: PairRecord
    /// The child shows the same words.
    public let words: CheckWords
    public let grant: PairingGrant
  }

  private let state: ParentState
  private let name: String

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
    var reasons: [String] = []
    for address in addresses {
      let initiator = PairingInitiator(
        means, identity: identity, name: name, crypto: PairingPrimitives(), random: SystemRandomNumberGenerator())
      do {
        var outcome = try await Self.converse(initiator, at: address)
        outcome = try store(outcome, at: address, among: addresses)
        return outcome
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
          case .paired(let record, let words, let grant): return Outcome(record: record, words: words, grant: grant)
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
        throw PairingError.notUnderstood("status \(response.status.code)")
      }
      throw PairingError.refused(refusal)
    }
    return try PairingMessages.reply(response.body)
  }

  private func store(_ outcome: Outcome, at address: ChildAddress, among all: [ChildAddress]) throws -> Outcome {
    var record = outcome.record
    // The other addresses are the same child's, and may work another day.
    let others = all.reversed().filter { $0 != address && $0.port == address.port }
    var known: KnownAddress?
    for one in others + [address] { known = KnownAddress(reached: one, remote: nil, before: known) }
    record.lastAddress = known
    record.lastSeenAt = record.createdAt
    let stored = record
    try state.changePairs { try $0.add(stored) }
    return Outcome(record: stored, words: outcome.words, grant: outcome.grant)
  }
}
