import ArgumentParser
import Child
import Devices
import FoundationEssentials
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

  private struct Report: Encodable {
    var ok: Bool
    var checks: [ReadinessCheck.Finding]
  }

  func run() throws {
    let configuration = try overrides.apply(to: directories.loadConfiguration())
    let findings = ReadinessCheck.run(configuration, stateDirectory: directories.state)
    let isFine = findings.allSatisfy(\.ok)
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(Report(ok: isFine, checks: findings)), as: UTF8.self))
    } else {
      for finding in findings { print("\(finding.ok ? "ok  " : "FAIL")  \(finding.what): \(finding.detail)") }
    }
    if !isFine { throw ExitCode(1) }
  }
}
