import ArgumentParser
import Commands
import Control
import Glibc
import Parent

/// `cradle-parent status`
struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the baby unit's state: devices, light, lullaby, viewers.")

  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await child.show(StatusGet(), json)
  }
}

/// `cradle-parent events`
struct Events: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Shows what happened at the baby unit.")

  @Flag(help: "Keep printing new events, until Ctrl-C.")
  var follow = false
  @Option(help: "How many of the latest events. (default: 50)")
  var limit: Int?
  @Option(help: "Only events of this level and graver ones.")
  var level: EventLevel?
  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object a line for each event.")
  var json = false

  func validate() throws {
    try Bounds.check(limit, ControlLimits.eventLimit, "--limit", "events")
  }

  func run() async throws {
    guard follow else {
      let events = try await child.command { try await $0.perform(EventsGet(limit: limit, level: level)) }
      for event in events { print(json ? JSONLine.text(event) : event.text) }
      if events.isEmpty, !json { print("Nothing has happened.") }
      return
    }
    let signals = StopSignals()
    let following = Task {
      try await failing {
        let follower = EventFollower(try await child.state.finder().paired(child.child))
        try await follower.follow(limit: limit ?? ControlDefaults.eventLimit, level: level) { event in
          try StandardOutput.line(json ? JSONLine.text(event) : event.text)
        } trouble: { reason in
          printError("\(reason); reconnecting")
        }
      }
    }
    let stopping = Task {
      await signals.first()
      following.cancel()
      // An attempt to connect may take long; after Ctrl-C do not wait for it.
      try? await Task.sleep(for: .seconds(1))
      if !Task.isCancelled { Self.exit() }
    }
    defer { stopping.cancel() }
    do {
      try await following.value
    } catch is CancellationError {
      return
    }
  }
}
