import Foundation
import TestSupport
import Testing

/// What the commands do with what people type, and where their output goes.
extension RealPeers {
  @Suite struct CommandLineTests {
    private static let programs = [ChildProcess.program, ParentProcess.program, RendezvousFolder.program]

    /// `--experimental-dump-help` of swift-argument-parser.
    private struct Help: Decodable {
      struct Command: Decodable {
        var commandName: String
        var subcommands: [Command]?
        var arguments: [Argument]?
      }
      struct Argument: Decodable {
        struct Name: Decodable {
          var kind: String
          var name: String
        }
        var kind: String
        var names: [Name]?
        var long: String? { names?.first { $0.kind == "long" }?.name }
      }
      var command: Command
    }

    /// Every command of a program that does something, by its words.
    private static func commands(of program: URL) throws -> [(words: [String], arguments: [Help.Argument])] {
      let (output, error, status) = try ChildProcess.run(program.path, ["--experimental-dump-help"])
      try #require(status == 0, Comment(rawValue: error))
      func walk(_ command: Help.Command, _ words: [String]) -> [([String], [Help.Argument])] {
        let further = (command.subcommands ?? []).filter { $0.commandName != "help" }
        if further.isEmpty { return [(words, command.arguments ?? [])] }
        return further.flatMap { walk($0, words + [$0.commandName]) }
      }
      return walk(try JSONDecoder().decode(Help.self, from: Data(output.utf8)).command, [])
    }

    /// These answer nothing: they run until they are ended. `watch` has `--stats`.
    private static let lasting: Set = ["run", "watch", "talk"]

    @Test func everyCommandThatAnswersDoesSoInJSON() throws {
      for program in Self.programs {
        let commands = try Self.commands(of: program)
        #expect(commands.count >= 3)
        for (words, arguments) in commands where !Self.lasting.contains(words.joined(separator: " ")) {
          #expect(
            arguments.contains { $0.kind == "flag" && $0.long == "json" },
            "\(program.lastPathComponent) \(words.joined(separator: " "))")
        }
      }
    }

