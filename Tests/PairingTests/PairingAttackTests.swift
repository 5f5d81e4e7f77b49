import Identity
import TestSupport
import Testing
import Wire

@testable import Pairing

@Suite struct PairingAttackTests {
  private let date = PairingRig.date

  // MARK: - Wrong codes

  @Test func threeWrongCodesCloseTheWindowWithGrowingDelays() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    #expect(try rig.tryWrongCode(offer.code) == .wrongCode(triesLeft: 2))
    #expect(rig.refusal(.begin) == .tooManyTries(retryAfter: .seconds(2)))
    rig.now += .seconds(2)
    #expect(try rig.tryWrongCode(offer.code) == .wrongCode(triesLeft: 1))
    rig.now += .seconds(4)
    #expect(rig.refusal(.begin) == .tooManyTries(retryAfter: .seconds(1)))
    rig.now += .seconds(1)
    #expect(try rig.tryWrongCode(offer.code) == .wrongCode(triesLeft: 0))
    rig.now += .seconds(60)
    #expect(rig.refusal(.begin) == .windowClosed)
    #expect(throws: PairingRefusal.unknownLink) { try rig.pair(.link(offer.secret)) }
    #expect(
      rig.events() == [
        .windowOpened, .wrongCode(triesLeft: 2), .wrongCode(triesLeft: 1), .wrongCode(triesLeft: 0),
        .windowClosed(.tooManyWrongCodes),
      ])
    #expect(rig.stored.isEmpty)
    // A new one opened at the child begins afresh.
    _ = try rig.pair(.code(rig.child.open(now: rig.now).code))
  }

  @Test func rightCodeAfterAWrongOnePairs() throws {
    let rig = PairingRig()
    let code = rig.child.open(now: rig.now).code
    _ = try rig.tryWrongCode(code)
    rig.now += .seconds(2)
    _ = try rig.pair(.code(code))
    #expect(rig.stored.count == 1)
  }

  @Test func guessIsCountedThoughTheGuesserFallsSilent() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    for count in 1...3 {
      var parent = rig.parent(.code(PairingRig.wrong(offer.code)), seed: UInt64(count))
      _ = try rig.answeredShare(&parent)
      if count < 3 { rig.now += .seconds(5) }
    }
    // All three are undecided or gone: nobody gets a fourth answer.
    guard case .tooManyTries = rig.refusal(.begin) else { throw PairingRig.Unexpected() }
    rig.now += .seconds(15)
    rig.child.handleTimeout(now: rig.now)
    #expect(!rig.child.isOpen)
    #expect(rig.events().last == .windowClosed(.tooManyWrongCodes))
  }

  @Test func guessesAtOnceAreDelayedToo() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    var first = rig.parent(.code(PairingRig.wrong(offer.code)), seed: 5)
    var second = rig.parent(.code(PairingRig.wrong(offer.code)), seed: 6)
    let request = try first.start()
    let parameters = try rig.post(request)
    _ = try second.start()
    guard case .send(let share1) = try first.receive(parameters, date: date),
      case .send(let share2) = try second.receive(parameters, date: date)
    else { throw PairingRig.Unexpected() }
    _ = try rig.post(share1)
    #expect(rig.refusal(share2) == .tooManyTries(retryAfter: .seconds(2)))
    #expect(rig.refusal(share1) == .tooManyTries(retryAfter: .seconds(2)))
  }

  // MARK: - Somebody between

  /// Speaks SPAKE2+ of his own with both sides, with a guess at the code.
  @Test func manInTheMiddleWithoutTheCodeIsAWrongCodeToBoth() throws {
    let rig = PairingRig()
    let code = rig.child.open(now: rig.now).code
    let fake = PairingRig(seed: 77)
    let fakeCode = fake.child.open(now: fake.now).code
    #expect(fakeCode != code)
    // Towards the parent.
    var parent = rig.parent(.code(code))
    let answer = try fake.answeredShare(&parent)
    let failure = #expect(throws: PairingFailure.self) { try parent.receive(answer, date: date) }
    guard case .wrongCode = failure else { throw PairingRig.Unexpected() }
    // Towards the child.
    var attacker = rig.parent(.code(fakeCode))
    let childAnswer = try rig.answeredShare(&attacker)
    #expect(throws: PairingFailure.self) { try attacker.receive(childAnswer, date: date) }
    rig.now += .seconds(15)
    rig.child.handleTimeout(now: rig.now)
    #expect(rig.events() == [.windowOpened, .wrongCode(triesLeft: 2)])
    #expect(rig.stored.isEmpty && fake.stored.isEmpty)
  }

  /// Needs to know nothing: sends the parent its own share back.
  @Test func reflectedShareIsAWrongCode() throws {
    let rig = PairingRig()
    let code = rig.child.open(now: rig.now).code
    var parent = rig.parent(.code(code))
    guard case .send(.share(_, let share)) = try parent.receive(try rig.post(try parent.start()), date: date) else {
      throw PairingRig.Unexpected()
    }
    let session = [UInt8](repeating: 1, count: PairingSize.session)
    #expect(throws: PairingFailure.wrongCode(tell: .abandon(session: session))) {
      try parent.receive(
        .share(session: session, share: share, confirmation: Array(repeating: 0, count: 32)), date: date)
    }
  }

  /// Passes the shares on, but changes one thing.
  @Test func changedMessageIsRefused() throws {
    let rig = PairingRig()
    let code = rig.child.open(now: rig.now).code
    var parent = rig.parent(.code(code))
    guard case .share(let session, let share, var confirmation) = try rig.answeredShare(&parent) else {
      throw PairingRig.Unexpected()
    }
    confirmation[0] ^= 1
    #expect(throws: PairingFailure.wrongCode(tell: .abandon(session: session))) {
      try parent.receive(.share(session: session, share: share, confirmation: confirmation), date: date)
    }
  }

  @Test func changedIntroductionIsRefusedAndUsesTheTryUp() throws {
    let rig = PairingRig()
    let code = rig.child.open(now: rig.now).code
    var parent = rig.parent(.code(code))
    let answer = try rig.answeredShare(&parent)
    guard case .send(.finish(let session, let confirmation, var sealed, _)) = try parent.receive(answer, date: date)
    else {
      throw PairingRig.Unexpected()
    }
    sealed[20] ^= 1
    #expect(
      rig.refusal(.finish(session: session, confirmation: confirmation, sealed: sealed))
        == .badMessage("the introduction does not fit"))
    sealed[20] ^= 1
    #expect(rig.refusal(.finish(session: session, confirmation: confirmation, sealed: sealed)) == .unknownSession)
    #expect(rig.events() == [.windowOpened, .wrongCode(triesLeft: 2)])
    #expect(rig.stored.isEmpty)
  }

  /// Ours are counted, never the neighbour's: ids of runs that do not exist cost nothing.
  @Test func strangersCannotUseUpTheTriesOfOthers() throws {
    let rig = PairingRig()
    let code = rig.child.open(now: rig.now).code
    for value in 0..<20 as Range<UInt8> {
      #expect(rig.refusal(.abandon(session: Array(repeating: value, count: 16))) == .unknownSession)
      _ = try rig.post(.begin)
    }
    _ = try rig.pair(.code(code))
    #expect(rig.events().allSatisfy { if case .wrongCode = $0 { false } else { true } })
  }

  @Test func weakerParametersAreRefusedByTheParent() throws {
    for (count, iterations) in [(16, 999), (16, 200_001), (0, 1000), (17, 1000)] {
      let rig = PairingRig()
      var parent = rig.parent(.code(PairingCode("12345678")!))
      _ = try parent.start()
      #expect(throws: PairingFailure.badReply("its parameters are out of bounds")) {
        try parent.receive(
          .parameters(salt: Array(repeating: 1, count: count), iterations: iterations), date: date)
      }
    }
  }

  // MARK: - Identities

  /// Knows the code, and introduces the key of somebody else.
  private struct Impostor: IdentitySigner {
    let own = NodeIdentity.generate()
    let claimed: [UInt8]
    var publicKeySPKI: [UInt8] { claimed }
    func sign(_ message: [UInt8]) -> [UInt8] { own.sign(message) }
  }

  @Test func keyOfAnotherCannotBePaired() throws {
    let victim = NodeIdentity.generate()
    for byLink in [false, true] {
      let rig = PairingRig()
      let offer = rig.child.open(now: rig.now)
      var parent = PairingInitiator(
        byLink ? .link(offer.secret) : .code(offer.code), identity: Impostor(claimed: victim.publicKeySPKI), name: "x",
        crypto: PairingRig.crypto, random: SeededGenerator(seed: 9))
      #expect(throws: PairingRefusal.badMessage("the introduction does not fit")) { try rig.pair(&parent) }
      #expect(rig.stored.isEmpty)
    }
  }

  @Test func childCannotIntroduceTheKeyOfAnother() throws {
    let victim = NodeIdentity.generate()
    let rig = PairingRig()
    var configuration = PairingConfiguration()
    configuration.iterations = 1000
    rig.child = PairingResponder(
      configuration: configuration, identity: Impostor(claimed: victim.publicKeySPKI), name: "x",
      crypto: PairingRig.crypto, random: SeededGenerator(seed: 9))
    let offer = rig.child.open(now: rig.now)
    #expect(throws: PairingFailure.badReply("the introduction does not fit")) { try rig.pair(.code(offer.code)) }
  }

  @Test func childsOwnKeyIsNoParent() throws {
    for byLink in [false, true] {
      let rig = PairingRig()
      let offer = rig.child.open(now: rig.now)
      var parent = PairingInitiator(
        byLink ? .link(offer.secret) : .code(offer.code), identity: rig.childIdentity, name: "x",
        crypto: PairingRig.crypto, random: SeededGenerator(seed: 9))
      #expect(throws: PairingRefusal.self) { try rig.pair(&parent) }
      #expect(rig.stored.isEmpty)
    }
  }

  // MARK: - Replay and order

  /// All four messages of one pairing with a code.
  private func recordedPairing(_ rig: PairingRig) throws -> (requests: [PairingRequest], replies: [PairingReply]) {
    var parent = rig.parent(.code(rig.child.open(now: rig.now).code))
    var requests = [try parent.start()]
    var replies: [PairingReply] = []
    while true {
      replies.append(try rig.post(requests[requests.count - 1]))
      guard case .send(let next) = try parent.receive(replies[replies.count - 1], date: date) else {
        return (requests, replies)
      }
      requests.append(next)
    }
  }

  @Test func replayedRequestsPairNobody() throws {
    let rig = PairingRig()
    let (requests, _) = try recordedPairing(rig)
    for request in requests { #expect(rig.refusal(request) != nil) }
    // In another window too.
    _ = rig.child.open(now: rig.now)
    #expect(rig.refusal(requests[1]) == .windowClosed)
    #expect(rig.refusal(requests[2]) == .unknownSession)
    #expect(rig.stored.count == 1)
    #expect(rig.child.isOpen)
  }

  @Test func replayedRepliesPairNobody() throws {
    let rig = PairingRig()
    let (_, replies) = try recordedPairing(rig)
    var parent = rig.parent(.code(PairingCode("12345678")!), seed: 50)
    _ = try parent.start()
    _ = try parent.receive(replies[0], date: date)
    #expect(throws: PairingFailure.self) { try parent.receive(replies[1], date: date) }
    #expect(throws: PairingFailure.badReply("it does not answer the request")) {
      try parent.receive(replies[2], date: date)
    }
  }

  @Test func repliesOutOfOrderEndThePairing() throws {
    let rig = PairingRig()
    let (_, replies) = try recordedPairing(rig)
    for first in 1..<replies.count {
      var parent = rig.parent(.code(PairingCode("12345678")!))
      _ = try parent.start()
      #expect(throws: PairingFailure.badReply("it does not answer the request")) {
        try parent.receive(replies[first], date: date)
      }
      #expect(throws: PairingFailure.badReply("it does not answer the request")) {
        try parent.receive(replies[0], date: date)
      }
      #expect(throws: PairingFailure.badReply("it has begun already")) { try parent.start() }
    }
  }

  @Test func finishBeforeShareIsUnknown() throws {
    let rig = PairingRig()
    _ = rig.child.open(now: rig.now)
    #expect(
      rig.refusal(
        .finish(session: Array(repeating: 1, count: 16), confirmation: Array(repeating: 1, count: 32), sealed: [1]))
        == .unknownSession)
    #expect(rig.refusal(.abandon(session: Array(repeating: 1, count: 16))) == .unknownSession)
  }

  @Test func secondPairingWithTheSameCodeIsRefused() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    // Two parents are under way; the first one that ends has it.
    var slow = rig.parent(.code(offer.code), seed: 20)
    let answer = try rig.answeredShare(&slow)
    rig.now += .seconds(2)
    _ = try rig.pair(.code(offer.code))
    guard case .send(let finish) = try slow.receive(answer, date: date) else { throw PairingRig.Unexpected() }
    #expect(rig.refusal(finish) == .unknownSession)
    #expect(rig.refusal(.begin) == .windowClosed)
    #expect(rig.stored.count == 1)
  }

  @Test func sessionIsForgottenInTime() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    var parent = rig.parent(.code(offer.code))
    let answer = try rig.answeredShare(&parent)
    guard case .send(let finish) = try parent.receive(answer, date: date) else { throw PairingRig.Unexpected() }
    #expect(rig.child.nextDeadline == rig.now + .seconds(15))
    rig.now += .seconds(15)
    #expect(rig.refusal(finish) == .unknownSession)
  }

  // MARK: - Points

  @Test func sharesOffTheCurveAreRefusedAndCostNothing() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    guard case .parameters(let salt, _) = try rig.post(.begin) else { throw PairingRig.Unexpected() }
    var off = SPAKE2Plus.m.bytes
    off[64] ^= 1
    let compressed = [2] + SPAKE2Plus.m.bytes[1...32] + Array(repeating: 0, count: 32)
    let tooLarge = [4] + Array(repeating: UInt8(0xff), count: 64)
    for share in [off, compressed, tooLarge, Array(repeating: 0, count: 65), [4] + Array(repeating: 0, count: 64)] {
      #expect(rig.refusal(.share(salt: salt, share: share)) == .badMessage("the share is no point of P-256"))
    }
    #expect(rig.events() == [.windowOpened])
    _ = try rig.pair(.code(offer.code))
    // And by the parent.
    var parent = rig.parent(.code(offer.code))
    _ = try parent.start()
    _ = try parent.receive(.parameters(salt: salt, iterations: 1000), date: date)
    #expect(throws: PairingFailure.badReply("its share is no point of P-256")) {
      try parent.receive(
        .share(session: Array(repeating: 1, count: 16), share: off, confirmation: Array(repeating: 1, count: 32)),
        date: date)
    }
  }
}
