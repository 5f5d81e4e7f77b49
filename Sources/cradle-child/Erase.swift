import ArgumentParser
import Commands
import FoundationEssentials
import Glibc
import JSON
import Storage

/// `cradle-child erase`
struct Erase: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Removes identity, pairs, tokens, recordings, screenshots and events.",
    discussion: """
      For a board that is given away, or to start afresh. The daemon must be stopped. The next start makes a new identity, \
      and every device must pair again. The configuration stays. \
      Removed files may still be recoverable from a memory card: to be safe, overwrite the whole card.
      """)

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Do not ask.")
  var yes = false
  @Flag(help: "Print one JSON object {removed: [{what, path, files, bytes}], left: [path, …]}.")
  var json = false

  private struct Report: Encodable {
    var removed: [StateDirectory.Kept]
    var left: [String]
  }

  func run() throws {
    let path = directories.state
    guard FileManager.default.fileExists(atPath: path) else {
      throw Failure.failed("there is no state directory \(path); give another one with --state-directory")
    }
    do {
      try erase(StateDirectory(path: path))
    } catch StateDirectoryError.inUse(_, let process) {
      throw Failure.failed(
        "the daemon runs\(process.map { " (process \($0))" } ?? ""). Stop it first: systemctl stop cradle-child")
    } catch StateDirectoryError.file(let error) {
      throw Self.failure(error)
    } catch let error as FileError {
      throw Self.failure(error)
    }
  }

  private func erase(_ state: StateDirectory) throws {
    let recordings = recordings()
    let (kept, left) = try state.contents(recordings: recordings)
    if !yes, !kept.isEmpty { try confirm(kept) }
    let removed = try state.erase(recordings: recordings)
    if json { return print(JSON.text(Report(removed: removed, left: left))) }
    if removed.isEmpty { print("There was nothing to remove in \(state.path).") }
    for item in removed { print("Removed \(Self.line(item))") }
    for path in left {
      let isLink = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
      print(
        "Left \(path): \(isLink ? "it is a link; what it leads to is still there" : "it does not belong to Cradle").")
    }
  }

  /// The folder of `record` in the configuration. A configuration that cannot be read keeps nobody from erasing the rest.
  private func recordings() -> RecordingFolder? {
    do {
      return try directories.loadConfiguration().recording.folder.map(RecordingFolder.init)
    } catch {
      printError("If `record` names a folder, its recordings stay: \(error)")
      return nil
    }
  }

  private func confirm(_ kept: [StateDirectory.Kept]) throws {
    guard isatty(STDIN_FILENO) == 1 else {
      throw ValidationError("Nothing was removed. Without a terminal, confirm with --yes.")
    }
    printError("This removes permanently:")
    for item in kept { printError("  \(Self.line(item))") }
    printError("Every device will have to pair again. Type \"erase\" to continue:")
    guard readLine() == "erase" else { throw Failure.failed("nothing was removed.") }
  }

  private static func line(_ item: StateDirectory.Kept) -> String {
    "\(item.what): \(item.path), \(item.files) \(item.files == 1 ? "file" : "files"), \(item.bytes) bytes"
  }

  private static func failure(_ error: FileError) -> Failure {
    .failed("\(error).")
  }
}
