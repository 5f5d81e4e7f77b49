internal import Control
internal import FoundationEssentials
internal import Messages
internal import Monitoring
internal import NIOCore
internal import Pairing
internal import Server
internal import Storage
internal import TURN
internal import Wire

/// Carries out what the commands ask over the daemon's socket. Confined to the event loop, hence `@unchecked Sendable`.
final class AdminCommands: @unchecked Sendable {
  private let loop: any EventLoop
  private let tokens: TokenBook
  private let pairing: PairingService
  private let report: StatusReporter
  private let notifiers: NotifierBoard
  private let recording: RecordingService
  private let meetings: MeetingBoard
  private let servers: ServerBook
  private let certificate: ServerCertificate
  private let configurationFile: String?
  private let stateDirectory: String
  /// What is wrong with the machine at this moment.
  lazy var conditions: () -> EventLoopFuture<[HealthLog.Condition]> = { [loop] in loop.makeSucceededFuture([]) }

  init(
    loop: any EventLoop, tokens: TokenBook, pairing: PairingService, report: StatusReporter, notifiers: NotifierBoard,
    recording: RecordingService, meetings: MeetingBoard, servers: ServerBook, certificate: ServerCertificate,
    configurationFile: String?, stateDirectory: String
  ) {
    self.configurationFile = configurationFile
    self.stateDirectory = stateDirectory
    self.loop = loop
    self.tokens = tokens
    self.pairing = pairing
    self.report = report
    self.notifiers = notifiers
    self.recording = recording
    self.meetings = meetings
    self.servers = servers
    self.certificate = certificate
  }

  private lazy var router = makeRouter()

  func respond(to line: [UInt8]) -> EventLoopFuture<[UInt8]> {
    loop.preconditionInEventLoop()
    do throws(RefusedRequest) {
      let request = try ControlRequest(json: String(decoding: line, as: UTF8.self), named: router.named)
      return router.carryOut(request.command, ()).map { Self.line(.reply(to: request.id ?? "", $0)) }
        .flatMapErrorThrowing { error in
          Self.line(.refusal(to: request.id, error as? ControlError ?? ControlError(.unavailable, "\(error)")))
        }
    } catch {
      let words = "the daemon does not know this command; is it of another version?"
      return loop.makeSucceededFuture(Self.line(.refusal(to: error.id, ControlError(.unknownCommand, words))))
    }
  }

  private static func line(_ content: ControlMessage.Content) -> [UInt8] {
    Array(ControlMessage(id: "", content: content).json(maximumBytes: AdminProtocol.maximumBytes).utf8)
  }

  private func makeRouter() -> CommandRouter<Void> {
    unowned let me = self
    var router = CommandRouter<Void>(loop: loop)
    router.on(StatusShow.self) { _, _ in me.status() }
    router.on(AwayShow.self) { _, _ in
      AwayReport(
        relay: me.servers.away.relay.rawValue, meetings: me.meetings.meetings,
        lentServers: me.meetings.lentServers.map(\.description))
    }
    router.on(CertificateShow.self) { show, _ in
      let renewed = show.renew == true ? try me.certificate.renewRoot() : me.loop.makeSucceededFuture(())
      return renewed.assumeIsolated().map { me.certificate.report }.nonisolated()
    }
    router.on(NotifyTest.self) { test, _ in
      guard let tests = me.notifiers.test(test.name, on: me.loop) else { throw me.unknownNotifier(test.name) }
      return tests.map { NotifyTests(tests: $0) }
    }
    router.on(RecordingsShow.self) { _, _ in me.recording.list() }
    router.on(RecordingsStart.self) { _, _ in try me.recording.begin(by: nil) }
    router.on(RecordingsStop.self) { _, _ in try me.recording.end() }
    router.on(TokenAdd.self) { add, _ in try me.addToken(add) }
    router.on(TokenList.self) { _, _ in
      let now = me.pairing.now.date
      return me.tokens.records.map { TokenRow($0, now: now) }
    }
    router.on(TokenRevoke.self) { revoke, _ in
      let record: TokenRecord
      do throws(StoreError) {
        record = try me.tokens.revoke(name: revoke.name)
      } catch {
        throw ControlError(ofTokens: error)
      }
      return Self.kept(me.tokens.stored(on: me.loop), TokenRevoke.Reply(revoked: record.name))
    }
    router.on(PairOpen.self) { open, _ in me.opened(open) }
    router.on(PairWait.self) { _, _ in me.pairing.waitForEnd().map { PairingEnded($0) } }
    router.on(PairingClose.self) { _, _ in me.pairing.close() }
    router.on(PairsShow.self) { _, _ in me.list(me.pairing.records) }
    router.on(Unpair.self) { unpair, _ in
      let records = try unpair.parent.map { [try me.record($0)] } ?? me.pairing.records
      for record in records { try me.pairing.revoke(id: record.id) }
      if unpair.parent == nil { me.pairing.endOffers() }
      return Self.kept(me.pairing.stored(), me.list(records))
    }
    router.on(InvitesShow.self) { _, _ in InviteList(invites: me.invites()) }
    router.on(InviteRevoke.self) { revoke, _ in InviteList(invites: try me.revokeInvite(revoke.id)) }
    return router
  }

