import Identity
import TestSupport
import Testing
import Wire

@testable import Pairing

/// A child with real keys in fake time. Requests and replies go through their JSON forms.
final class PairingRig {
  static let crypto = PairingPrimitives()
  static let date = UnixTime(seconds: 1_800_000_000)

  let childIdentity = NodeIdentity.generate()
  let parentIdentity = NodeIdentity.generate()
  var child: PairingResponder
  var now = Instant.zero
  /// What was paired, with its words, as the child would store it.
  private(set) var stored: [PairRecord] = []
  /// What became of them, by the parents' verdicts.
  private(set) var verdicts: [String] = []
  /// Who is paired already.
  var known: PairRecord?
  private(set) var words: CheckWords?

  init(seed: UInt64 = 1, configure: (inout PairingConfiguration) -> Void = { _ in }) {
    var configuration = PairingConfiguration()
    configuration.iterations = 1000
    configure(&configuration)
    child = PairingResponder(
      configuration: configuration, identity: childIdentity, name: "Nursery", crypto: Self.crypto,
      random: SeededGenerator(seed: seed))
  }

  func parent(_ means: PairingInitiator.Means, name: String = "Kitchen", seed: UInt64 = 2) -> PairingInitiator {
    PairingInitiator(
      means, identity: parentIdentity, name: name, crypto: Self.crypto, random: SeededGenerator(seed: seed))
  }

  /// One HTTP request to the child.
  func post(_ request: PairingRequest) throws -> PairingReply {
    let request = try PairingMessages.request(PairingMessages.encode(request))
    let reply: PairingReply
    switch try child.handle(request, now: now, date: Self.date, known: { [known] in known?.id == $0 ? known : nil }) {
    case .reply(let answer): reply = answer
    case .paired(let record, let checkWords, let answer):
      stored.append(record)
      words = checkWords
      reply = answer
    case .settled(let verdict, let pair, let answer):
      verdicts.append("\(verdict) \(pair)")
      reply = answer
    }
    return try PairingMessages.reply(PairingMessages.encode(reply))
  }

  /// The whole pairing of one parent; what the parent stores.
  func pair(_ parent: inout PairingInitiator) throws -> (PairRecord, CheckWords, PairingGrant) {
    var request = try parent.start()
    while true {
      switch try parent.receive(try post(request), date: Self.date) {
      case .send(let next): request = next
      case .paired(let record, let words, let grant): return (record, words, grant)
      }
    }
  }

  func pair(_ means: PairingInitiator.Means) throws -> (PairRecord, CheckWords, PairingGrant) {
    var parent = parent(means)
    return try pair(&parent)
  }

  /// A parent with a code up to the point where the child has answered its share.
  func answeredShare(_ parent: inout PairingInitiator) throws -> PairingReply {
    guard case .send(let share) = try parent.receive(try post(try parent.start()), date: Self.date) else {
      throw Unexpected()
    }
    return try post(share)
  }

  /// A whole wrong try; what the child says to it.
  func tryWrongCode(_ code: PairingCode, seed: UInt64 = 3) throws -> PairingRefusal? {
    var parent = parent(.code(Self.wrong(code)), seed: seed)
    let answer = try answeredShare(&parent)
    do {
      _ = try parent.receive(answer, date: Self.date)
      throw Unexpected()
    } catch PairingFailure.wrongCode(let tell) {
      return refusal(tell)
    }
  }

  func refusal(_ request: PairingRequest) -> PairingRefusal? {
    do {
      _ = try post(request)
      return nil
    } catch {
      return error as? PairingRefusal
    }
  }

  static func wrong(_ code: PairingCode) -> PairingCode {
    let digit = code.description.hasSuffix("0") ? "1" : "0"
    return PairingCode(String(code.description.dropLast()) + digit)!
  }

  func events() -> [PairingEvent] {
    var events: [PairingEvent] = []
    while let event = child.poll() { events.append(event) }
    return events
  }

  struct Unexpected: Error {}
}

extension PairingRig {
  static func grant(name: String) -> PairingGrant {
    PairingGrant(name: name, permissions: .all, expiresAt: nil)
  }
}
