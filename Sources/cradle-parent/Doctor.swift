import ArgumentParser
import Commands
import Glibc
import Health
import Pairing
import Parent

/// `cradle-parent doctor`
struct Doctor: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Finds the camera, measures the connection to it, and rates it.",
    discussion: """
      Also checks this machine: its key files, speaker, clock and Wi-Fi. It watches and pings the camera for some seconds \
      without playing sound, and changes nothing.
      Exit status: 0 no problem, 1 at least one problem.
      """)

  @OptionGroup var state: StateOptions
  @Argument(help: "The camera's name, its id (the first four digits do) or host:port. (default: the only paired one)")
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
      report.close(more: More(result))
    } else {
      report.close()
      if let quality = result.quality { print(quality.summary) }
    }
    if report.findings.hasProblem { throw ExitCode(1) }
  }

  private struct More: Encodable {
    var child: [String: String]?
    var expect: String?
    var grade: String?
    var measured: LinkFigures?

    init(_ result: ParentDoctor.Result) {
      child = result.child.map { ["id": $0.id, "name": $0.name] }
      expect = result.quality?.summary
      grade = result.quality?.grade.rawValue
      measured = result.figures
    }
  }
}
