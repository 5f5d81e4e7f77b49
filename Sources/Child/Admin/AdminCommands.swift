internal import FoundationEssentials
internal import JSON
internal import Logging
internal import NIOCore
internal import Pairing
internal import Server
internal import Storage
internal import Wire

/// Carries out what the commands ask over the daemon's socket. Confined to the event loop, hence `@unchecked Sendable`.
final class AdminCommands: @unchecked Sendable {
  private let loop: any EventLoop
  private let tokens: TokenBook
  private let pairing: PairingService
  private let viewers: Viewers
  private let report: StatusReporter
  private let logger: Logger

  init(
    loop: any EventLoop, tokens: TokenBook, pairing: PairingService, viewers: Viewers, report: StatusReporter,
    logger: Logger
  ) {
    self.loop = loop
    self.tokens = tokens
    self.pairing = pairing
    self.viewers = viewers
    self.report = report
    self.logger = logger
  }

  func respond(to line: [UInt8]) -> EventLoopFuture<[UInt8]> {
    loop.preconditionInEventLoop()
    var response = AdminProtocol.Response()
    if let request = try? JSON(line, maximumBytes: AdminProtocol.maximumBytes).decode(AdminProtocol.Request.self) {
      switch request {
      case .pairOpen: return opened().map { Self.response(encodeJSON($0)) }
      case .pairWait: return pairing.waitForEnd().map { Self.response(encodeJSON(PairingEnded($0))) }
      default: break
      }
      do {
        response.result = try perform(request)
      } catch {
        response.error = "\(error)"
      }
    } else {
      response.error = "the daemon does not know this command; is it of another version?"
    }
    return loop.makeSucceededFuture(Array(encodeJSON(response).utf8))
  }

  private static func response(_ result: String) -> [UInt8] {
    Array(encodeJSON(AdminProtocol.Response(result: result)).utf8)
  }

  private func perform(_ request: AdminProtocol.Request) throws -> String {
    switch request {
    case .status:
      return encodeJSON(report.report())
    case .tokenAdd(let name, let allow):
      guard let permissions = Permissions(names: allow) else {
        throw AdminError(
          "unknown permission in \(allow.joined(separator: ",")); choose from view, listen, talk, control")
      }
      let token = try tokens.store.add(name: name, allow: permissions)
      logger.notice("token made", metadata: ["name": "\(name)", "allow": "\(allow.joined(separator: ","))"])
      return encodeJSON(TokenAdded(name: name, token: token, allow: permissions.names))
    case .tokenList:
      return encodeJSON(
        tokens.store.tokens.map { record in
          TokenRow(
            name: record.name, allow: record.allow.names,
            createdAt: record.createdAt.formatted(.iso8601), lastUsedAt: record.lastUsedAt?.formatted(.iso8601))
        })
    case .tokenRevoke(let name):
      try tokens.store.revoke(name: name)
      logger.notice("token revoked", metadata: ["name": "\(name)"])
      viewers.end { $0.pair == nil && $0.name == name }
      return encodeJSON(["revoked": name])
    case .pairOpen, .pairWait:
      preconditionFailure("answered later")
    case .pairClose:
      pairing.close()
      return "{}"
    case .pairs:
      return encodeJSON(PairList(pairs: pairing.records.map { .init($0) }))
    case .unpair(let parent):
      let records = try parent.map { [try self.record($0)] } ?? pairing.records
      for record in records { try pairing.revoke(id: record.id) }
      return encodeJSON(PairList(pairs: records.map { .init($0) }))
    }
  }

  private func opened() -> EventLoopFuture<PairingOpened> {
    let bound = NIOLoopBound(report, eventLoop: loop)
    return pairing.open().map { offer, time in
      PairingOpened(
        code: "\(offer.code)", link: "\(PairingLink(origin: bound.value.origin, secret: offer.secret))",
        expiresAt: Date(timeIntervalSinceNow: time.inSeconds).formatted(.iso8601))
    }
  }

  private func record(_ text: String) throws -> PairRecord {
    switch pairing.find(text) {
    case .found(let record): return record
    case .none: throw AdminError("no parent is called \"\(text)\"; `cradle-child pairs` lists them")
    case .ambiguous(let records):
      throw AdminError(
        "several parents are called \"\(text)\"; name the id: \(records.map(\.id).joined(separator: ", "))")
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
    }
  }
}

extension PairList.Row {
  init(_ record: PairRecord) {
    self.init(
      id: record.id, name: record.name, permissions: record.permissions.names, createdAt: record.createdAt.text,
      lastSeenAt: record.lastSeenAt?.text, expiresAt: record.expiresAt?.text)
  }
}

extension UnixTime {
  /// RFC 3339, UTC.
  var text: String { Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601) }
}

/// A refusal in words.
private struct AdminError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The token store, shared by HTTP and the commands. Confined to the event loop, hence `@unchecked Sendable`.
final class TokenBook: @unchecked Sendable {
  var store: TokenStore

  init(_ store: TokenStore) {
    self.store = store
  }
}
