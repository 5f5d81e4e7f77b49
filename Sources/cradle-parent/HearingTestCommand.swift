import ArgumentParser
import Commands
import Control
import Parent

/// `cradle-parent test`
struct HearingTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Checks that you would hear your baby now.",
    discussion: """
      The baby unit's speaker plays a soft sound that its microphone must hear and this machine must receive. Without a \
      speaker the noise of the room is compared, which is a weaker check. Exit status 1: it was not heard.
      """)

  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object {hearing: {state, way, time, microphone, parents}}.")
  var json = false

  func run() async throws {
    let result = try await failing {
      try await withProgress("Listening") { try await HearingCheck.run(child.state.finder().paired(child.child)) }
    }
    print(json ? result.json : result.text)
    if result.state != .heard { throw Failure.failed("the nursery was not heard end to end") }
  }
}
