import ArgumentParser
import Control
import Parent

/// What orders to a paired child cost on an open session.
struct Orders: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Gives a paired child orders on one open session, and says how long each took.")

  @Option(help: "The parent's state directory; it is paired with one child.")
  var state: String
  @Option(help: "How many orders.")
  var count = 200
  @Option(help: "Milliseconds between two of them: a person is not faster, and the child takes ten a second.")
  var pause = 150
  @Option(help: "How many stills.")
  var stills = 20

  private struct Report: Encodable {
    /// From the order to its answer, each.
    var commandMilliseconds: [Double]
    /// From the order to the last byte of the still, each.
    var stillMilliseconds: [Double]
    var stillWidth: Int
    var stillHeight: Int
  }

  func run() async throws {
    let child = try await ChildFinder(state: ParentState(path: state)).paired(nil)
    let session = try await ControlSession.open(child)
    var report = Report(commandMilliseconds: [], stillMilliseconds: [], stillWidth: 0, stillHeight: 0)
    let toggle = LightSet(state: .toggle)
    // The first of each opens and loads what stays open.
    for number in 0...count {
      try await Task.sleep(for: .milliseconds(pause))
      let time = try await ContinuousClock().measure { _ = try await session.perform(toggle) }
      if number > 0 { report.commandMilliseconds.append(time / .milliseconds(1)) }
    }
    for number in 0...stills {
      try await Task.sleep(for: .milliseconds(pause))
      let time = try await ContinuousClock().measure {
        let still = try await session.fetch(ScreenshotTake())
        report.stillWidth = still.document.width
        report.stillHeight = still.document.height
      }
      if number > 0 { report.stillMilliseconds.append(time / .milliseconds(1)) }
    }
    await session.close()
    try printJSON(report)
  }
}
