import ArgumentParser
import Child
import Health
import Storage

/// `cradle-child check`
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reads the configuration, opens every device once, says what works and what does not.",
    discussion: "Exit status: 0 everything works, 1 something does not, 2 the configuration is wrong.")

  @OptionGroup var directories: DirectoryOptions
  @OptionGroup var overrides: OverrideOptions
  @Flag(help: "Print one JSON object {ok, checks: [{what, ok, detail}]}.")
  var json = false

  func run() throws {
    let configuration = try overrides.apply(to: directories.loadConfiguration())
    let findings = ReadinessCheck.run(configuration, stateDirectory: directories.state)
    let isFine = !findings.hasProblem
    if json {
      let checks = findings.map { finding in
        "{\"detail\":\(Finding.quoted(finding.detail)),\"ok\":\(finding.state == .ok),"
          + "\"what\":\(Finding.quoted(finding.what))}"
      }
      print("{\"checks\":[\(checks.joined(separator: ","))],\"ok\":\(isFine)}")
    } else {
      for finding in findings { print("\(finding.state == .ok ? "ok  " : "FAIL")  \(finding.what): \(finding.detail)") }
    }
    if !isFine { throw ExitCode(1) }
  }
}
