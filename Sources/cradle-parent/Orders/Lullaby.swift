import ArgumentParser
import Commands
import Control
import Parent

/// `cradle-parent lullaby`
struct Lullaby: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plays lullabies and sounds through the baby unit's speaker.",
    subcommands: [
      Play.self, Stop.self, Pause.self, Resume.self, Next.self, Volume.self, List.self,
    ])

  struct Play: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Plays a track.")

    @Argument(help: "Which, as `lullaby list` names it. (default: the last one)")
    var track: String?
    @Flag(inversion: .prefixedNo, help: "Repeat the track.")
    var loop: Bool?
    @Option(
      name: .customLong("for"),
      help: "Stop after this long, such as 30m; at most 12h, which 0 stands for. (default: 30m)",
      transform: TimeSpan.argument)
    var duration: TimeSpan?
    @Option(help: "Percent.")
    var volume: Int?
    @Option(help: "Fade out over this long before the end, such as 30s.", transform: TimeSpan.argument)
    var fade: TimeSpan?
    @OptionGroup var options: LullabyOptions

    func validate() throws {
      try Bounds.check(duration?.seconds, ControlLimits.lullabySeconds, "--for", "seconds")
      try Bounds.check(volume, ControlLimits.volume, "--volume", "percent")
      try Bounds.check(fade?.seconds, ControlLimits.fadeSeconds, "--fade", "seconds")
    }

    func run() async throws {
      let wanted = LullabyPlay(
        track: track, volume: volume, seconds: duration?.seconds, loop: loop, fadeSeconds: fade?.seconds)
      try await options.child.command { session in
        do {
          ChildOptions.show(try await session.perform(wanted), options.json)
        } catch ControlFailure.refused(let error) where error.code == .badParameters && track != nil {
          // Everything else was checked before it was sent.
          throw Failure.failed("No sound called \"\(track ?? "")\". List them: cradle-parent lullaby list")
        }
      }
    }
  }

  struct Stop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Stops the lullaby.")
    @OptionGroup var options: LullabyOptions
    func run() async throws { try await options.show(LullabyStop()) }
  }

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Pauses the lullaby.")
    @OptionGroup var options: LullabyOptions
    func run() async throws { try await options.show(LullabyPause()) }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Resumes a paused lullaby.")
    @OptionGroup var options: LullabyOptions
    func run() async throws { try await options.show(LullabyResume()) }
  }

  struct Next: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Plays the next track.")
    @OptionGroup var options: LullabyOptions
    func run() async throws { try await options.show(LullabyNext()) }
  }

  struct Volume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Sets the volume.")
    @Argument(help: "Percent.")
    var percent: Int
    @OptionGroup var options: LullabyOptions

    func validate() throws {
      try Bounds.check(percent, ControlLimits.volume, "The volume", "percent")
    }

    func run() async throws { try await options.show(LullabyVolume(percent)) }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists what can be played.")
    @OptionGroup var options: LullabyOptions
    func run() async throws { try await options.show(LullabyList()) }
  }
}

struct LullabyOptions: ParsableArguments {
  @OptionGroup var child: ChildOptions
  @Flag(help: "Print one JSON object.")
  var json = false

  func show<Command: ControlCommand>(_ command: Command) async throws where Command.Reply: PrintedReply {
    try await child.show(command, json)
  }
}
