public import ArgumentParser
internal import Glibc

/// How every program runs its command line.
public enum Program {
  /// Begins again in this process, with the same arguments: a service manager sees one service that goes on. Call it when
  /// everything is closed.
  ///
  /// - Throws: `Failure`. A service manager starts the program again then.
  public static func startAgain() throws -> Never {
    StopSignals.unblock()
    // By its name, not /proc/self/exe: an update may have replaced it.
    var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { strdup($0) } + [nil]
    execvp(CommandLine.arguments[0], &arguments)
    throw Failure.failed("cannot start \(CommandLine.arguments[0]) again: \(String(cString: strerror(errno)))")
  }

  /// Parses the command line, runs the command and exits with its status: 0 done, 1 failed, 2 wrong usage or bad
  /// configuration.
  public static func run<Root: AsyncParsableCommand>(_ root: Root.Type, name: String) async {
    openStandardDescriptors()
    // Writing to a pipe that nobody reads any more is an error to report, as a full disk is.
    signal(SIGPIPE, SIG_IGN)
    do {
      // Most command lines have no negative number in them.
      var flags: FlagNames?
      let arguments = NegativeValues.joined(Array(CommandLine.arguments.dropFirst())) { name in
        let known = flags ?? FlagNames(of: root)
        flags = known
        return known.contains(name)
      }
      var command = try root.parseAsRoot(arguments)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      try StandardOutput.flush()
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
      do throws(Failure) {
        try StandardOutput.flush()
      } catch {
        printError("\(name): \(error.message)")
        root.exit(withError: ExitCode(error.status))
      }
      root.exit(withError: code == .validationFailure ? ExitCode(2) : code)
    }
  }

  /// Whoever started this may have closed them (`>&-`); then the next file or socket that is opened would be written to as
  /// standard output. What stands there instead refuses that. The earlier it is called, the better.
  public static func openStandardDescriptors() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
      _ = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
