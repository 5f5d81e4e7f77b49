import ArgumentParser
import Child
import Commands
import Health
import JSON
import Server
import Storage

/// `cradle-child away`
struct AwayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "away",
    abstract: "Shows how this baby unit is reached from outside the house: remote access servers, relays, paths.",
    discussion: """
      Looks at the configuration that is named, else at the one that the running daemon has read. Asks the running daemon how it is at each meeting place, sends it a message there as a parent would, tries each address of the STUN and TURN servers, and says \
      what the house's router allows. It changes nothing.
      Exit status: 0 reachable, or nothing is configured; 1 something does not work.
      """)

  @OptionGroup var directories: DirectoryOptions
  @Flag(
    help:
      "Print one JSON object {relay, meetings: [{place, kind, state, seconds?, reason?, problem?}], servers: [{url, address?, problem?}], mapping?, summary?, viewers: [{name, path?}]}."
  )
  var json = false

  func run() async throws {
    let daemon = RunningDaemon.ask(runtimeDirectory: directories.runtime)
    let configuration: ChildConfiguration
    do {
      configuration = try directories.loadConfiguration(of: daemon)
    } catch let failure as Failure where directories.config == nil && daemon.away != nil {
      printError("\(failure.message)\nThe STUN and TURN servers in it are not tried; the rest is what the daemon says.")
      configuration = .defaults
    }
    let check = AwayCheck(configuration: configuration, child: daemon.report?.id, report: daemon.away)
    guard check.isConfigured || json else {
      print("Nothing is configured: this baby unit is reached at home, or through a VPN.")
      return
    }
    let report = FindingReport(labels: ["from elsewhere"], isJSON: json)
    let outcome = await check.run(looking: report.looking, found: report.found)
    if json {
      printJSON(daemon, daemon.away?.relay ?? configuration.away.relay.rawValue, outcome)
    } else {
      report.close()
      for viewer in daemon.report?.viewers ?? [] {
        if let path = viewer.candidatePair { print("\(viewer.name): \(path)") }
      }
    }
    if report.findings.hasProblem { throw ExitCode(1) }
  }

  private func printJSON(_ daemon: RunningDaemon, _ relay: String, _ outcome: AwayCheck.Outcome) {
    let verdict = outcome.servers
    var members: [String: JSON] = ["relay": .string(relay)]
    members["meetings"] = .array(
      (daemon.away?.meetings ?? []).map { meeting in
        var row: [String: JSON] = [
          "place": .string(meeting.place), "kind": .string(meeting.kind), "state": .string(meeting.state),
        ]
        row["seconds"] = meeting.seconds.map { .number($0) }
        row["reason"] = meeting.reason.map { .string($0) }
        if meeting.state == "present" { row["problem"] = outcome.problems[meeting.place].map { .string($0) } }
        return .object(row)
      })
    members["servers"] = .array(
      (verdict?.answers ?? []).map { answer in
        switch answer.outcome {
        case .mapped(let address), .relayed(let address):
          .object(["url": .string(answer.url), "address": .string("\(address)")])
        case .failed(let reason): .object(["url": .string(answer.url), "problem": .string(reason)])
        }
      })
    members["mapping"] = verdict.map { .string($0.mapping.rawValue) }
    members["summary"] = verdict.map { .string($0.summary) }
    members["viewers"] = .array(
      (daemon.report?.viewers ?? []).map { viewer in
        var row: [String: JSON] = ["name": .string(viewer.name)]
        row["path"] = viewer.candidatePair.map { .string($0) }
        return .object(row)
      })
    print(JSON.object(members).text)
  }
}
