import ArgumentParser
import Commands
import Glibc
import Parent

/// Which child a command is for.
struct ChildOptions: ParsableArguments {
  @OptionGroup var state: StateOptions
  @Option(help: "The camera's name, its id (the first four digits do) or host:port. (default: the only paired one)")
  var child: String?

  /// Connects, runs `body` with the session, and disconnects.
  func command<Result>(_ body: (ControlSession) async throws -> Result) async throws -> Result {
    try await failing {
      let session = try await withProgress("Connecting") {
        try await ControlSession.open(state.finder().paired(child))
      }
      do {
        let result = try await body(session)
        await session.close()
        return result
      } catch {
        await session.close()
        throw error
      }
    }
  }
}

/// Turns errors of the library into a `Failure`.
func failing<Result>(_ body: () async throws -> Result) async throws -> Result {
  do {
    return try await body()
  } catch let failure as Failure {
    throw failure
  } catch let code as ExitCode {
    throw code
  } catch {
    throw Failure.failed("\(error)")
  }
}

/// On a terminal, says what is being waited for when it takes longer than a second.
func withProgress<Result>(_ text: String, _ body: () async throws -> Result) async throws -> Result {
  guard isatty(STDERR_FILENO) == 1 else { return try await body() }
  let saying = Task {
    try await Task.sleep(for: .seconds(1))
    writeToTerminal("\(text)…")
    return ()
  }
  let result: Swift.Result<Result, any Error>
  do {
    result = .success(try await body())
  } catch {
    result = .failure(error)
  }
  saying.cancel()
  if case .success = await saying.result { writeToTerminal("\r\u{1b}[K") }
  return try result.get()
}

private func writeToTerminal(_ text: String) {
  let bytes = Array(text.utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
