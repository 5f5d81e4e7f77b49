import Foundation
import Testing

/// What a second daemon, a closed terminal, and a first start by root do to a child that runs as it should.
extension RealPeers {
  @Suite struct DaemonTests {
    private func stop(_ child: ChildProcess, by signal: Int32, times: Int = 1) -> Bool {
      for _ in 0..<times { kill(child.processIdentifier, signal) }
      for _ in 0..<200 where child.isRunning { usleep(50_000) }
      return !child.isRunning
    }

    /// The terminal closes: the kernel sends SIGHUP, and the shell once more. A parent that watches is told.
    @Test func aHangupIsAnOrderlyStop() throws {
      // Whoever runs the tests may have it ignored, as `nohup` does.
      signal(SIGHUP, SIG_DFL)
      let house = try Household()
      try house.pair()
      let watching = try ParentProcess(paired: house.state)
      _ = try #require(watching.wait { $0.framesPerSecond > 0 && $0.audioKbps > 0 })
      #expect(stop(house.child, by: SIGHUP, times: 2))
      #expect(house.child.logText.contains("stopping"))
      let after = watching.wait(limit: 15) { $0.alarm != nil }
      #expect(
        after?.alarm?.kind == "child-stopped" && after?.alarm?.level == "notice", "\(watching.figures.suffix(3))")
    }

    /// Whoever started it asked that it outlives the terminal.
    @Test func nohupIsHeeded() throws {
      let child = try ChildProcess(prefix: ["nohup"])
      kill(child.processIdentifier, SIGHUP)
      usleep(1_000_000)
      #expect(try child.command(["status"]).status == 0)
    }

