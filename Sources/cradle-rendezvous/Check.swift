import ArgumentParser
import JSON
import Rendezvous
import Storage

/// `cradle-rendezvous check`
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reads the configuration, the certificate and the secrets, and says what is wrong.",
    discussion: "Exit status: 0 everything works, 1 something does not, 2 the configuration is invalid.")

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Print one JSON object {ok, names, listen, problems: [...], warnings: [...]}.")
  var json = false

  private struct Report: Encodable {
    var ok: Bool
    var names: [String]
    var listen: String
    var problems: [String]
    var warnings: [String]
  }

  func run() throws {
    let configuration = try directories.loadConfiguration()
    let problems = RendezvousCheck.problems(configuration)
    let warnings = RendezvousCheck.warnings(configuration)
    if json {
      print(
        JSON.text(
          Report(
            ok: problems.isEmpty, names: configuration.names, listen: "\(configuration.listen)", problems: problems,
            warnings: warnings)))
      if !problems.isEmpty { throw ExitCode(1) }
      return
    }
    for problem in problems { print("FAIL  \(problem)") }
    for warning in warnings { print("warn  \(warning)") }
    guard problems.isEmpty else { throw ExitCode(1) }
    print("ok    \(directories.config): \(configuration.names.joined(separator: ", ")), \(configuration.listen)")
    if configuration.tls == nil {
      print("ok    no certificate: children need the server's `key-sha256`, which `cradle-rendezvous status` shows")
    }
  }
}
