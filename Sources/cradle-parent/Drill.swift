import ArgumentParser
import Commands
import Control
import Parent

/// `cradle-parent drill`
struct Drill: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "An alarm drill: does the alarm ring for everybody who watches, and does somebody respond?",
    discussion: """
      The baby unit cuts off everything, then the picture, then the sound, as if link, camera and microphone were lost. \
      Each paired device that watches has to ring within seconds, and somebody has to acknowledge it there within half \
      a minute; then the next stage begins. Nobody can hear your baby meanwhile. Only devices whose access does not expire can start \
      one, once in ten minutes; owners at any time. Whoever is paired can end one. Exit status 1: a device did not \
      ring, or nobody responded.
      """)

  @Argument(help: "What fails: link, camera, microphone. (default: one after the other)")
  var stages: [DrillStage] = []
  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object {drill: {state, time, parents: [{name, link, camera, microphone}]}}.")
  var json = false

  func run() async throws {
    let wanted = stages.isEmpty ? DrillDocument.Stage.allCases : stages.map(\.stage)
    let signals = StopSignals()
    let running = Task {
      try await DrillRun.run(child.state.finder().paired(child.child), stages: wanted) { drill in
        if !json { printError(drill.text) }
      }
    }
    let stopping = Task {
      await signals.first()
      running.cancel()
    }
    defer { stopping.cancel() }
    let result: DrillDocument
    do {
      result = try await failing { try await running.value }
    } catch {
      throw running.isCancelled ? Failure.failed("ended before its time") : error
    }
    print(json ? result.json : result.text)
    if result.state != .passed { throw Failure.failed("not every alarm rang and was acknowledged") }
  }
}

/// A stage as an argument.
struct DrillStage: ExpressibleByArgument {
  let stage: DrillDocument.Stage

  init?(argument: String) {
    guard let stage = DrillDocument.Stage(rawValue: argument) else { return nil }
    self.stage = stage
  }

  static var allValueStrings: [String] { DrillDocument.Stage.allCases.map(\.rawValue) }
}
