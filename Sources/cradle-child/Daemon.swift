import Child
import Commands
import Control
import Glibc
import Server

/// Asks the running daemon over its socket.
enum Daemon {
  static func ask<Command: ControlCommand>(
    _ command: Command, _ directories: DirectoryOptions, timeoutSeconds: Int = 10
  ) throws -> Command.Reply {
    let failure: String
    do throws(CommandClientError) {
      let socket = directories.runtime + "/" + AdminProtocol.socketName
      switch try AdminProtocol.ask(command, at: socket, timeoutSeconds: timeoutSeconds) {
      case .success(let reply): return reply
      case .failure(.refused(let words)): failure = words
      case .failure(.unreadable): failure = "the daemon's answer cannot be read; is it of another version?"
      }
    } catch {
      failure = text(of: error)
    }
    throw Failure.failed(failure)
  }

  private static func text(of error: CommandClientError) -> String {
    switch error {
    case .notRunning(let path):
      "the daemon does not run (nothing listens at \(path)). Start it with `systemctl start cradle-child` or "
        + "`cradle-child run`, or name its directory with --runtime-directory."
    case .permissionDenied(let path):
      "no permission to talk to the daemon (\(path)). Use sudo, or join the daemon's group."
    case .failed(let path, let number):
      "the daemon did not answer (\(path)): \(String(cString: strerror(number))). Check whether the command worked."
    }
  }
}
