import ArgumentParser
import Commands
import Rendezvous
import Storage

/// `cradle-rendezvous check`
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reads the configuration, the certificate and the secrets, and says what is wrong.",
    discussion: "Exit status: 0 everything works, 1 something does not, 2 the configuration is invalid.")

  @OptionGroup var directories: DirectoryOptions

  func run() throws {
    let configuration = try directories.loadConfiguration()
    let problems = RendezvousCheck.problems(configuration)
    for problem in problems { print("FAIL  \(problem)") }
    for warning in RendezvousCheck.warnings(configuration) { print("warn  \(warning)") }
    guard problems.isEmpty else { throw ExitCode(1) }
    print("ok    \(directories.config): \(configuration.names.joined(separator: ", ")), \(configuration.listen)")
    if configuration.tls == nil {
      print("ok    no certificate: children need the server's `key-sha256`, which `cradle-rendezvous status` shows")
    }
  }
}
