internal import Control
internal import NIOCore

/// Which handler carries out which command. Confined to the event loop.
///
/// `Context`: who gives the command.
struct CommandRouter<Context> {
  private typealias Route = (any ControlCommand, Context) throws -> EventLoopFuture<ControlAnswer>

  private let loop: any EventLoop
  private var routes: [String: (command: any ControlCommand.Type, carryOut: Route)] = [:]

  init(loop: any EventLoop) {
    self.loop = loop
  }

  /// - Parameter handler: may throw `ControlError`, or fail with it later.
  mutating func on<Command: ControlCommand>(
    _: Command.Type, _ handler: @escaping (_ parameters: Command, Context) throws -> EventLoopFuture<Command.Reply>
  ) {
    routes[Command.name] = (
      Command.self,
      { command, context in
        guard let command = command as? Command else { preconditionFailure("a route is of its command's type") }
        return try handler(command, context).map { ControlAnswer(Command.self, $0) }
      }
    )
  }

  mutating func on<Command: ControlCommand>(
    _ type: Command.Type, _ handler: @escaping (_ parameters: Command, Context) throws -> Command.Reply
  ) {
    on(type) { [loop] command, context in loop.makeSucceededFuture(try handler(command, context)) }
  }

  mutating func on<Command: ControlCommand>(
    _ type: Command.Type, _ handler: @escaping (_ parameters: Command, Context) throws -> Void
  ) where Command.Reply == Done {
    on(type) { command, context in
      try handler(command, context)
      return Done()
    }
  }

  /// The command of a name on the wire; nil if there is no handler.
  func named(_ name: String) -> (any ControlCommand.Type)? { routes[name]?.command }

  /// Fails with `ControlError`, or with what went wrong.
  func carryOut(_ command: any ControlCommand, _ context: Context) -> EventLoopFuture<ControlAnswer> {
    guard let route = routes[type(of: command).name] else {
      return loop.makeFailedFuture(ControlError(.unknownCommand, "The camera does not know this command."))
    }
    do {
      return try route.carryOut(command, context)
    } catch {
      return loop.makeFailedFuture(error)
    }
  }
}
