import ArgumentParser
import Child
import Commands
import Meeting

/// The camera node.
@main
struct CradleChild: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cradle-child",
    abstract: "The baby unit of Cradle, a baby monitor for the home network.",
    discussion: """
      Without a command it runs the baby unit in the foreground. `check` tests the configuration and devices, `doctor` the \
      whole machine, `pair` pairs a phone or computer, `token add` makes a token for a player or a browser.
      """,
    version: ChildNode.version,
    subcommands: [
      Run.self, Check.self, DoctorCommand.self, Devices.self, Pair.self, Pairs.self, Unpair.self,
      Invites.self, Token.self, CertificateCommand.self, Status.self, AwayCommand.self, Notify.self, Recordings.self,
      Erase.self,
    ],
    defaultSubcommand: Run.self)

  static func main() async {
    MeetingService.runIfAsked()
    await Program.run(Self.self, name: "cradle-child")
  }
}
