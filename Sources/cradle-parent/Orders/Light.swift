import ArgumentParser
import Commands
import Control

/// `cradle-parent light`
struct Light: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Switches the baby unit's light.")

  @Argument(help: "on, off or toggle.")
  var state: LightSet.Switch
  @Option(help: "Percent, for a light that can be dimmed. (default: as it was last; at first 20)")
  var brightness: Int?
  @Option(
    name: .customLong("for"), help: "Turns off by itself after this long, such as 10m.", transform: TimeSpan.argument)
  var duration: TimeSpan?
  @Option(help: "Which light. (default: the first)")
  var id: String?
  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object {light: {id, state, brightness, …}}.")
  var json = false

  func validate() throws {
    try Bounds.check(brightness, ControlLimits.brightness, "--brightness", "percent")
    try Bounds.check(duration?.seconds, ControlLimits.lightSeconds, "--for", "seconds")
    if state == .off, brightness != nil || duration != nil {
      throw ValidationError("--brightness and --for are for a light that is on.")
    }
  }

  func run() async throws {
    try await child.show(
      LightSet(id: id, state: state, brightness: brightness, seconds: duration?.seconds), json)
  }
}

/// `cradle-parent flash`
struct Flash: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Flashes the baby unit's light a few times.")

  @Option(help: "How many times. (default: 3)")
  var times: Int?
  @Option(help: "Which light. (default: the first)")
  var id: String?
  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object {light: {…}}.")
  var json = false

  func validate() throws {
    try Bounds.check(times, ControlLimits.flashTimes, "--times", "flashes")
  }

  func run() async throws {
    try await child.show(LightFlash(id: id, times: times), json)
  }
}
