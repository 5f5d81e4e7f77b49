import ArgumentParser
import Commands
import FoundationEssentials
import Glibc
import Storage

/// `cradle-child erase`
struct Erase: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Removes identity, pairs, tokens, recordings, screenshots and events.",
    discussion: """
      For a board that is given away, or to begin anew. The daemon must be stopped. The next start makes a new identity, \
      and every parent must pair again. The configuration stays. \
      What was removed may still be read from a memory card by those who have the means: to be safe, write it anew.
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
      throw Failure.failed("there is no state directory \(path); is it another one? --state-directory names it.")
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
    let (kept, left) = try state.contents()
    if !yes, !kept.isEmpty { try confirm(kept) }
    let removed = try state.erase()
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return print(String(decoding: try encoder.encode(Report(removed: removed, left: left)), as: UTF8.self))
    }
    if removed.isEmpty { print("There was nothing to remove in \(state.path).") }
    for item in removed { print("Removed \(Self.line(item))") }
    for path in left { print("Left \(path): it is not Cradle's own.") }
  }

  private func confirm(_ kept: [StateDirectory.Kept]) throws {
    guard isatty(STDIN_FILENO) == 1 else {
      throw ValidationError("Nothing was removed. Where nobody can be asked, --yes says that it is meant.")
    }
    printError("This removes for good:")
    for item in kept { printError("  \(Self.line(item))") }
    printError("Every parent must pair again then. Type \"erase\" to go on:")
    guard readLine() == "erase" else { throw Failure.failed("nothing was removed.") }
  }

  private static func line(_ item: StateDirectory.Kept) -> String {
    "\(item.what): \(item.path), \(item.files) \(item.files == 1 ? "file" : "files"), \(item.bytes) bytes"
  }

  private static func failure(_ error: FileError) -> Failure {
    .failed("\(error).")
  }
}