    /// Another state directory, the same runtime directory: it must not take the socket.
    @Test func aSecondDaemonLeavesTheFirstOnesSocketAlone() throws {
      let child = try ChildProcess()
      let run = child.folder.appending(path: "run").path
      let second = try ChildProcess.run(
        ChildProcess.program.path,
        [
          "run", "--config", child.folder.appending(path: "child.yaml").path, "--listen", "127.0.0.1:0",
          "--state-directory", child.folder.appending(path: "state2").path, "--runtime-directory", run,
        ])
      #expect(second.status == 1, Comment(rawValue: "\(second)"))
      #expect(
        second.error.contains("in use by another daemon (process \(child.processIdentifier))")
          && second.error.contains("--runtime-directory"), Comment(rawValue: second.error))
      #expect(try child.command(["status"]).status == 0)
      // A daemon that was killed holds nothing.
      child.kill()
      try child.restart()
    }

    /// A socket that somebody listens at, without our lock: a daemon of an earlier version.
    @Test func aSocketThatAnswersIsNotTaken() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let listener = Process()
      listener.executableURL = URL(filePath: "/usr/bin/env")
      let script = """
        import socket, sys, time
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen()
        print(1, flush=True)
        time.sleep(60)
        """
      listener.arguments = ["python3", "-c", script, folder.appending(path: "control.sock").path]
      let output = Pipe()
      listener.standardOutput = output
      try listener.run()
      defer { listener.terminate() }
      _ = try output.fileHandleForReading.read(upToCount: 1)
      let daemon = try ChildProcess.run(
        ChildProcess.program.path,
        [
          "run", "--camera", "test", "--microphone", "test", "--listen", "127.0.0.1:0", "--state-directory",
          folder.appending(path: "state").path, "--runtime-directory", folder.path,
        ])
      #expect(daemon.status == 1 && daemon.error.contains("in use by another daemon"), Comment(rawValue: "\(daemon)"))
    }

    // MARK: Directories

    private static let nobody: UInt32 = 65_534
    private static let recording = """
      name: Nursery
      cameras: [{id: cot, device: test, width: 320, height: 240, framerate: 10}]
      microphone: {device: test}
      record: {mode: always, part: 10s}
      notify: [{name: gone, url: "http://127.0.0.1:1/", level: notice, events: [restart]}]
      """

    /// A folder with an empty state directory, both of another user.
    private func folderOfNobody(_ names: [String] = []) throws -> (folder: URL, state: URL) {
      let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      let state = folder.appending(path: "state")
      for name in [""] + names {
        let path = state.appending(path: name).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(chmod(path, 0o700) == 0)
      }
      for path in [folder.path, state.path] { try #require(chown(path, Self.nobody, Self.nobody) == 0) }
      return (folder, state)
    }

    private func files(below folder: URL) -> [String] {
      let names = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String] ?? []
      return names.map { "\(folder.path)/\($0)" }
    }

    private func owner(_ path: String) -> UInt32? {
      var status = stat()
      return lstat(path, &status) == 0 ? status.st_uid : nil
    }

    /// `sudo cradle-child run` once, then the service: it can use everything that the first start has made.
    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func aFirstStartByRootLeavesNothingThatTheServiceCannotUse() throws {
      let (folder, state) = try folderOfNobody()
      defer { try? FileManager.default.removeItem(at: folder) }
      let directories = ["--state-directory", state.path, "--runtime-directory", folder.appending(path: "run").path]
      let file = folder.appending(path: "child.yaml").path
      try Self.recording.write(toFile: file, atomically: true, encoding: .utf8)
      let daemon = Process()
      daemon.executableURL = ChildProcess.program
      daemon.arguments = ["run", "--config", file, "--listen", "127.0.0.1:0"] + directories
      daemon.standardError = FileHandle.nullDevice
      try daemon.run()
      var made: [String] = []
      for _ in 0..<150 where !made.contains(where: { $0.hasSuffix(".webm") }) {
        usleep(100_000)
        made = files(below: state)
      }
      // A part that is being written, too.
      #expect(made.contains { $0.hasSuffix(".webm") }, "\(made)")
      usleep(500_000)
      for path in files(below: folder) where !path.hasSuffix(".yaml") && !path.hasSuffix(".sock") {
        #expect(owner(path) == Self.nobody || owner(path) == nil, "\(path)")
      }
      daemon.terminate()
      daemon.waitUntilExit()
      made = files(below: state)
      for name in ["events/events.db", "recordings", "notify/gone.json", "lock", "identity.pem"] {
        #expect(made.contains(state.path + "/" + name), "\(name): \(made)")
      }
      for path in made { #expect(owner(path) == Self.nobody, "\(path)") }
    }

    /// What an earlier version left: each command says so, with what to do.
    @Test(.enabled(if: geteuid() == 0, "needs another user")) func whatCannotBeWrittenIsSaid() throws {
      let names = ["events", "recordings", "notify"]
      let (folder, state) = try folderOfNobody(names)
      defer { try? FileManager.default.removeItem(at: folder) }
      let run = folder.appending(path: "run").path
      try FileManager.default.createDirectory(atPath: run, withIntermediateDirectories: true)
      try #require(chown(run, Self.nobody, Self.nobody) == 0)
      let file = folder.appending(path: "child.yaml").path
      try Self.recording.write(toFile: file, atomically: true, encoding: .utf8)
      let directories = ["--state-directory", state.path, "--runtime-directory", run]
      // The program itself may stand where only root looks.
      let program = folder.appending(path: "cradle-child").path
      try FileManager.default.copyItem(atPath: ChildProcess.program.path, toPath: program)
      let user = ["setpriv", "--reuid=\(Self.nobody)", "--regid=\(Self.nobody)", "--clear-groups", program]
      let daemon = Process()
      daemon.executableURL = URL(filePath: "/usr/bin/env")
      daemon.arguments = user + ["run", "--config", file, "--listen", "127.0.0.1:0"] + directories
      daemon.standardError = FileHandle.nullDevice
      try daemon.run()
      defer {
        daemon.terminate()
        daemon.waitUntilExit()
      }
      var status = ""
      for _ in 0..<100 where !status.contains("cannot write") {
        usleep(200_000)
        status = try ChildProcess.run(program, ["status"] + directories).output
      }
      for name in names { #expect(status.contains("\(state.path)/\(name), which"), Comment(rawValue: status)) }
      for command in ["check", "doctor"] {
        for prefix in [[program], user] {
          let said = try ChildProcess.run("env", prefix + [command, "--config", file] + directories)
          #expect(said.status == 1)
          for name in names {
            #expect(said.output.contains("cannot write \(state.path)/\(name),"), "\(command) \(prefix): \(said)")
          }
        }
      }
    }

    // MARK: The configuration of a running daemon

    /// Without `--config` the file is meant that the running daemon has read.
    @Test func awayKnowsTheDaemonsConfiguration() throws {
      let place = try RendezvousProcess(RendezvousFolder(), configuration: "names: ['127.0.0.1']\n")
      let meeting = "{rendezvous: \"wss://127.0.0.1:\(place.port)\", key-sha256: \"\(try place.keySHA256())\"}"
      let child = try ChildProcess(
        configuration: ChildProcess.testConfiguration + "\naway: {meetings: [\(meeting)]}\n")
      var said = ""
      for _ in 0..<100 where !said.contains("present") {
        usleep(100_000)
        said = try child.command(["away"]).output
        try #require(!said.contains("Nothing is configured"), Comment(rawValue: said))
      }
      #expect(said.contains("wss://127.0.0.1:\(place.port)"), Comment(rawValue: said))
      // The file is gone: the daemon still knows.
      try FileManager.default.removeItem(at: child.folder.appending(path: "child.yaml"))
      let gone = try child.command(["away"])
      #expect(gone.output.contains("present") && gone.error.contains("child.yaml"), Comment(rawValue: "\(gone)"))
    }
  }
}
