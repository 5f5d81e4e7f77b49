public import Wire

extension PairingResponder {
  /// Answers one request.
  /// - Parameters:
  ///   - now: Decides about the window, the delays and the invites.
  ///   - date: Goes into the record.
  /// - Throws: `PairingRefusal`, for the parent.
  public mutating func handle(
    _ request: PairingRequest, now: Instant, date: UnixTime
  ) throws(PairingRefusal) -> Answer {
    handleTimeout(now: now)
    switch request {
    case .begin:
      let opening = try window.admit(now: now)
      return .reply(.parameters(salt: opening.salt, iterations: configuration.iterations))
    case .share(let salt, let share):
      return .reply(try answer(share: share, salt: salt, now: now))
    case .link(let id, let publicKey, let nonce):
      return .reply(try answer(link: id, publicKey: publicKey, nonce: nonce, now: now))
    case .finish(let id, let confirmation, let sealed):
      guard let session = sessions[id] else { throw .unknownSession }
      switch session.stage {
      case .code(let verifier, let transcript, let terms):
        return try finish(
          code: verifier, transcript: transcript, terms: terms, session: id, confirmation: confirmation,
          sealed: sealed, date: date)
      case .link(let link, let proof, let parentKey, let terms):
        return try finish(
          link: link, proof: proof, parentKey: parentKey, terms: terms, session: id, confirmation: confirmation,
          sealed: sealed, date: date)
      }
    case .abandon(let id):
      guard sessions[id] != nil, let left = fail(session: id) else { throw .unknownSession }
      throw .wrongCode(triesLeft: left)
    }
  }

  // MARK: - With a code

  private mutating func answer(share: [UInt8], salt: [UInt8], now: Instant) throws(PairingRefusal) -> PairingReply {
    let opening = try window.admit(now: now)
    // The parameters of an earlier window: its code is worth nothing here, and need not cost a try.
    guard salt == opening.salt else { throw .windowClosed }
    let verifier: SPAKE2PlusVerifier
    do throws(SPAKE2PlusError) {
      verifier = try SPAKE2PlusVerifier(
        names: PairingBytes.names(salt: salt, iterations: configuration.iterations), record: opening.record,
        y: crypto.randomScalar(using: &random), proverShare: share, crypto: crypto)
    } catch {
      throw .badMessage("the share is no point of P-256")
    }
    let session = newSessionID()
    let transcript = PairingBytes.codeTranscript(
      salt: salt, iterations: configuration.iterations, shareP: share, session: session, shareV: verifier.share,
      hashes: crypto.hashes)
    window.spend(session: session, now: now)
    sessions[session] = Session(
      stage: .code(verifier, transcript: transcript, opening.terms), deadline: now + configuration.sessionDuration)
    return .share(session: session, share: verifier.share, confirmation: verifier.confirmation)
  }

  private mutating func finish(
    code verifier: SPAKE2PlusVerifier, transcript: [UInt8], terms: PairingTerms, session: [UInt8],
    confirmation: [UInt8], sealed: [UInt8], date: UnixTime
  ) throws(PairingRefusal) -> Answer {
    var verifier = verifier
    let key: [UInt8]
    do throws(SPAKE2PlusError) {
      key = try verifier.receive(confirmation: confirmation)
    } catch {
      throw .wrongCode(triesLeft: fail(session: session) ?? 0)
    }
    let introductions = Introductions(agreedKey: key, transcript: transcript, crypto: crypto)
    guard let parent = introductions.openParent(sealed), parent.publicKey != identity.publicKeySPKI else {
      fail(session: session)
      throw .badMessage("the introduction does not fit")
    }
    let answer = pair(with: parent, introductions, terms: terms, date: date, by: .code)
    closeWindow(.paired)
    return answer
  }

  // MARK: - With a link

  private mutating func answer(
    link id: [UInt8], publicKey: [UInt8], nonce: [UInt8], now: Instant
  ) throws(PairingRefusal) -> PairingReply {
    guard let invite = invites[id] else { throw .unknownLink }
    guard publicKey.count == IdentityKey.byteCount, nonce.count == PairingSize.nonce else {
      throw .badMessage("a key or a nonce of another size")
    }
    guard publicKey != identity.publicKeySPKI else { throw .badMessage("this is the child's own key") }
    // One run for each link: who begins anew has given up the one before.
    sessions = sessions.filter { _, session in
      if case .link(id, _, _, _) = session.stage { false } else { true }
    }
    let session = newSessionID()
    let ownNonce = randomBytes(PairingSize.nonce, using: &random)
    let proof = LinkProof(
      secret: invite.secret, session: session, parentKey: publicKey, parentNonce: nonce,
      childKey: identity.publicKeySPKI, childNonce: ownNonce, hashes: crypto.hashes)
    sessions[session] = Session(
      stage: .link(id: id, proof, parentKey: publicKey, invite.terms),
      deadline: min(now + configuration.sessionDuration, invite.expiresAt))
    return .link(session: session, publicKey: identity.publicKeySPKI, nonce: ownNonce, proof: proof.childProof)
  }

  private mutating func finish(
    link id: [UInt8], proof: LinkProof, parentKey: [UInt8], terms: PairingTerms, session: [UInt8],
    confirmation: [UInt8], sealed: [UInt8], date: UnixTime
  ) throws(PairingRefusal) -> Answer {
    sessions[session] = nil
    guard constantTimeEqual(proof.parentProof, confirmation) else {
      emit(.wrongProof)
      throw .unknownLink
    }
    let introductions = Introductions(agreedKey: proof.agreedKey, transcript: proof.transcript, crypto: crypto)
    guard let parent = introductions.openParent(sealed), parent.publicKey == parentKey else {
      throw .badMessage("the introduction does not fit")
    }
    let answer = pair(with: parent, introductions, terms: terms, date: date, by: .link)
    let ofWindow = invites[id]?.belongsToWindow ?? false
    drop(link: id)
    if ofWindow { closeWindow(.paired) }
    return answer
  }

  // MARK: - With either

  private mutating func pair(
    with parent: Introduction, _ introductions: Introductions, terms: PairingTerms, date: UnixTime,
    by means: PairingEvent.Means
  ) -> Answer {
    let name = terms.name.map { PairName.cleaned($0, fallback: parent.name) } ?? parent.name
    let grant = PairingGrant(name: name, permissions: terms.permissions, expiresAt: terms.expiresAt)
    let record = PairRecord(
      id: IdentityKey.id(publicKeySPKI: parent.publicKey, hashes: crypto.hashes), name: name, role: .parent,
      publicKey: parent.publicKey, permissions: terms.permissions, createdAt: date, expiresAt: terms.expiresAt)
    let words = introductions.checkWords(parentKey: parent.publicKey, childKey: identity.publicKeySPKI)
    let sealed = introductions.sealChild(
      name: PairName.cleaned(self.name, fallback: "Child"), identity: identity, parentKey: parent.publicKey,
      grant: grant)
    emit(.paired(record, words, means))
    return .paired(record, words, .finished(sealed: sealed))
  }

  private mutating func newSessionID() -> [UInt8] {
    randomBytes(PairingSize.session, using: &random)
  }
}
