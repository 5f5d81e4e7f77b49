internal import Control
internal import FoundationEssentials
internal import JSON
internal import Logging
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
  private let logger: Logger
  /// What is wrong with the machine at this moment.
  lazy var conditions: () -> EventLoopFuture<[HealthLog.Condition]> = { [loop] in loop.makeSucceededFuture([]) }

  init(
    loop: any EventLoop, tokens: TokenBook, pairing: PairingService, report: StatusReporter, notifiers: NotifierBoard,
    recording: RecordingService, meetings: MeetingBoard, servers: ServerBook, certificate: ServerCertificate,
    configurationFile: String?, logger: Logger
  ) {
    self.configurationFile = configurationFile
    self.loop = loop
    self.tokens = tokens
    self.pairing = pairing
    self.report = report
    self.notifiers = notifiers
    self.recording = recording
    self.meetings = meetings
    self.servers = servers
    self.certificate = certificate
    self.logger = logger
  }

  func respond(to line: [UInt8]) -> EventLoopFuture<[UInt8]> {
    loop.preconditionInEventLoop()
    var response = AdminProtocol.Response()
    if let request = try? JSON(line, maximumBytes: AdminProtocol.maximumBytes).decode(AdminProtocol.Request.self) {
      switch request {
      case .status: return status().map { Self.response(encodeJSON($0)) }
      case .pairOpen(let admin, let recordings):
        return opened(admin: admin, recordings: recordings).map { Self.response(encodeJSON($0)) }
          .flatMapErrorThrowing { error in
            guard case PairingService.OfferRefusal.cannotStore(let reason)? = error as? PairingService.OfferRefusal
            else {
              throw error
            }
            var response = AdminProtocol.Response()
            response.error = "a pairing could not be stored, so none is opened: \(reason)"
            return Array(encodeJSON(response).utf8)
          }
      case .pairWait: return pairing.waitForEnd().map { Self.response(encodeJSON(PairingEnded($0))) }
      case .notifyTest(let name):
        if let tests = notifiers.test(name, on: loop) {
          return tests.map { Self.response(encodeJSON(NotifyTests(tests: $0))) }
        }
      case .recordings: return recording.list().map { Self.response(encodeJSON($0)) }
      default: break
      }
      do {
        return stored(request, try perform(request))
      } catch {
        response.error = "\(error)"
      }
    } else {
      response.error = "the daemon does not know this command; is it of another version?"
    }
    return loop.makeSucceededFuture(Array(encodeJSON(response).utf8))
  }

  /// The answer once what it says is on disk.
  private func stored(_ request: AdminProtocol.Request, _ result: String) -> EventLoopFuture<[UInt8]> {
    let bound = NIOLoopBound(self, eventLoop: loop)
    let stored: EventLoopFuture<Void>
    switch request {
    case .tokenAdd, .tokenRevoke: stored = tokens.stored(on: loop)
    case .unpair: stored = pairing.stored()
    default: return loop.makeSucceededFuture(Self.response(result))
    }
    return stored.map { _ -> [UInt8] in
      if case .tokenAdd(let name, _, _) = request { bound.value.tokens.logMade(name) }
      return Self.response(result)
    }.flatMapErrorThrowing { error in
      var response = AdminProtocol.Response()
      if case .tokenAdd(let name, _, _) = request {
        bound.value.tokens.withdraw(name)
        response.error = "it could not be stored, so nothing has changed: \(error)"
      } else {
        response.error =
          "removed, and not kept yet: \(error). It has no access now. It is written as soon as it can be; until then a "
          + "restart of the daemon would bring it back"
      }
      return Array(encodeJSON(response).utf8)
    }
  }

  private static func response(_ result: String) -> [UInt8] {
    Array(encodeJSON(AdminProtocol.Response(result: result)).utf8)
  }

  private func perform(_ request: AdminProtocol.Request) throws -> String {
    switch request {
    case .tokenAdd(let name, let allow, let seconds):
      return try encodeJSON(addToken(name: name, allow: allow, seconds: seconds))
    case .tokenList:
      let now = pairing.now.date
      return encodeJSON(tokens.records.map { TokenRow($0, now: now) })
    case .tokenRevoke(let name):
      do throws(StoreError) {
        try tokens.revoke(name: name)
      } catch {
        throw AdminError(ofTokens: error)
      }
      return encodeJSON(["revoked": name])
    case .record(let begins):
      do throws(ControlError) {
        if begins { try recording.begin(by: nil) } else { try recording.end() }
      } catch {
        throw AdminError(error.message)
      }
      return "{}"
    case .away:
      return encodeJSON(
        AwayReport(
          relay: servers.away.relay.rawValue, meetings: meetings.meetings,
          lentServers: meetings.lentServers.map(\.description)))
    case .certificate(let renew):
      if renew { try certificate.renewRoot() }
      return encodeJSON(certificate.report)
    case .notifyTest(let name):
      throw unknownNotifier(name)
    case .status, .pairOpen, .pairWait, .recordings:
      preconditionFailure("answered later")
    case .pairClose:
      pairing.close()
      return "{}"
    case .pairs:
      return encodeJSON(PairList(pairs: pairing.records.map { .init($0) }, hasOwner: pairing.hasOwner))
    case .unpair(let parent):
      let records = try parent.map { [try self.record($0)] } ?? pairing.records
      for record in records { try pairing.revoke(id: record.id) }
      if parent == nil { pairing.endOffers() }
      return encodeJSON(PairList(pairs: records.map { .init($0) }, hasOwner: pairing.hasOwner))
    case .invites:
      return encodeJSON(InviteList(invites: invites()))
    case .inviteRevoke(let id):
      return try encodeJSON(InviteList(invites: revokeInvite(id)))
    }
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
      status.alarms += [admin.recording.alarm].compactMap(\.self)
      status.alarms += conditions.filter { $0.level == .warning }.map(\.sentence)
      return status
    }
  }

  /// Ten years, in seconds: long enough for any device, and no sum overflows.
  private static let maximumTokenSeconds = 10 * 366 * 86_400

  private func addToken(name: String, allow: [String], seconds: Int?) throws -> TokenAdded {
    guard let permissions = Permissions(names: allow) else {
      throw AdminError(
        "unknown permission in \(allow.joined(separator: ",")); choose from view, listen, talk, control")
    }
    if let seconds, !(1...Self.maximumTokenSeconds).contains(seconds) {
      throw AdminError("a token can be good for 1 second to 10 years; leave --for out for one that does not expire")
    }
    if seconds != nil, !pairing.isDateKnown {
      throw AdminError(
        "the date is unknown yet, so a token cannot expire; sudo timedatectl set-ntp true, or leave --for out")
    }
    do throws(StoreError) {
      let (text, record) = try tokens.add(name: name, allow: permissions, for: seconds)
      return TokenAdded(
        name: name, token: text, allow: record.allow.names, expiresAt: record.expiresAt?.formatted(.iso8601))
    } catch {
      throw AdminError(ofTokens: error)
    }
  }

  // MARK: Pairing

  private func opened(admin: Bool, recordings: Bool) -> EventLoopFuture<PairingOpened> {
    let bound = NIOLoopBound((report, pairing), eventLoop: loop)
    return pairing.open(by: .administrator, admin: admin, recordings: recordings).map { opened in
      let links = bound.value.0.origins.map { "\(PairingLink(origin: $0, secret: opened.offer.secret))" }
      return PairingOpened(
        code: "\(opened.offer.code)", link: links[0], links: links,
        expiresAt: Date(timeIntervalSinceNow: opened.closesIn.inSeconds).formatted(.iso8601),
        allow: opened.terms.permissions.names, problem: bound.value.0.networkTrouble, hasOwner: bound.value.1.hasOwner)
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
      expiresAt: Date(timeIntervalSinceNow: time.inSeconds).formatted(.iso8601),
      accessExpiresAt: terms.expiresAt?.text)
  }

  private func revokeInvite(_ id: String?) throws -> [InviteList.Row] {
    let open = invites()
    guard let id else {
      pairing.endOffers()
      return open
    }
    guard let row = open.first(where: { $0.id == id }) else {
      throw AdminError("no invitation has the id \"\(id)\"; `cradle-child invites` lists them")
    }
    if id == InviteList.Row.windowID {
      pairing.close()
    } else {
      _ = pairing.revokeInvite(id: id)
    }
    return [row]
  }

  private func unknownNotifier(_ name: String?) -> AdminError {
    let names = notifiers.names
    guard let name, !names.isEmpty else {
      return AdminError("no notifier is configured: write one into `notify` of child.yaml, and restart the daemon")
    }
    return AdminError("no notifier is called \"\(name)\"; there are \(names.joined(separator: ", "))")
  }

  private func record(_ text: String) throws -> PairRecord {
    switch pairing.find(text) {
    case .found(let record): return record
    case .none: throw AdminError("no device is called \"\(text)\"; `cradle-child pairs` lists them")
    case .ambiguous(let records):
      throw AdminError(
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
      id: record.id, name: record.name, permissions: record.permissions.names, createdAt: record.createdAt.text,
      lastSeenAt: record.lastSeenAt?.text, expiresAt: record.expiresAt?.text, isCompleted: record.isCompleted)
  }
}

extension TokenRow {
  init(_ record: TokenRecord, now: Date) {
    self.init(
      name: record.name, allow: record.allow.names, createdAt: record.createdAt.formatted(.iso8601),
      lastUsedAt: record.lastUsedAt?.formatted(.iso8601), expiresAt: record.expiresAt?.formatted(.iso8601),
      isExpired: !record.isUsable(at: now))
  }
}

/// A refusal in words.
private struct AdminError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }

  /// What to do next when the token store refuses.
  init(ofTokens error: StoreError) {
    let choices = "choose from view, listen, talk, control"
    description =
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
      case .file, .damaged, .newerVersion, .invalidName: "\(error)"
      }
  }
}