  /// The reply once what was removed is so on disk.
  private static func kept<Reply: Sendable>(_ stored: EventLoopFuture<Void>, _ reply: Reply) -> EventLoopFuture<Reply> {
    stored.map { reply }.flatMapErrorThrowing { error in
      throw ControlError(
        .internal,
        "removed, and not kept yet: \(error). It has no access now. It is written as soon as it can be; until then a "
          + "restart of the daemon would bring it back")
    }
  }

  private func list(_ records: [PairRecord]) -> PairList {
    PairList(pairs: records.map { .init($0) }, hasOwner: pairing.hasOwner)
  }

  private func status() -> EventLoopFuture<StatusReport> {
    let bound = NIOLoopBound(self, eventLoop: loop)
    return conditions().map { conditions in
      let admin = bound.value
      var status = admin.report.report()
      status.pairs = admin.pairing.records.count
      status.tokens = admin.tokens.records.count
      status.hasOwner = admin.pairing.hasOwner
      status.configurationFile = admin.configurationFile
      status.stateDirectory = admin.stateDirectory
      status.alarms += [admin.recording.alarm].compactMap(\.self)
      status.alarms += conditions.filter { $0.level == .warning }.map(\.sentence)
      return status
    }
  }

  /// Ten years, in seconds: long enough for any device, and no sum overflows.
  private static let maximumTokenSeconds = 10 * 366 * 86_400

  private func addToken(_ add: TokenAdd) throws(ControlError) -> EventLoopFuture<TokenAdded> {
    guard let permissions = Permissions(names: add.allow) else {
      throw ControlError(
        .badParameters,
        "unknown permission in \(add.allow.joined(separator: ",")); choose from view, listen, talk, control")
    }
    if let seconds = add.seconds, !(1...Self.maximumTokenSeconds).contains(seconds) {
      throw ControlError(
        .badParameters, "a token can be good for 1 second to 10 years; leave --for out for one that does not expire")
    }
    if add.seconds != nil, !pairing.isDateKnown {
      throw ControlError(
        .unavailable,
        "the date is unknown yet, so a token cannot expire; sudo timedatectl set-ntp true, or leave --for out")
    }
    let added: TokenAdded
    do throws(StoreError) {
      let (text, record) = try tokens.add(
        name: add.name, allow: permissions, for: add.seconds, isForRTSP: add.rtsp == true)
      added = TokenAdded(name: add.name, token: text, allow: record.allow.names, expiresAt: record.expiresAt)
    } catch {
      throw ControlError(ofTokens: error)
    }
    let bound = NIOLoopBound(tokens, eventLoop: loop)
    return tokens.stored(on: loop).map {
      bound.value.logMade(add.name)
      return added
    }.flatMapErrorThrowing { error in
      bound.value.withdraw(add.name)
      throw ControlError(.internal, "it could not be stored, so nothing has changed: \(error)")
    }
  }

  // MARK: Pairing

  private func opened(_ open: PairOpen) -> EventLoopFuture<PairingOpened> {
    let bound = NIOLoopBound((report, pairing), eventLoop: loop)
    return pairing.open(
      by: .administrator, admin: open.admin == true, recordings: open.recordings == true
    ).map { opened in
      let links = bound.value.0.origins.map { "\(PairingLink(origin: $0, secret: opened.offer.secret))" }
      return PairingOpened(
        code: "\(opened.offer.code)", link: links[0], links: links,
        expiresAt: Date(timeIntervalSinceNow: opened.closesIn.inSeconds),
        allow: opened.terms.permissions.names, problem: bound.value.0.networkTrouble, hasOwner: bound.value.1.hasOwner)
    }.flatMapErrorThrowing { error in
      guard case PairingService.OfferRefusal.cannotStore(let reason)? = error as? PairingService.OfferRefusal else {
        throw error
      }
      throw ControlError(.internal, "a pairing could not be stored, so none is opened: \(reason)")
    }
  }

