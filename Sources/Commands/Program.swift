public import ArgumentParser

/// How every program runs its command line.
public enum Program {
  /// Parses the command line, runs the command and exits with its status: 0 done, 1 failed, 2 wrong usage or bad
  /// configuration.
  public static func run<Root: AsyncParsableCommand>(_ root: Root.Type, name: String) async {
    do {
      var command = try root.parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let failure as Failure {
      printError("\(name): \(failure.message)")
      root.exit(withError: ExitCode(failure.status))
    } catch {
      // The parser exits with 64 for wrong usage; these programs exit with 2.
      let code = root.exitCode(for: error)
      let text = root.fullMessage(for: error)
      if !text.isEmpty {
        if code.isSuccess { print(text) } else { printError(text) }
      }
      root.exit(withError: code == .validationFailure ? ExitCode(2) : code)
    }
  }
}
