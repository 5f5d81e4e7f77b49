import ArgumentParser
import Child
import Commands
import Glibc
import Health

/// `cradle-child doctor`
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks everything that could fail at night, and names the command that fixes it.",
    discussion: """
      Devices, permissions, state, ports, firewall, Avahi, clock, disk, memory, Wi-Fi, power, temperature and the \
      encoder's speed. It changes nothing and can run beside the daemon; with sudo it can check more. What it cannot \
      determine is reported as unknown.
      Exit status: 0 no problem, 1 at least one problem, 2 the configuration is invalid.
      """)

  @OptionGroup var directories: DirectoryOptions
  @OptionGroup var overrides: OverrideOptions
  @Flag(
    help:
      "Print one JSON object {ok, checks: [{what, state, detail, remedy}]}; state is ok, warning, problem or unknown.")
  var json = false

  func run() async throws {
    let daemon = RunningDaemon.ask(runtimeDirectory: directories.runtime)
    let configuration = try overrides.apply(to: directories.loadConfiguration(of: daemon))
    let doctor = Doctor(
      configuration: configuration, source: directories.configurationSource(of: daemon),
      stateDirectory: directories.state(of: daemon), daemon: daemon)
    let report = FindingReport(labels: doctor.labels, isJSON: json)
    await doctor.run(looking: report.looking, found: report.found)
    report.close()
    if report.findings.hasProblem { throw ExitCode(1) }
  }
}
