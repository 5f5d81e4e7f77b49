import ArgumentParser
import Commands
import Meeting
import Parent

/// The program. Commands run on other threads than the first, which windows are for.
@main
enum Main {
  static func main() {
    MeetingService.runIfAsked()
    Program.openStandardDescriptors()
    // The identity key is in this process.
    ProcessProtection.forbidDumps()
    StopSignals.unblock()
    Task.detached {
      await Program.run(CradleParent.self, name: "cradle-parent")
      CradleParent.exit()
    }
    MainThread.serve()
  }
}

/// The viewer.
struct CradleParent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cradle-parent",
    abstract: "The viewer of Cradle, a baby monitor for the home network.",
    version: Parent.version,
    groupedSubcommands: [
      CommandGroup(
        name: "Pairing", subcommands: [Discover.self, Pair.self, Children.self, Unpair.self, Invite.self]),
      CommandGroup(
        name: "Watching",
        subcommands: [Watch.self, HearingTestCommand.self, Drill.self, Screenshot.self, Recordings.self, Doctor.self]),
      CommandGroup(
        name: "Commanding",
        subcommands: [
          TalkCommand.self, Light.self, Flash.self, Lullaby.self, Camera.self, Status.self, Events.self,
          Report.self,
        ]),
    ])
}
