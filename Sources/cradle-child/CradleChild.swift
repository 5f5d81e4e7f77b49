import ArgumentParser
import Child

/// The camera node.
@main
struct CradleChild: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cradle-child",
    abstract: "The camera end of Cradle, a baby monitor that a family owns.",
    discussion: """
      Without a command it runs the node in the foreground. `check` says whether this machine is ready, `token add` \
      makes a token for a player or a browser.
      """,
    version: ChildNode.version,
    subcommands: [Run.self, Check.self, Devices.self, Token.self, Status.self],
    defaultSubcommand: Run.self)

  static func main() async {
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let failure as Failure {
      printError("cradle-child: \(failure.message)")
      Self.exit(withError: ExitCode(failure.status))
    } catch {
      // The parser exits with 64 for wrong usage; the project's word for that is 2.
      let code = exitCode(for: error)
      let text = fullMessage(for: error)
      if !text.isEmpty {
        if code.isSuccess { print(text) } else { printError(text) }
      }
      Self.exit(withError: code == .validationFailure ? ExitCode(2) : code)
    }
  }
}
