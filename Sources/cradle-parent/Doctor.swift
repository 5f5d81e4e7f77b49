import ArgumentParser
import Commands
import Glibc
import Health
import Pairing
import Parent

/// `cradle-parent doctor`
struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Finds the child, measures the link to it, and says what to expect.",
    discussion: """
      Looks at this machine too: what it keeps, its speaker, its clock, its Wi-Fi. The child is watched and pinged for \
      some seconds meanwhile, without a sound; nothing is changed.
      Exit status: 0 nothing is a problem, 1 something is.
      """)

  @OptionGroup var state: StateOptions
  @Argument(help: "The child's name, its id or host:port. (default: the only paired one)")
  var child: String?
  @Option(help: "How long to measure, 1 to 600 seconds.")
  var seconds = 10
  @Flag(
    help: "Print one JSON object {ok, checks: [{what, state, detail, remedy}], child, measured, grade, expect}.")
  var json = false

  func validate() throws {
    try Bounds.check(seconds, 1...600, "--seconds")
  }

  func run() async throws {
    let doctor = ParentDoctor(state: try state.parent())
    let report = FindingReport(labels: ParentDoctor.labels, isJSON: json)
    let result = await doctor.run(child, seconds: seconds, saying: report.progress, found: report.found)
    if json {
      report.close(more: more(result))
    } else {
      report.close()
      if let outlook = result.outlook { print(outlook.words) }
    }
    if report.findings.hasProblem { throw ExitCode(1) }
  }

  private func more(_ result: ParentDoctor.Result) -> String {
    var text = ""
    if let child = result.child { text += ",\"child\":\(JSONLine.text(["id": child.id, "name": child.name]))" }
    if let outlook = result.outlook {
      text += ",\"expect\":\(JSONLine.text(outlook.words)),\"grade\":\"\(outlook.grade.rawValue)\""
    }
    if let figures = result.figures { text += ",\"measured\":\(JSONLine.text(figures))" }
    return text
  }
}
