public import Control
internal import Messages
public import Server

/// A command for the daemon's socket, whose permissions say who may give it. `recordings.start`, `recordings.stop` and
/// `pairing.close` are those of the control channel. Times are `Date`s, which are RFC 3339 in JSON.
public protocol DaemonCommand: ControlCommand {}

extension DaemonCommand {
  public static var requirement: Requirement { .session }
  /// The handler says what is wrong with it, as it is for whoever typed it.
  static var anyText: ClosedRange<Int> { 0...ControlLimits.messageBytes }
}

/// The protocol between commands and daemon on the runtime directory's socket: a command as on the control channel and its
/// reply, a line each.
public enum AdminProtocol {
  /// The socket's name in the runtime directory.
  public static let socketName = "control.sock"
  /// The longest reply, in bytes.
  static let maximumBytes = 1 << 20

  public enum Failure: Error, Sendable {
    /// What went wrong and how to fix it.
    case refused(String)
    /// Perhaps from a daemon of another version.
    case unreadable
  }

  /// Has the daemon carry out a command. Blocks.
  ///
  /// - Parameter socket: its path.
  public static func ask<Command: ControlCommand>(
    _ command: Command, at socket: String, timeoutSeconds: Int = 10
  ) throws(CommandClientError) -> Result<Command.Reply, Failure> {
    let request = ControlRequest(id: "1", command: command)
    let line = try CommandClient.ask(path: socket, line: Array(request.json.utf8), timeoutSeconds: timeoutSeconds)
    let message = try? ControlMessage(
      json: String(decoding: line, as: UTF8.self), maximumBytes: maximumBytes, textLength: nil
    ) { _ in Command.self }
    switch message?.content {
    case .refusal(_, let error): return .failure(.refused(error.message))
    case .reply(_, let answer):
      if let reply = answer.reply as? Command.Reply { return .success(reply) }
    case .push, nil: break
    }
    return .failure(.unreadable)
  }
}
