internal import FoundationEssentials
internal import Logging
internal import NIOCore
internal import Pairing
internal import Server
internal import Storage

/// Carries out what the commands ask over the daemon's socket. Confined to the event loop, hence `@unchecked Sendable`.
final class AdminCommands: @unchecked Sendable {
  private let loop: any EventLoop
  private let tokens: TokenBook
  private let viewers: Viewers
  private let report: StatusReporter
  private let logger: Logger

  init(loop: any EventLoop, tokens: TokenBook, viewers: Viewers, report: StatusReporter, logger: Logger) {
    self.loop = loop
    self.tokens = tokens
    self.viewers = viewers
    self.report = report
    self.logger = logger
  }

  func respond(to line: [UInt8]) -> EventLoopFuture<[UInt8]> {
    loop.preconditionInEventLoop()
    var response = AdminProtocol.Response()
    if let request = try? JSONDecoder().decode(AdminProtocol.Request.self, from: Data(line)) {
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
      viewers.end { $0.name == name }
      return encodeJSON(["revoked": name])
    }
  }
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
