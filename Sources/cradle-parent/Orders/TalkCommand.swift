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
    commandName: "talk", abstract: "Speaks through the baby unit's speaker, until Ctrl-C.",
    discussion: "One person speaks at a time. A lullaby is muted in the meantime.")

  @OptionGroup var state: StateOptions
  @Argument(help: "The camera's name, its id (the first four digits do) or host:port. (default: the only paired one)")
  var child: String?
  @Option(help: "auto, test, an ALSA PCM name or file:IN.wav.")
  var microphone = "auto"
  @Flag(help: "Interrupt somebody else who speaks; needs the permission admin.")
  var force = false
  @Option(help: "Stop after this many seconds.")
  var duration: Double?
  @Flag(help: "Do not mark the packets for Wi-Fi's queue for video (DSCP AF42).")
  var unmarked = false

  func validate() throws {
    try Bounds.check(duration, below: 1_000_000, "--duration")
  }

  func run() async throws {
    guard let device = AudioDevice(microphone), device != .off else {
      throw ValidationError("--microphone is auto, test, an ALSA PCM name or file:IN.wav.")
    }
    let signals = StopSignals()
    try await failing {
      let talk: Talk
      do {
        talk = try await withProgress("Connecting") {
          try await Talk.begin(
            with: state.finder().paired(child), microphone: device, force: force,
            marking: unmarked ? .none : .interactiveVideo)
        }
      } catch let error as DeviceError {
        throw Failure.failed("no microphone: \(error.plain). Nobody hears you. Choose another with --microphone.")
      }
      printError("You are heard. Ctrl-C ends it.")
      let end = await firstEnd(of: talk, signals)
      await talk.end()
      switch end {
      case nil: break
      case .taken(let name): throw Failure.failed("\(name) speaks now.")
      case .closed: throw Failure.failed("the camera ended the session")
      case .microphoneLost(let error):
        throw Failure.failed("the microphone was lost: \(error.plain). You are no longer heard.")
      }
    }
  }

  /// Nil: as asked for, by a signal or because the time is over.
  private func firstEnd(of talk: Talk, _ signals: StopSignals) async -> Talk.End? {
    let duration = duration
    return await withTaskGroup(of: Talk.End?.self) { group in
      group.addTask {
        await signals.first()
        return nil
      }
      group.addTask { await talk.ended() }
      if let duration {
        group.addTask {
          try? await Task.sleep(for: .seconds(saturating: duration))
          return nil
        }
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
  }
}
