import ArgumentParser
import Commands
import Glibc
import Storage

/// The server's files: the same flags for all commands.
struct DirectoryOptions: ParsableArguments {
  @Option(help: "Configuration file.")
  var config = "/etc/cradle/rendezvous.yaml"

  @Option(help: "Directory for the server's own key. (default: $STATE_DIRECTORY, else /var/lib/cradle-rendezvous)")
  var stateDirectory: String?

  @Option(help: "Directory for the socket of `status`. (default: $RUNTIME_DIRECTORY, else /run/cradle-rendezvous)")
  var runtimeDirectory: String?

  func validate() throws {
    try PathOption.check([
      "--config": config, "--state-directory": stateDirectory, "--runtime-directory": runtimeDirectory,
    ])
  }

  var state: String { stateDirectory ?? environment("STATE_DIRECTORY") ?? "/var/lib/cradle-rendezvous" }
  var runtime: String { runtimeDirectory ?? environment("RUNTIME_DIRECTORY") ?? "/run/cradle-rendezvous" }

  /// systemd passes a colon-separated list; the first one is used.
  private func environment(_ name: String) -> String? {
    getenv(name).flatMap { String(cString: $0).split(separator: ":").first.map(String.init) }
  }

  func loadConfiguration() throws -> RendezvousConfiguration {
    do {
      if let configuration = try RendezvousConfiguration.load(path: config) { return configuration }
    } catch {
      throw Failure.badConfiguration("\(error)")
    }
    throw Failure.badConfiguration("\(config): there is no such file; the server has to know its own names (`names`)")
  }
}
