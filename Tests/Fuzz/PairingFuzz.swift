import Pairing
import TestSupport
import Wire

/// `POST /pair` at the child and its answers at the parent: one message a line. A line of `+` lets time pass.
enum PairingFuzz: FuzzBody {
  static let name = "pairing"

  private static let start = Instant.zero
  private static let date = UnixTime(seconds: 1_800_000_000)

  private static func newChild() -> (PairingResponder, PairingResponder.Offer) {
    var child = PairingResponder(
      identity: BlindIdentity(number: 1), name: "Child", crypto: BlindPairingCrypto(), random: SeededGenerator(seed: 1))
    let offer = child.open(now: start)
    return (child, offer)
  }

  private static func newParents(_ offer: PairingResponder.Offer) -> [PairingInitiator] {
    [PairingInitiator.Means.code(offer.code), .link(offer.secret)].map { means in
      PairingInitiator(
        means, identity: BlindIdentity(number: 2), name: "Parent", crypto: BlindPairingCrypto(),
        random: SeededGenerator(seed: 2))
    }
  }

  /// A whole pairing with the code and one with the link: the requests, and the replies.
  static let seeds: [[UInt8]] =
    newParents(newChild().1).indices.flatMap { index -> [[UInt8]] in
      var (child, offer) = newChild()
      var parent = newParents(offer)[index]
      var requests: [[UInt8]] = []
      var replies: [[UInt8]] = []
      var next = try? parent.start()
      while let request = next {
        requests.append(PairingMessages.encode(request))
        guard let answer = try? child.handle(request, now: start, date: date) else { break }
        let reply =
          switch answer {
          case .reply(let reply), .paired(_, _, let reply), .settled(_, _, let reply): reply
          }
        replies.append(PairingMessages.encode(reply))
        next = (try? parent.receive(reply, date: date)).flatMap {
          if case .send(let request) = $0 { request } else { parent.verdict(index == 0 ? .confirm : .cancel) }
        }
      }
      return [requests, replies].map { Array($0.joined(separator: [UInt8(ascii: "\n")])) }
    } + [
      Array(#"{"step":"abandon","session":"AAAAAAAAAAAAAAAAAAAAAA"}"#.utf8), Array("+\n+\n{\"step\":\"begin\"}".utf8),
    ]

  static func run(_ input: [UInt8]) {
    var (child, offer) = newChild()
    var parents = newParents(offer)
    for index in parents.indices { _ = try? parents[index].start() }
    var now = start
    var answeredShares = 0
    for line in input.split(separator: UInt8(ascii: "\n"), maxSplits: 64).map(Array.init) {
      if line == [UInt8(ascii: "+")] {
        now += .seconds(7)
        child.handleTimeout(now: now)
      }
      if give(line, to: &child, now: now) { answeredShares += 1 }
      if let reply = try? PairingMessages.reply(line) {
        for index in parents.indices {
          guard case .paired(let record, let words, _)? = try? parents[index].receive(reply, date: date) else {
            continue
          }
          precondition(record.role == .child && words.words.count == CheckWords.count, "a child was paired")
          check(record)
        }
      }
      _ = PairingProblem.refusal(line)
    }
    precondition(answeredShares <= 3, "a window answers three guesses")
    child.handleTimeout(now: now + .seconds(600))
    precondition(child.nextDeadline == nil && !child.isOpen, "everything ends in time")
    while child.poll() != nil {}
  }

  /// Returns whether a guess was answered.
  private static func give(_ line: [UInt8], to child: inout PairingResponder, now: Instant) -> Bool {
    do throws(PairingRefusal) {
      let request = try PairingMessages.request(line)
      switch try child.handle(request, now: now, date: date) {
      case .reply(let reply):
        precondition((try? PairingMessages.reply(PairingMessages.encode(reply))) == reply, "replies can be read")
        if case (.share, .share) = (request, reply) { return true }
      case .paired(let record, _, _):
        precondition(record.role == .parent && !child.isOpen, "a parent was paired, once")
        check(record)
      case .settled(_, let pair, _):
        precondition(pair.utf8.count == 16, "verdicts are about a pair")
      }
    } catch {
      precondition(PairingProblem.refusal(PairingProblem(error).body) != nil, "refusals can be read")
    }
    return false
  }

  private static func check(_ record: PairRecord) {
    precondition(record.publicKey.count == IdentityKey.byteCount, "keys have one size")
    precondition(PairName.cleaned(record.name, fallback: "") == record.name, "names are clean")
    precondition(record.permissions.isSubset(of: .all), "permissions are known ones")
  }
}

/// Takes everything for valid, so that mutated messages reach the inner parts.
private struct BlindPairingCrypto: PairingCrypto {
  var hashes: any Hashes { BlindHashes() }

  func point(_ bytes: [UInt8]) -> P256Point? { bytes.first == 4 ? P256Point(checkedBytes: bytes) : nil }
  func scalar(reducing bytes: [UInt8]) -> P256Scalar { P256Scalar(reducedBytes: Array(bytes.prefix(32))) }
  func multiplyGenerator(by scalar: P256Scalar) -> P256Point? {
    P256Point(checkedBytes: [4] + scalar.bytes + scalar.bytes)
  }
  func multiply(_ point: P256Point, by scalar: P256Scalar) -> P256Point? { point }
  func add(_ left: P256Point, _ right: P256Point) -> P256Point? { left }
  func negate(_ point: P256Point) -> P256Point { point }

  func stretch(password: [UInt8], salt: [UInt8], iterations: Int, count: Int) -> [UInt8] {
    Array(repeating: 5, count: count)
  }

  func seal(_ plaintext: [UInt8], key: [UInt8], authenticating: [UInt8]) -> [UInt8] {
    plaintext + Array(repeating: 0, count: 16)
  }

  func open(_ sealed: [UInt8], key: [UInt8], authenticating: [UInt8]) -> [UInt8]? {
    sealed.count >= 16 ? Array(sealed.dropLast(16)) : nil
  }

  func isSignature(_ signature: [UInt8], over message: [UInt8], by publicKey: [UInt8]) -> Bool { true }
}

private struct BlindIdentity: IdentitySigner {
  let number: UInt8
  var publicKeySPKI: [UInt8] { Array(repeating: number, count: IdentityKey.byteCount) }

  func sign(_ message: [UInt8]) -> [UInt8] { Array(repeating: number, count: IdentityKey.signatureByteCount) }
}
