import ArgumentParser
import Child
import Commands
import Glibc
import Health

/// `cradle-child doctor`
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Looks for what could spoil a night, and names the command that mends it.",
    discussion: """
      Devices, permissions, state, ports, firewall, Avahi, clock, disk, memory, Wi-Fi, power, temperature and the \
      encoder's speed. It changes nothing, and may run beside the daemon; with sudo it sees more. What it cannot find \
      out it calls not known.
      Exit status: 0 nothing is a problem, 1 something is, 2 the configuration is wrong.
      """)

  @OptionGroup var directories: DirectoryOptions
  @OptionGroup var overrides: OverrideOptions
  @Flag(
    help:
      "Print one JSON object {ok, checks: [{what, state, detail, remedy}]}; state is ok, warning, problem or unknown.")
  var json = false

  func run() async throws {
    let configuration = try overrides.apply(to: directories.loadConfiguration())
    let doctor = Doctor(
      configuration: configuration, source: directories.configurationSource, stateDirectory: directories.state,
      daemon: .ask(runtimeDirectory: directories.runtime, stateDirectory: directories.state))
    let report = FindingReport(labels: doctor.labels, isJSON: json)
    await doctor.run(looking: report.looking, found: report.found)
    report.close()
    if report.findings.hasProblem { throw ExitCode(1) }
  }
}
