import Child
import Commands
import Glibc
import JSON
import Server

/// Asks the running daemon over its socket.
enum Daemon {
  /// The answer's JSON text.
  static func ask(
    _ request: AdminProtocol.Request, _ directories: DirectoryOptions, timeoutSeconds: Int = 10
  ) throws -> String {
    let line: [UInt8]
    do throws(CommandClientError) {
      line = try CommandClient.ask(
        path: directories.runtime + "/" + AdminProtocol.socketName, line: Array(JSON.text(request).utf8),
        timeoutSeconds: timeoutSeconds)
    } catch {
      throw Failure.failed(text(of: error))
    }
    let response = try decode(AdminProtocol.Response.self, from: String(decoding: line, as: UTF8.self))
    if let error = response.error { throw Failure.failed(error) }
    return response.result ?? "{}"
  }

  static func decode<Value: Decodable>(_: Value.Type, from json: String) throws -> Value {
    do {
      return try AdminProtocol.decode(Value.self, from: Array(json.utf8))
    } catch {
      throw Failure.failed("the daemon's answer cannot be read; is it of another version?")
    }
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
