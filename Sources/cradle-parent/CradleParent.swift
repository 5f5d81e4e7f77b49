import ArgumentParser
import Commands
import Parent

/// The viewer.
@main
struct CradleParent: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cradle-parent",
    abstract: "The parents' end of Cradle, a baby monitor that a family owns.",
    version: Parent.version,
    subcommands: [Watch.self])

  static func main() async {
    await Program.run(Self.self, name: "cradle-parent")
  }
}
