import ArgumentParser
import Commands
import FoundationEssentials
import Parent
import Storage

/// The directory for a parent's state.
struct StateOptions: ParsableArguments {
  @Option(
    help:
      "The directory for the identity, pairs and known servers. (default: $XDG_STATE_HOME/cradle, else ~/.local/state/cradle)"
  )
  var stateDirectory: String?

  func validate() throws {
    try PathOption.check(["--state-directory": stateDirectory])
  }

  /// Where it is, or will be.
  func path() throws -> String {
    let environment = ProcessInfo.processInfo.environment
    if let stateDirectory { return stateDirectory }
    if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") { return base + "/cradle" }
    if let home = environment["HOME"], !home.isEmpty { return home + "/.local/state/cradle" }
    throw Failure.badConfiguration("there is no home directory; give one with --state-directory")
  }

  /// Made when it is missing.
  func directory() throws -> String {
    let path = try path()
    do {
      try StateDirectory.makeDirectory(path)
    } catch {
      throw Failure.failed("\(error)")
    }
    return path
  }

  func knownServers() throws -> KnownServers {
    do {
      let directory = try directory()
      try StateDirectory.checkPrivacy(directory)
      return try KnownServers(file: AtomicFile(path: directory + "/known-servers.json"))
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure.failed("\(error)")
    }
  }

  /// The identity and the paired children.
  func parent() throws -> ParentState {
    do {
      return try ParentState(path: directory())
    } catch let error as FileError {
      throw Failure.failed("\(error)")
    }
  }

  func finder() throws -> ChildFinder {
    ChildFinder(state: try parent())
  }
}
