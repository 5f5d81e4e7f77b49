public import Wire

extension PairingResponder {
  /// Answers one request.
  /// - Parameters:
  ///   - now: Determines the state of the window, the delays and the invites.
  ///   - date: Goes into the record.
  ///   - known: The parents that are paired now.
  /// - Throws: `PairingRefusal`, for the parent.
  public mutating func handle(
    _ request: PairingRequest, now: Instant, date: UnixTime, known: Known = { _ in nil }
  ) throws(PairingRefusal) -> Answer {
    handleTimeout(now: now)
    switch request {
    case .begin:
      let opening = try window.admit(now: now)
      return .reply(.parameters(salt: opening.salt, iterations: configuration.iterations))
    case .share(let salt, let share):
      return .reply(try answer(share: share, salt: salt, now: now))
    case .link(let id, let share):
      return .reply(try answer(share: share, link: id, now: now))
    case .finish(let id, let confirmation, let sealed, let confirms):
      guard let session = sessions[id] else { throw .unknownSession }
      let (parent, introductions) = try open(session, id: id, confirmation: confirmation, sealed: sealed)
      return try pair(
        with: parent, introductions, session, id: id, confirms: confirms, now: now, date: date, known: known)
    case .abandon(let id):
      guard sessions[id] != nil, let left = fail(session: id) else { throw .unknownSession }
      throw .wrongCode(triesLeft: left)
    case .verdict(let verdict, let session, let proof):
      guard let pair = verdicts.pair(verdict, session: session, proof: proof) else { throw .unknownSession }
      return .settled(verdict, pair: pair, .settled(verdict))
    }
  }

  // MARK: - The proof

  private mutating func answer(share: [UInt8], salt: [UInt8], now: Instant) throws(PairingRefusal) -> PairingReply {
    let opening = try window.admit(now: now)
    // Parameters of an earlier window: its code is invalid here, and should not cost a try.
    guard salt == opening.salt else { throw .windowClosed }
    let (id, reply) = try begin(
      share: share, names: PairingBytes.names(salt: salt, iterations: configuration.iterations),
      record: opening.record, terms: opening.terms, deadline: now + configuration.sessionDuration)
    window.spend(session: id, now: now)
    return reply
  }

  /// Wrong tries are not counted: nobody guesses 128 bits.
  private mutating func answer(share: [UInt8], link id: [UInt8], now: Instant) throws(PairingRefusal) -> PairingReply {
    guard let invite = invites[id] else { throw .unknownLink }
    let (session, reply) = try begin(
      share: share, names: PairingBytes.names(link: id), record: invite.record, terms: invite.terms, link: id,
      deadline: min(now + configuration.sessionDuration, invite.expiresAt))
    // One run per link: starting again abandons the previous one.
    sessions = sessions.filter { other, run in other == session || run.link != id }
    return reply
  }

  private mutating func begin(
    share: [UInt8], names: SPAKE2PlusNames, record: SPAKE2PlusRecord, terms: PairingTerms, link: [UInt8]? = nil,
    deadline: Instant
  ) throws(PairingRefusal) -> (session: [UInt8], PairingReply) {
    let verifier: SPAKE2PlusVerifier
    do throws(SPAKE2PlusError) {
      verifier = try SPAKE2PlusVerifier(
        names: names, record: record, y: crypto.randomScalar(using: &random), proverShare: share, crypto: crypto)
    } catch {
      throw .badMessage("the share is no point of P-256")
    }
    let id = randomBytes(PairingSize.session, using: &random)
    let transcript = PairingBytes.transcript(
      names: names, shareP: share, session: id, shareV: verifier.share, hashes: crypto.hashes)
    sessions[id] = Session(verifier: verifier, transcript: transcript, terms: terms, link: link, deadline: deadline)
    return (id, .share(session: id, share: verifier.share, confirmation: verifier.confirmation))
  }

  /// Checks the proof, and reads who the parent is.
  private mutating func open(
    _ session: Session, id: [UInt8], confirmation: [UInt8], sealed: [UInt8]
  ) throws(PairingRefusal) -> (Introduction, Introductions) {
    var verifier = session.verifier
    let key: [UInt8]
    do throws(SPAKE2PlusError) {
      key = try verifier.receive(confirmation: confirmation)
    } catch {
      let triesLeft = fail(session: id)
      guard session.link != nil else { throw .wrongCode(triesLeft: triesLeft ?? 0) }
      emit(.wrongProof)
      throw .unknownLink
    }
    let introductions = Introductions(agreedKey: key, transcript: session.transcript, crypto: crypto)
    guard let parent = introductions.openParent(sealed), parent.publicKey != identity.publicKeySPKI else {
      fail(session: id)
      throw .badMessage("the introduction does not fit")
    }
    return (parent, introductions)
  }

  // MARK: - The pairing

  private mutating func pair(
    with parent: Introduction, _ introductions: Introductions, _ session: Session, id: [UInt8], confirms: Bool,
    now: Instant, date: UnixTime, known: Known
  ) throws(PairingRefusal) -> Answer {
    let pairID = IdentityKey.id(publicKeySPKI: parent.publicKey, hashes: crypto.hashes)
    let before = known(pairID)
    guard let terms = before.map({ session.terms.extending($0) }) ?? session.terms else {
      fail(session: id)
      throw .alreadyPaired
    }
    let name = terms.name.map { PairName.cleaned($0, fallback: parent.name) } ?? parent.name
    let wasCompleted = before?.isCompleted == true
    let record = PairRecord(
      id: pairID, name: name, role: .parent, publicKey: parent.publicKey, permissions: terms.permissions,
      createdAt: date, lastSeenAt: before?.lastSeenAt, expiresAt: terms.expiresAt,
      awaitsConfirmation: confirms && !wasCompleted)
    let words = introductions.checkWords(parentKey: parent.publicKey, childKey: identity.publicKeySPKI)
    let grant = PairingGrant(name: name, permissions: terms.permissions, expiresAt: terms.expiresAt)
    let sealed = introductions.sealChild(
      name: PairName.cleaned(self.name, fallback: "Child"), identity: identity, parentKey: parent.publicKey,
      grant: grant)
    verdicts.add(
      .init(
        session: id, pair: pairID, proofs: introductions.verdictProofs, endsAt: now + configuration.verdictDuration))
    emit(.paired(record, words, session.link == nil ? .code : .link))
    sessions[id] = nil
    let usesWindow = session.link.map { invites[$0]?.belongsToWindow ?? false } ?? true
    if let link = session.link { drop(link: link) }
    if usesWindow { closeWindow(.paired) }
    return .paired(record, words, .finished(sealed: sealed))
  }
}