    /// Whatever the option: what cannot be is refused as a value, and not because it looks like another option.
    @Test func everyOptionTakesANegativeNumberForItsValue() throws {
      var count = 0
      for program in Self.programs {
        for (words, arguments) in try Self.commands(of: program) {
          let options = try arguments.filter { $0.kind == "option" }.map { try #require($0.long) }
          let flag = arguments.first { $0.kind == "flag" && !["help", "version"].contains($0.long) }?.long
          // So that none of them runs.
          let error = try ChildProcess.run(
            program.path, words + options.flatMap { ["--\($0)", "-45"] } + ["--no-such-option"]
          ).error
          let note = Comment(rawValue: "\(program.lastPathComponent) \(words): \(error)")
          #expect(error.hasPrefix("Error: ") && !error.contains("Missing value"), note)
          #expect(!error.contains(#/Unknown option '-\d/#), note)
          count += options.count
          // Behind a flag, and behind a word, it is an argument.
          for before in [flag.map { ["--\($0)"] } ?? [], []]
          where arguments.contains(where: { $0.kind == "positional" }) {
            let error = try ChildProcess.run(program.path, words + before + ["-45", "--no-such-option"]).error
            let note = Comment(rawValue: "\(program.lastPathComponent) \(words) \(before) -45: \(error)")
            #expect(error.hasPrefix("Error: ") && !error.contains("Missing expected argument"), note)
            #expect(!error.contains("does not take any value") && !error.contains(#/Unknown option '-\d/#), note)
          }
        }
      }
      #expect(count > 50)
    }

    /// What cannot be is refused with what can be.
    @Test(arguments: [
      (["lullaby", "volume", "-3"], "The volume is 0 to 100 percent."),
      (["lullaby", "volume", "--json", "-3"], "The volume is 0 to 100 percent."),
      (["lullaby", "play", "--volume", "-3"], "--volume is 0 to 100 percent."),
      (["lullaby", "play", "--for", "-5m"], "--for is 0 to 86400 seconds."),
      (["lullaby", "play", "--fade", "-1s"], "--fade is 0 to 600 seconds."),
      (["light", "on", "--brightness", "-1"], "--brightness is 0 to 100 percent."),
      (["light", "on", "--for", "-1h"], "--for is 1 to 86400 seconds."),
      (["flash", "--times", "-1"], "--times is 1 to 100 flashes."),
      (["screenshot", "--quality", "-1"], "--quality is 1 to 100."),
      (["events", "--limit", "-1"], "--limit is 1 to 200 events."),
      (["doctor", "--seconds", "-1"], "--seconds is 1 to 600."),
      (
        ["invite", "--for", "8"],
        "The value '8' is invalid for '--for <for>': A length of time has a unit: 45s, 10m, 8h, 2d or 1h30m."
      ),
      (["report", "--night", "9999-12-31"], "--night 9999-12-31: that night has not begun yet."),
      (["invite", "--for", "-8h"], "--for is 60 to 2592000 seconds."),
      (["discover", "--timeout", "-5s"], "--timeout is 1 to 86400 seconds."),
      (["talk", "--duration", "-5"], "--duration is more than 0 and less than 1000000 seconds."),
      (["watch", "--duration", "-5"], "--duration is more than 0 and less than 100000000 seconds."),
    ])
    func aNumberOutOfRangeIsToldTheRange(_ arguments: [String], _ range: String) throws {
      let (_, error, status) = try ChildProcess.run(ParentProcess.program.path, arguments)
      #expect(status == 2 && error.hasPrefix("Error: \(range)\n"), Comment(rawValue: error))
    }

    /// The name that was typed, and where the right ones are.
    @Test func whatIsCalledOtherwiseIsNamed() throws {
      let home = try Household()
      try home.pair()
      for (arguments, text) in [
        (["lullaby", "play", "nope"], "No sound called \"nope\". List them: cradle-parent lullaby list"),
        (["camera", "switch", "nope"], "No view called \"nope\". There are: cot, door."),
        (["screenshot", "--camera", "nope"], "No view called \"nope\". There are: cot, door."),
        (["light", "on", "--id", "nope"], "No light called \"nope\". There are: nightlight."),
      ] {
        let (output, error, status) = try ChildProcess.run(
          ParentProcess.program.path, arguments + ["--state-directory", home.state.path])
        #expect(status == 1 && output.isEmpty && error == "cradle-parent: \(text)\n", Comment(rawValue: error))
      }
      for json in [[], ["--json"]] {
        let (output, error, status) = try home.child.command(["notify", "nope"] + json)
        #expect(status == 1 && output.isEmpty && error.contains("no notifier is called \"nope\""))
      }
      // As long as the camera lets it, as the help says.
      let played = try home.parent("lullaby", "play", "--for", "0s")
      #expect(played.output.contains("ends in 12:00:00"), Comment(rawValue: played.output + played.error))
      #expect(try home.parent("lullaby", "play", "--help").output.contains("12h"))
    }

    // MARK: Talking

    /// A microphone that cannot be opened takes nobody's place, and one that fails is not talked into.
    @Test func talkingWithoutAMicrophoneIsAFailure() throws {
      let home = try Household()
      try home.pair()
      let none = try home.parent("talk", "--microphone", "file:/nonexistent.wav")
      #expect(none.status == 1 && !none.error.contains("You are heard"), Comment(rawValue: none.error))
      #expect(
        none.error.contains("no microphone: /nonexistent.wav: not found.") && none.error.contains("--microphone.")
          && !none.error.contains("configuration"), Comment(rawValue: none.error))
      #expect(try !home.parent("events", "--json").output.contains("\"talk\""))
      // Ten seconds of silence, of which most are taken away while it talks.
      let wav = home.child.folder.appending(path: "voice.wav")
      let bytes = 960_000
      func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      }
      var header = Array("RIFF".utf8) + little(bytes + 36, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
      header += little(1, 2) + little(48_000, 4) + little(96_000, 4) + little(2, 2) + little(16, 2)
      header += Array("data".utf8) + little(bytes, 4)
      try Data(header + [UInt8](repeating: 0, count: bytes)).write(to: wav)
      let talk = ParentProcess.program.path + " talk --state-directory \(home.state.path) --microphone file:\(wav.path)"
      let said = try Self.shell(
        """
        timeout 60 \(talk) --duration 50 2> \(wav.path).log & talk=$!
        for i in $(seq 200); do grep -q heard \(wav.path).log && break; sleep 0.1; done
        truncate -s 200 \(wav.path)
        wait $talk; echo $?; cat \(wav.path).log
        """)
      #expect(said.output.hasPrefix("1\nYou are heard."), Comment(rawValue: said.output + said.error))
      #expect(
        said.output.contains("the microphone was lost: \(wav.path): it became shorter while it was read."),
        Comment(rawValue: said.output))
    }

    @Test func levelsAreTakenAsTheDocumentsWriteThem() throws {
      let home = try Household()
      try home.pair()
      let watched = try home.parent(
        "watch", "--audio-only", "--vox", "-45", "--speaker", "null", "--stats", "--duration", "1")
      #expect(watched.status == 0, Comment(rawValue: watched.error))
      let report = try home.parent("report", "--noise", "-40", "--json")
      #expect(report.status == 0 && report.output.contains("\"thresholdDb\":-40"), Comment(rawValue: report.error))
      let wrong = try home.parent("report", "--noise", "-400")
      #expect(wrong.status == 2 && wrong.error.contains("--noise is -100 to 0 dB"), Comment(rawValue: wrong.error))
    }

    // MARK: Standard output

    /// Runs a line of a shell.
    private static func shell(_ line: String, environment: [String: String] = [:]) throws -> (
      output: String, error: String, status: Int32
    ) {
      try ChildProcess.run(
        "env", environment.map { "\($0.key)=\($0.value)" } + ["bash", "-o", "pipefail", "-c", line])
    }

    @Test func whatCannotBePrintedIsAnError() throws {
      let home = try Household()
      try home.pair()
      let child =
        "\(ChildProcess.program.path) status --runtime-directory \(home.child.folder.appending(path: "run").path)"
      let parent = "\(ParentProcess.program.path) status --state-directory \(home.state.path)"
      for command in [child, "\(child) --json", parent, "\(parent) --json"] + Self.programs.map({ "\($0.path) --help" })
      {
        let full = try Self.shell("\(command) > /dev/full")
        #expect(full.status == 1 && full.error.contains("cannot write to standard output: No space left"), "\(command)")
        let closed = try Self.shell("\(command) >&-")
        #expect(closed.status == 1 && closed.error.contains("cannot write to standard output"), "\(command)")
      }
      // Somebody who reads no further.
      let gone = try Self.shell(
        "(\(ParentProcess.program.path) watch --state-directory \(home.state.path) --stats --speaker null; echo $? >&2)"
          + " | head -1")
      #expect(gone.output.hasPrefix("{") && gone.error.contains("Broken pipe"), Comment(rawValue: gone.error))
      #expect(gone.error.hasSuffix("1\n"), Comment(rawValue: gone.error))
    }

    @Test func nothingToTellIsNoLine() throws {
      let home = try Household()
      try home.pair()
      let events = try home.parent("events", "--level", "alarm", "--json")
      #expect(events.status == 0 && events.output.isEmpty, Comment(rawValue: events.error))
      let id = home.childID
      let unpaired = try home.parent("unpair", id, "--json")
      #expect(
        unpaired.output == "{\"told\":true,\"unpaired\":{\"id\":\"\(id)\",\"name\":\"Nursery\"}}\n",
        Comment(rawValue: unpaired.error))
    }

    // MARK: Files, pipes, devices

    private static func kinds(of probe: String) -> [Substring] { probe.split(separator: "\n") }

    private static let probe = "ffprobe -v error -show_entries stream=codec_name -of csv=p=0"

    @Test func aRecordingGoesThroughAPipe() throws {
      let home = try Household()
      try home.pair()
      let watch =
        "\(ParentProcess.program.path) watch --state-directory \(home.state.path) --no-window --speaker null"
      for name in ["-", "/dev/stdout"] {
        let (output, error, status) = try Self.shell(
          "\(watch) --record \(name) --duration 2 | (\(Self.probe) -; cat > /dev/null)")
        #expect(Self.kinds(of: output) == ["vp8", "opus"] && status == 0, Comment(rawValue: error))
      }
      // Played as it comes, by another program that decodes all of it.
      let played = try Self.shell(
        "\(watch) --record - --duration 2 | ffmpeg -v error -i - -f null - -progress /dev/stdout | grep ^frame= | tail -1"
      )
      let frames = Int(played.output.dropFirst(6).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
      #expect(frames > 20 && played.status == 0, Comment(rawValue: played.output + played.error))
      #expect(
        played.error.contains("recorded ") && !played.error.contains("nothing was"), Comment(rawValue: played.error))
      let fifo = home.child.folder.appending(path: "fifo").path
      let reading = "(\(Self.probe) -; cat > /dev/null) < \(fifo)"
      let through = try Self.shell(
        "mkfifo \(fifo) && (\(reading) & \(watch) --record \(fifo) --duration 2; echo $?; wait)")
      #expect(Set(Self.kinds(of: through.output)) == ["0", "vp8", "opus"], Comment(rawValue: through.error))
      #expect(try Self.shell("test -p \(fifo)").status == 0)
    }

    @Test func aReaderThatGoesEndsTheCommand() throws {
      let home = try Household()
      try home.pair()
      let watch = "\(ParentProcess.program.path) watch --state-directory \(home.state.path) --no-window --speaker null"
      let gone = try Self.shell("(timeout 30 \(watch) --record -; echo $? >&2) | head -c 20000 | wc -c")
      #expect(gone.output == "20000\n", Comment(rawValue: gone.error))
      #expect(
        gone.error.contains("whoever has read it has closed it") && gone.error.hasSuffix("\n1\n"), "\(gone.error)")
      let full = try Self.shell("timeout 30 \(watch) --record /dev/full --duration 2")
      #expect(full.status == 1 && full.error.contains("No space left on device"), Comment(rawValue: full.error))
    }

    @Test func whatWasAskedForAndIsNotThereIsAFailure() throws {
      let home = try Household()
      try home.pair()
      let missing = try home.parent("watch", "--no-window", "--speaker", "null", "--snapshot", "/nonexistent/x.jpg")
      #expect(missing.status == 1 && missing.error.contains("cannot write /nonexistent/x.jpg: No such file"))
      let directory = try home.parent("watch", "--no-window", "--record", home.child.folder.path)
      #expect(directory.status == 1 && directory.error.contains("Is a directory"), Comment(rawValue: directory.error))
      let full = try home.parent(
        "watch", "--no-window", "--speaker", "null", "--duration", "1", "--snapshot", "/dev/full")
      #expect(full.status == 1 && full.error.contains("the picture could not be saved"), Comment(rawValue: full.error))
      let both = try home.parent("watch", "--record", "-", "--snapshot", "-")
      #expect(both.status == 2 && both.error.contains("both write to standard output"), Comment(rawValue: both.error))
    }

    @Test(.enabled(if: getuid() == 0, "only root makes device nodes"))
    func aDeviceNodeIsNeverReplaced() throws {
      let home = try Household()
      try home.pair()
      let node = home.child.folder.appending(path: "full").path
      let made = try ChildProcess.run("mknod", [node, "c", "1", "7"])
      try #require(made.status == 0, Comment(rawValue: made.error))
      for arguments in [["screenshot", "-o", node], ["report", "--png", node]] {
        let (_, error, status) = try ChildProcess.run(
          ParentProcess.program.path, arguments + ["--state-directory", home.state.path])
        #expect(status == 1 && error.contains("cannot write \(node): No space left"), Comment(rawValue: error))
        #expect(try Self.shell("test -c \(node)").status == 0)
      }
      let picture = try Self.shell(
        "\(ParentProcess.program.path) screenshot -o /dev/stdout --state-directory \(home.state.path) | file -")
      #expect(picture.output.contains("JPEG image data"), Comment(rawValue: picture.error))
      #expect(picture.error.contains("Saved /dev/stdout (640x360"), Comment(rawValue: picture.error))
    }

    @Test(.timeLimit(.minutes(1))) func whatIsNoFileIsNoConfiguration() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let fifo = "\(folder)/fifo"
      try #require(try ChildProcess.run("mkfifo", ["-m", "600", fifo]).status == 0)
      for program in [ChildProcess.program, RendezvousFolder.program] {
        for command in ["check", "run"] {
          for (path, words) in [(fifo, "a FIFO"), (folder, "a directory"), ("/dev/zero", "a device")] {
            let (_, error, status) = try ChildProcess.run(
              program.path, [command, "--config", path, "--state-directory", folder + "/state"])
            #expect(status == 2 && error.contains("it is \(words)"), Comment(rawValue: error))
          }
        }
      }
      // Keys and certificates.
      let configuration = "\(folder)/child.yaml"
      try "cameras: []\nmicrophone: {device: test}\ntls: {certificate: \(fifo), key: \(fifo)}\n".write(
        toFile: configuration, atomically: true, encoding: .utf8)
      let check = try ChildProcess.run(
        ChildProcess.program.path, ["check", "--config", configuration, "--state-directory", folder + "/state"])
      #expect(check.status == 1 && check.output.contains("it is no regular file"), Comment(rawValue: check.error))
    }

    // MARK: Times and names

    @Test func timesForPeopleAreLocalAndThoseForProgramsAreUTC() throws {
      let home = try Household()
      try home.pair()
      let runtime = ["--runtime-directory", home.child.folder.appending(path: "run").path]
      func ask(_ arguments: [String]) throws -> String {
        try ChildProcess.run("env", ["TZ=Asia/Kolkata", ChildProcess.program.path] + arguments + runtime).output
      }
      let now = Date()
      var local = Date.ISO8601FormatStyle(timeZone: try #require(TimeZone(identifier: "Asia/Kolkata")))
      local = local.year().month().day()
      let (here, utc) = (now.formatted(local), now.formatted(.iso8601).prefix(11))
      for command in [["pairs"], ["token", "list"]] {
        let text = try ask(command)
        #expect(text.contains(" \(here) ") && !text.contains(#/\d\dZ/#), Comment(rawValue: text))
        let json = try ask(command + ["--json"])
        #expect(json.contains("\"createdAt\":\"\(utc)"), Comment(rawValue: json))
      }
      let made = try ChildProcess.run(
        "env", ["TZ=Asia/Kolkata", ChildProcess.program.path, "token", "add", "--name", "b", "--for", "10m"] + runtime)
      #expect(made.error.contains("It ends at \(here) ") && !made.error.contains("Z."), Comment(rawValue: made.error))
      _ = try home.open()
      let window = try ask(["invites"])
      #expect(window.contains(" \(here) ") && !window.contains(#/\d\dZ/#), Comment(rawValue: window))
    }

    @Test func twoOfOneNameAreToldApart() throws {
      let home = try Household()
      try home.pair()
      // Another child of that name, paired with the same parent.
      let attic = try Household()
      let second = try home.parent("pair", attic.address, "--code", attic.open().code)
      #expect(second.status == 0 && second.output.contains("Paired with Nursery #2 ("), Comment(rawValue: second.error))
      struct Status: Decodable { var id: String }
      for name in ["Nursery", "nursery #2"] {
        let status = try home.parent("status", "--child", name, "--json")
        let id = try JSONDecoder().decode(Status.self, from: Data(status.output.utf8)).id
        #expect((id == home.childID) == (name == "Nursery"), Comment(rawValue: status.error))
        #expect(try home.parent("status", "--child", String(id.prefix(6)), "--json").output.contains(id))
      }
      // Two parents of one name.
      let other = home.child.folder.appending(path: "other")
      let code = try home.open().code
      let named = try home.parent("pair", home.address, "--code", code, state: other)
      try #require(named.status == 0, Comment(rawValue: named.error))
      let pairs = try home.pairs()
      #expect(pairs.map(\.name) == [pairs[0].name, "\(pairs[0].name) #2"])
      let gone = try home.child.command(["unpair", String(pairs[1].id.prefix(5)), "--json"])
      #expect(gone.status == 0 && gone.output.contains(pairs[1].id), Comment(rawValue: gone.error))
      #expect(try home.pairs().map(\.id) == [pairs[0].id])
    }
  }
}
