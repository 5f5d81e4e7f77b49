import ArgumentParser
import Commands
import Control
import Glibc
import Linux
import Pairing
import Parent
import Storage

/// `cradle-parent recordings`
struct Recordings: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists and fetches what the baby unit has recorded; has it record.",
    discussion:
      "Recording is off unless `record` in child.yaml switches it on, and needs a permission of its own.",
    subcommands: [List.self, Fetch.self, Start.self, Stop.self], defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the clips, the newest last.")

    @OptionGroup var child: ChildOptions
    @Flag(help: "Print one JSON object {recordings: {mode, state, parts: [{id, time, seconds, bytes}]}}.")
    var json = false

    func run() async throws { try await child.show(RecordingsList(), json) }
  }

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Records until `recordings stop`.")

    @OptionGroup var child: ChildOptions
    @Flag(help: "Print one JSON object: {}.")
    var json = false

    func run() async throws { try await child.show(RecordingsStart(), json) }
  }

  struct Stop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Ends the recording, however it began.")

    @OptionGroup var child: ChildOptions
    @Flag(help: "Print one JSON object: {}.")
    var json = false

    func run() async throws { try await child.show(RecordingsStop(), json) }
  }

  struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Saves a clip as a WebM file.",
      discussion: "The clip is named by its id, or by a time within it, such as 3:12: the latest such time.")

    @Argument(help: "An id of `recordings list`, a time (3:12), or `last`.")
    var part: String
    @Option(
      name: .shortAndLong, help: "The file, a FIFO, or - for standard output. (default: CHILD-ID.webm)",
      completion: .file(extensions: ["webm"]))
    var output: String?
    @OptionGroup var child: ChildOptions
    @Flag(help: "Print one JSON object {file, id, size}.")
    var json = false

    private struct Report: Encodable {
      var file: String
      var id: String
      var size: Int
    }

    func validate() throws {
      if json { try OutputOption.refuse(output, "--output", beside: "--json") }
    }

    func run() async throws {
      try await child.command { session in
        let id = try await chosen(session)
        let name = "\(Screenshot.plain(session.child.record.name))-\(Screenshot.plain(id)).webm"
        let output = OutputPath(output ?? name)
        let file = try OutputFile(output)
        var offset = 0
        try await withProgress("Fetching \(id)") {
          while true {
            let piece = try await session.fetch(RecordingsRead(id: id, offset: offset))
            try file.append(piece.bytes)
            offset += piece.bytes.count
            if offset >= piece.document.total ?? offset { return }
          }
        }
        try file.finish()
        output.report(
          json
            ? JSONLine.text(Report(file: output.path, id: id, size: offset))
            : "Saved \(output.path) (\(offset >> 10) KiB).")
      }
    }

    private func chosen(_ session: ControlSession) async throws -> String {
      let clock = ClockTime(part)
      guard clock != nil || part == "last" else { return part }
      let list = try await session.perform(RecordingsList())
      let found = list.parts.last { part in
        clock.map { LocalTime.isWithin(minutes: $0.minutes, from: part.time, seconds: part.seconds) } ?? true
      }
      guard let found else { throw Failure.failed("nothing was recorded then; `recordings list` says what was") }
      return found.id
    }
  }
}
