import ArgumentParser
import Commands
import Rendezvous

/// The room server for meeting away from home.
@main
struct CradleRendezvous: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cradle-rendezvous",
    abstract: "The rendezvous server of Cradle: where baby units and viewers meet when they are not in one house.",
    discussion: """
      Runs on a machine with a public address. It passes on signed messages: it sees who meets whom and when, never what, \
      and it cannot take part. Without a command it runs in the foreground.
      """,
    version: RendezvousServer.version, subcommands: [Run.self, Check.self, Status.self], defaultSubcommand: Run.self)

  static func main() async {
    await Program.run(Self.self, name: "cradle-rendezvous")
  }
}
