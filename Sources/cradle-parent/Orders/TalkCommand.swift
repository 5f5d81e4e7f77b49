import ArgumentParser
import Commands
internal import DeviceNames
import Devices
import Glibc
import Parent
import Server
import Wire

/// `cradle-parent talk`
struct TalkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "talk", abstract: "Speaks through the child's speaker, until Ctrl-C.",
    discussion: "One parent speaks at a time. A lullaby is muted in the meantime.")

  @OptionGroup var state: StateOptions
  @Argument(help: "The child's name, its id (the first four digits do) or host:port. (default: the only paired one)")
  var child: String?
  @Option(help: "auto, test, an ALSA PCM name or file:IN.wav.")
  var microphone = "auto"
  @Flag(help: "Interrupt another parent; needs the permission admin.")
  var force = false
  @Option(help: "Stop after this many seconds.")
  var duration: Double?
  @Flag(help: "Do not mark the packets for Wi-Fi's queue for video (DSCP AF42).")
  var unmarked = false

  func validate() throws {
    if let duration, !(duration > 0 && duration < 1e6) { throw ValidationError("--duration is a number of seconds.") }
  }

  func run() async throws {
    guard let device = AudioDevice(microphone), device != .off else {
      throw ValidationError("--microphone is auto, test, an ALSA PCM name or file:IN.wav.")
    }
    let signals = StopSignals()
    try await failing {
      let talk = try await withProgress("Connecting") {
        try await Talk.begin(
          with: state.finder().paired(child), microphone: device, force: force,
          marking: unmarked ? .none : .interactiveVideo
        ) { error in
          printError("No microphone: \(error)")
        }
      }
      printError("You are heard. Ctrl-C ends it.")
      let end = await firstEnd(of: talk, signals)
      await talk.end()
      switch end {
      case .wanted: break
      case .taken(let name): throw Failure.failed("\(name) speaks now.")
      case .lost: throw Failure.failed("the child ended the session")
      }
    }
  }

  private enum End: Sendable {
    case wanted, lost
    case taken(String)
  }

  private func firstEnd(of talk: Talk, _ signals: StopSignals) async -> End {
    let duration = duration
    return await withTaskGroup(of: End.self) { group in
      group.addTask {
        await signals.first()
        return .wanted
      }
      group.addTask {
        await talk.interrupted().map(End.taken) ?? .lost
      }
      if let duration {
        group.addTask {
          try? await Task.sleep(for: .seconds(saturating: duration))
          return .wanted
        }
      }
      let first = await group.next() ?? .lost
      group.cancelAll()
      return first
    }
  }
}
