import ArgumentParser
import Child
import Health
import JSON
import Storage

/// `cradle-child check`
struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reads the configuration, opens every device once, and reports what works.",
    discussion: "Exit status: 0 everything works, 1 something does not, 2 the configuration is invalid.")

  @OptionGroup var directories: DirectoryOptions
  @OptionGroup var overrides: OverrideOptions
  @Flag(help: "Print one JSON object {ok, checks: [{what, ok, detail}]}.")
  var json = false

  func run() throws {
    let configuration = try overrides.apply(to: directories.loadConfiguration())
    let daemon = RunningDaemon.ask(runtimeDirectory: directories.runtime)
    let findings = ReadinessCheck.run(
      configuration, stateDirectory: directories.state(of: daemon), running: daemon.report)
    let isFine = !findings.hasProblem
    if json {
      let checks = findings.map { finding in
        JSON.object([
          "what": .string(finding.what), "ok": .bool(finding.state != .problem), "detail": .string(finding.detail),
        ])
      }
      print(JSON.object(["ok": .bool(isFine), "checks": .array(checks)]).text)
    } else {
      for finding in findings {
        let label = if finding.state == .problem { "FAIL" } else { finding.state == .ok ? "ok  " : "warn" }
        print("\(label)  \(finding.what): \(finding.detail)")
      }
    }
    if !isFine { throw ExitCode(1) }
  }
}
