import ArgumentParser
import Child
import Commands
import JSON

/// `cradle-child notify`
struct Notify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the notifiers of the running daemon, or sends a test message.",
    discussion: """
      Notifiers stand under `notify` in the configuration. Exit status 1: no notifier has that name, or with --test a \
      message was not accepted.
      """)

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Send a test message now, once, and say what came of it.")
  var test = false
  @Argument(help: "The notifier's name. (default: all)")
  var name: String?
  @Flag(
    help:
      "Print one JSON object {notifiers: [{name, state, delivered, waiting, failuresInARow, lastError}]}, or {tests: [{name, delivered, detail, milliseconds}]}."
  )
  var json = false

  private struct List: Encodable {
    var notifiers: [StatusReport.Notifier]
  }

  func run() throws {
    if test { return try sendTest() }
    let status = try Daemon.ask(StatusShow(), directories)
    let rows = (status.notifiers ?? []).filter { name == nil || $0.name == name }
    if let name, rows.isEmpty { throw Failure.failed("no notifier is called \"\(name)\"") }
    if json { return print(JSON.text(List(notifiers: rows))) }
    sayPushTrouble(status)
    if rows.isEmpty { return print("No notifiers. `notify` in child.yaml adds one.") }
    let table = rows.map { row in
      [row.name, row.state, "\(row.delivered)", "\(row.waiting)", row.lastError ?? ""]
    }
    print(Table.text([["NOTIFIER", "STATE", "DELIVERED", "WAITING", "LAST ERROR"]] + table))
  }

  private func sayPushTrouble(_ status: StatusReport) {
    guard let trouble = status.pushTrouble else { return }
    printError("Pushed alarms: \(trouble). \(PushAdvice.contact)")
  }

  /// Longer than the daemon waits for a server: 8 s to connect, 12 s for each answer, three redirects.
  private static let patienceSeconds = 65

  private func sendTest() throws {
    let result = try Daemon.ask(NotifyTest(name: name), directories, timeoutSeconds: Self.patienceSeconds)
    if json {
      print(JSON.text(result))
    } else {
      if let status = try? Daemon.ask(StatusShow(), directories) { sayPushTrouble(status) }
      for test in result.tests {
        print("\(test.delivered ? "ok  " : "FAIL")  \(test.name): \(test.detail) (\(test.milliseconds) ms)")
      }
    }
    if result.tests.contains(where: { !$0.delivered }) { throw ExitCode(1) }
  }
}
