internal import Wire

/// Why the parent's end of a pairing gave up.
public enum PairingFailure: Error, Hashable, Sendable {
  /// The code is not the child's, or somebody who does not know it answers in the child's place. Tell the child with
  /// this request, so that it need not wait; its answer does not matter.
  case wrongCode(tell: PairingRequest)
  /// Somebody who does not know the link's secret answers.
  case wrongLink
  /// The answer breaks the protocol; the text names the rule.
  case badReply(String)
}

/// The parent's end of one pairing: a request out, a reply in, until there is a record to store.
public struct PairingInitiator: Sendable {
  public enum Means: Sendable {
    case code(PairingCode)
    case link(PairingSecret)
  }

  /// What comes after a reply.
  public enum Step: Sendable {
    case send(PairingRequest)
    /// Store the record. The child has stored its own.
    case paired(PairRecord, CheckWords, PairingGrant)
  }

  private enum State: Sendable {
    case new(Means)
    case begun(PairingCode)
    case shared(SPAKE2PlusProver, salt: [UInt8], iterations: Int)
    case linking(PairingSecret, nonce: [UInt8])
    /// The child's key is known beforehand with a link.
    case introduced(Introductions, childKey: [UInt8]?)
    case ended
  }

  private let identity: any IdentitySigner
  private let name: String
  private let crypto: any PairingCrypto
  private var random: any RandomNumberGenerator & Sendable
  private var state: State

  /// - Parameter name: What this parent is called; the child may be told to call it otherwise.
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
      let nonce = randomBytes(PairingSize.nonce, using: &random)
      state = .linking(secret, nonce: nonce)
      return .link(
        id: PairingBytes.linkID(secret, hashes: crypto.hashes), publicKey: identity.publicKeySPKI, nonce: nonce)
    }
  }

  /// Takes the child's answer to the last request. Whatever does not fit ends the pairing: it begins anew with a new
  /// value. The answer to `begin` takes as long as the child's number of iterations of PBKDF2.
  /// - Parameter date: Goes into the record.
  public mutating func receive(_ reply: PairingReply, date: UnixTime) throws(PairingFailure) -> Step {
    let before = state
    state = .ended
    switch (before, reply) {
    case (.begun(let code), .parameters(let salt, let iterations)):
      return .send(try share(code: code, salt: salt, iterations: iterations))
    case (.shared(let prover, let salt, let iterations), .share(let session, let share, let confirmation)):
      return .send(
        try confirm(
          prover, salt: salt, iterations: iterations, session: session, share: share, confirmation: confirmation))
    case (.linking(let secret, let nonce), .link(let session, let publicKey, let childNonce, let proof)):
      return .send(
        try prove(
          secret, nonce: nonce, session: session, childKey: publicKey, childNonce: childNonce, proof: proof))
    case (.introduced(let introductions, let childKey), .finished(let sealed)):
      return try finish(introductions, childKey: childKey, sealed: sealed, date: date)
    default: throw .badReply("it does not answer the request")
    }
  }

  private mutating func share(
    code: PairingCode, salt: [UInt8], iterations: Int
  ) throws(PairingFailure) -> PairingRequest {
    guard salt.count == PairingSize.salt, PairingSize.iterations.contains(iterations) else {
      throw .badReply("its parameters are out of bounds")
    }
    let names = PairingBytes.names(salt: salt, iterations: iterations)
    let secrets = SPAKE2PlusSecrets(
      password: code.digits, names: names, salt: salt, iterations: iterations, crypto: crypto)
    let prover: SPAKE2PlusProver
    do throws(SPAKE2PlusError) {
      prover = try SPAKE2PlusProver(
        names: names, secrets: secrets, x: crypto.randomScalar(using: &random), crypto: crypto)
    } catch {
      throw .badReply("its parameters give no share")
    }
    state = .shared(prover, salt: salt, iterations: iterations)
    return .share(salt: salt, share: prover.share)
  }

  private mutating func confirm(
    _ prover: SPAKE2PlusProver, salt: [UInt8], iterations: Int, session: [UInt8], share: [UInt8],
    confirmation: [UInt8]
  ) throws(PairingFailure) -> PairingRequest {
    guard session.count == PairingSize.session else { throw .badReply("its fields have other sizes") }
    var prover = prover
    let outcome: SPAKE2PlusProver.Outcome
    do throws(SPAKE2PlusError) {
      outcome = try prover.receive(share: share, confirmation: confirmation)
    } catch {
      if error == .wrongConfirmation { throw .wrongCode(tell: .abandon(session: session)) }
      throw .badReply("its share is no point of P-256")
    }
    let transcript = PairingBytes.codeTranscript(
      salt: salt, iterations: iterations, shareP: prover.share, session: session, shareV: share,
      hashes: crypto.hashes)
    let introductions = Introductions(agreedKey: outcome.sharedKey, transcript: transcript, crypto: crypto)
    state = .introduced(introductions, childKey: nil)
    return .finish(
      session: session, confirmation: outcome.confirmation,
      sealed: introductions.sealParent(name: name, identity: identity))
  }

  private mutating func prove(
    _ secret: PairingSecret, nonce: [UInt8], session: [UInt8], childKey: [UInt8], childNonce: [UInt8], proof: [UInt8]
  ) throws(PairingFailure) -> PairingRequest {
    guard session.count == PairingSize.session, childKey.count == IdentityKey.byteCount,
      childNonce.count == PairingSize.nonce
    else { throw .badReply("its fields have other sizes") }
    guard childKey != identity.publicKeySPKI else { throw .badReply("this is the parent's own key") }
    let own = LinkProof(
      secret: secret, session: session, parentKey: identity.publicKeySPKI, parentNonce: nonce, childKey: childKey,
      childNonce: childNonce, hashes: crypto.hashes)
    guard constantTimeEqual(own.childProof, proof) else { throw .wrongLink }
    let introductions = Introductions(agreedKey: own.agreedKey, transcript: own.transcript, crypto: crypto)
    state = .introduced(introductions, childKey: childKey)
    return .finish(
      session: session, confirmation: own.parentProof,
      sealed: introductions.sealParent(name: name, identity: identity))
  }

  private func finish(
    _ introductions: Introductions, childKey: [UInt8]?, sealed: [UInt8], date: UnixTime
  ) throws(PairingFailure) -> Step {
    guard let (child, grant) = introductions.openChild(sealed, parentKey: identity.publicKeySPKI),
      childKey == nil || childKey == child.publicKey, child.publicKey != identity.publicKeySPKI
    else { throw .badReply("the introduction does not fit") }
    let record = PairRecord(
      id: IdentityKey.id(publicKeySPKI: child.publicKey, hashes: crypto.hashes), name: child.name, role: .child,
      publicKey: child.publicKey, permissions: grant.permissions, createdAt: date, expiresAt: grant.expiresAt)
    let words = introductions.checkWords(parentKey: identity.publicKeySPKI, childKey: child.publicKey)
    return .paired(record, words, grant)
  }
}
