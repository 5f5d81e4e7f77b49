import ArgumentParser
import Child
import Commands
import Control
import JSON
import Linux

/// `cradle-child recordings`
struct Recordings: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists what the baby unit has recorded; starts and stops a recording by hand.",
    discussion: "Recording is off unless `record` in the configuration says otherwise.",
    subcommands: [List.self, Start.self, Stop.self], defaultSubcommand: List.self)

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the clips, oldest first.")

    @OptionGroup var directories: DirectoryOptions
    @Flag(help: "Print one JSON object {mode, state, reason, folder, recordings: [{id, time, bytes}]}.")
    var json = false

    func run() throws {
      let list = try Daemon.ask(RecordingsShow(), directories)
      if json { return print(JSON.text(list)) }
      print("Mode \(list.mode), \(list.state)" + (list.reason.map { ": \($0)" } ?? ""))
      guard let folder = list.folder else { return }
      print("In \(folder):")
      if list.recordings.isEmpty { return print("Nothing yet.") }
      let rows = list.recordings.map { [LocalTime.text($0.time), "\($0.bytes / 1000) kB", "\($0.id).webm"] }
      print(Table.text([["BEGINS", "SIZE", "FILE"]] + rows))
    }
  }

  struct Start: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Records until `recordings stop`.")

    @OptionGroup var directories: DirectoryOptions
    @Flag(help: "Print one JSON object: {}.")
    var json = false

    func run() throws {
      let done = try Daemon.ask(RecordingsStart(), directories)
      print(json ? JSON.text(done) : "Recording.")
    }
  }

  struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Ends the recording, however it began.")

    @OptionGroup var directories: DirectoryOptions
    @Flag(help: "Print one JSON object: {}.")
    var json = false

    func run() throws {
      let done = try Daemon.ask(RecordingsStop(), directories)
      print(json ? JSON.text(done) : "Stopped.")
    }
  }
}