  /// Every way in that is open now, the window first.
  private func invites() -> [InviteList.Row] {
    var rows: [InviteList.Row] = []
    if let (opening, time) = pairing.opening() {
      rows.append(row(InviteList.Row.windowID, opening.issuer, opening.terms, expiresIn: time))
    }
    return rows
      + pairing.invitations().map { invitation, time in
        row(invitation.id, invitation.issuer, invitation.terms, expiresIn: time)
      }
  }

  private func row(
    _ id: String, _ issuer: PairingIssuer, _ terms: PairingTerms, expiresIn time: Duration
  ) -> InviteList.Row {
    let parent: String? = if case .parent(let parent) = issuer { parent } else { nil }
    return InviteList.Row(
      id: id, name: terms.name, allow: terms.permissions.names, issuer: parent,
      issuerName: parent.flatMap { pairing.record(id: $0)?.name },
      expiresAt: Date(timeIntervalSinceNow: time.inSeconds),
      accessExpiresAt: terms.expiresAt?.date)
  }

  private func revokeInvite(_ id: String?) throws(ControlError) -> [InviteList.Row] {
    let open = invites()
    guard let id else {
      pairing.endOffers()
      return open
    }
    guard let row = open.first(where: { $0.id == id }) else {
      throw ControlError(.badParameters, "no invitation has the id \"\(id)\"; `cradle-child invites` lists them")
    }
    if id == InviteList.Row.windowID {
      pairing.close()
    } else {
      _ = pairing.revokeInvite(id: id)
    }
    return [row]
  }

  private func unknownNotifier(_ name: String?) -> ControlError {
    let names = notifiers.names
    guard let name, !names.isEmpty else {
      return ControlError(
        .badParameters, "no notifier is configured: write one into `notify` of child.yaml, and restart the daemon")
    }
    return ControlError(.badParameters, "no notifier is called \"\(name)\"; there are \(names.joined(separator: ", "))")
  }

  private func record(_ text: String) throws(ControlError) -> PairRecord {
    switch pairing.find(text) {
    case .found(let record): return record
    case .none: throw ControlError(.badParameters, "no device is called \"\(text)\"; `cradle-child pairs` lists them")
    case .ambiguous(let records):
      throw ControlError(
        .badParameters,
        "several devices are called \"\(text)\"; name one by its id, of which the first digits do: \(records.map(\.id).joined(separator: ", "))"
      )
    }
  }
}

extension PairingEnded {
  init(_ outcome: PairingService.Outcome) {
    switch outcome {
    case .paired(let record, let words):
      self.init(paired: Parent(id: record.id, name: record.name, words: "\(words)"), reason: nil)
    case .closed(let reason):
      self.init(paired: nil, reason: reason.words)
    case .notStored:
      self.init(paired: nil, reason: "the baby unit could not store the pairing; its log shows why")
    }
  }
}

extension PairList.Row {
  init(_ record: PairRecord) {
    self.init(
      id: record.id, name: record.name, permissions: record.permissions.names, createdAt: record.createdAt.date,
      lastSeenAt: record.lastSeenAt?.date, expiresAt: record.expiresAt?.date, isCompleted: record.isCompleted)
  }
}

extension TokenRow {
  init(_ record: TokenRecord, now: Date) {
    self.init(
      name: record.name, allow: record.allow.names, createdAt: record.createdAt,
      lastUsedAt: record.lastUsedAt, expiresAt: record.expiresAt,
      isExpired: !record.isUsable(at: now), rtsp: record.rtsp == nil ? nil : true)
  }
}

extension ControlError {
  /// What to do next when the token store refuses.
  fileprivate init(ofTokens error: StoreError) {
    let choices = "choose from view, listen, talk, control"
    let words =
      switch error {
      case .unknownName(let name): "no token is called \"\(name)\"; `cradle-child token list` lists them"
      case .duplicateName(let name):
        "there is a token \"\(name)\" already; choose another name, or revoke that one first: cradle-child token revoke "
          + "\"\(name)\""
      case .notAllowed(let names) where names.isEmpty: "a token needs a permission; \(choices)"
      case .notAllowed(let names): "a token cannot have \(names.joined(separator: ",")); \(choices)"
      case .full(let maximum):
        "there are \(maximum) tokens, which is the limit. `cradle-child token list` lists them, `cradle-child token "
          + "revoke NAME` makes room"
      case .file, .damaged, .newerVersion, .invalidName, .invalidUser: "\(error)"
      }
    self.init(.badParameters, words)
  }
}
