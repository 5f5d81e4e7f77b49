internal import Wire

/// Why the parent's end of a pairing failed.
public enum PairingFailure: Error, Hashable, Sendable {
  /// The code is wrong, or somebody who does not know it answers in the child's place. Send the child this request so
  /// that it need not wait; its answer does not matter.
  case wrongCode(tell: PairingRequest)
  /// The answering end does not know the link's secret.
  case wrongLink
  /// The answer violates the protocol; the text names the rule.
  case badReply(String)
}

/// The parent's end of one pairing: alternates requests and replies until there is a record to store.
public struct PairingInitiator: Sendable {
  public enum Means: Sendable {
    case code(PairingCode)
    case link(PairingSecret)
  }

  /// The next step after a reply.
  public enum Step: Sendable {
    case send(PairingRequest)
    /// Store the record. The child has stored its own.
    case paired(PairRecord, CheckWords, PairingGrant)
  }

  private enum State: Sendable {
    case new(Means)
    case begun(PairingCode)
    case shared(SPAKE2PlusProver, PairingEvent.Means)
    case introduced(Introductions, session: [UInt8])
    case paired(Introductions, session: [UInt8])
    case ended
  }

  private let identity: any IdentitySigner
  private let name: String
  private let crypto: any PairingCrypto
  private var random: any RandomNumberGenerator & Sendable
  private var state: State

  /// - Parameter name: This parent's own name; the child may use another one.
  public init(
    _ means: Means, identity: any IdentitySigner, name: String, crypto: any PairingCrypto,
    random: any RandomNumberGenerator & Sendable
  ) {
    self.identity = identity
    self.name = PairName.cleaned(name, fallback: "Parent")
    self.crypto = crypto
    self.random = random
    state = .new(means)
  }

  /// The first request. Throws `.badReply` when called twice.
  public mutating func start() throws(PairingFailure) -> PairingRequest {
    guard case .new(let means) = state else { throw .badReply("it has begun already") }
    switch means {
    case .code(let code):
      state = .begun(code)
      return .begin
    case .link(let secret):
      let id = PairingBytes.linkID(secret, hashes: crypto.hashes)
      let prover = try prover(.link(secret), names: PairingBytes.names(link: id))
      state = .shared(prover, .link)
      return .link(id: id, share: prover.share)
    }
  }

  /// Handles the child's answer to the last request. An unexpected answer ends the pairing; a new try needs a new
  /// value. The answer to `begin` takes the child's number of PBKDF2 iterations to process.
  /// - Parameter date: Goes into the record.
  public mutating func receive(_ reply: PairingReply, date: UnixTime) throws(PairingFailure) -> Step {
    let before = state
    state = .ended
    switch (before, reply) {
    case (.begun(let code), .parameters(let salt, let iterations)):
      return .send(try share(code: code, salt: salt, iterations: iterations))
    case (.shared(let prover, let means), .share(let session, let share, let confirmation)):
      return .send(try confirm(prover, means, session: session, share: share, confirmation: confirmation))
    case (.introduced(let introductions, let session), .finished(let sealed)):
      let step = try finish(introductions, sealed: sealed, date: date)
      state = .paired(introductions, session: session)
      return step
    default: throw .badReply("it does not answer the request")
    }
  }

  /// Reports to the child, once it is paired, what came of it: `confirm` when the pair is stored and nobody says that the check
  /// words differ, else `cancel`. Nil before that.
  public func verdict(_ verdict: PairingVerdict) -> PairingRequest? {
    guard case .paired(let introductions, let session) = state, let proof = introductions.verdictProofs[verdict] else {
      return nil
    }
    return .verdict(verdict, session: session, proof: proof)
  }

  private mutating func share(
    code: PairingCode, salt: [UInt8], iterations: Int
  ) throws(PairingFailure) -> PairingRequest {
    guard salt.count == PairingSize.salt, PairingSize.iterations.contains(iterations) else {
      throw .badReply("its parameters are out of bounds")
    }
    let prover = try prover(
      .code(code, salt: salt, iterations: iterations), names: PairingBytes.names(salt: salt, iterations: iterations))
    state = .shared(prover, .code)
    return .share(salt: salt, share: prover.share)
  }

  private mutating func prover(
    _ password: PairingPassword, names: SPAKE2PlusNames
  ) throws(PairingFailure) -> SPAKE2PlusProver {
    do throws(SPAKE2PlusError) {
      return try SPAKE2PlusProver(
        names: names, secrets: password.secrets(crypto: crypto), x: crypto.randomScalar(using: &random), crypto: crypto)
    } catch {
      throw .badReply("its parameters give no share")
    }
  }

  private mutating func confirm(
    _ prover: SPAKE2PlusProver, _ means: PairingEvent.Means, session: [UInt8], share: [UInt8], confirmation: [UInt8]
  ) throws(PairingFailure) -> PairingRequest {
    guard session.count == PairingSize.session else { throw .badReply("its fields have other sizes") }
    var prover = prover
    let outcome: SPAKE2PlusProver.Outcome
    do throws(SPAKE2PlusError) {
      outcome = try prover.receive(share: share, confirmation: confirmation)
    } catch {
      guard error == .wrongConfirmation else { throw .badReply("its share is no point of P-256") }
      throw means == .link ? .wrongLink : .wrongCode(tell: .abandon(session: session))
    }
    let transcript = PairingBytes.transcript(
      names: prover.names, shareP: prover.share, session: session, shareV: share, hashes: crypto.hashes)
    let introductions = Introductions(agreedKey: outcome.sharedKey, transcript: transcript, crypto: crypto)
    state = .introduced(introductions, session: session)
    return .finish(
      session: session, confirmation: outcome.confirmation,
      sealed: introductions.sealParent(name: name, identity: identity), confirms: true)
  }

  private func finish(
    _ introductions: Introductions, sealed: [UInt8], date: UnixTime
  ) throws(PairingFailure) -> Step {
    guard let (child, grant) = introductions.openChild(sealed, parentKey: identity.publicKeySPKI),
      child.publicKey != identity.publicKeySPKI
    else { throw .badReply("the introduction does not fit") }
    let record = PairRecord(
      id: IdentityKey.id(publicKeySPKI: child.publicKey, hashes: crypto.hashes), name: child.name, role: .child,
      publicKey: child.publicKey, permissions: grant.permissions, createdAt: date, expiresAt: grant.expiresAt)
    let words = introductions.checkWords(parentKey: identity.publicKeySPKI, childKey: child.publicKey)
    return .paired(record, words, grant)
  }
}
