import Foundation
import Testing

extension RealPeers {
  /// `cradle-child erase`, and a backup of the state directory, as docs/OWNING.md describes it.
  @Suite struct EraseTests {
    private struct State: Decodable { var id: String }

    private static func id(of child: ChildProcess) throws -> String {
      let deadline = Date().addingTimeInterval(30)
      while true {
        let (output, error, status) = try child.command(["status", "--json"])
        if status == 0 { return try JSONDecoder().decode(State.self, from: Data(output.utf8)).id }
        try #require(Date() < deadline, Comment(rawValue: error))
        usleep(100_000)
      }
    }

    private static func names(_ folder: URL) throws -> Set<String> {
      Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    }

    @Test func aBackupBringsTheIdentityBack() throws {
      let child = try ChildProcess()
      let state = child.folder.appending(path: "state")
      let copy = child.folder.appending(path: "copy")
      let id = try Self.id(of: child)
      #expect(child.stop() == 0)
      try FileManager.default.copyItem(at: state, to: copy)

      let (output, error, status) = try child.command(["erase", "--yes", "--json"])
      #expect(status == 0, Comment(rawValue: error))
      for file in ["identity.pem", "tokens.json"] { #expect(output.contains("\(state.path)/\(file)"), "\(output)") }
      #expect(output.contains(#""left":[]"#))
      #expect(try Self.names(state).isEmpty)

      try child.restart()
      #expect(try Self.id(of: child) != id)
      #expect(try child.command(["token", "list", "--json"]).output == "[]\n")
      #expect(child.stop() == 0)
      try FileManager.default.removeItem(at: state)
      try FileManager.default.copyItem(at: copy, to: state)
      try child.restart()
      #expect(try Self.id(of: child) == id)
      #expect(try child.command(["token", "list", "--json"]).output.contains(#""name":"test""#))
    }

    @Test func recordingsGoWhereverTheyAre() throws {
      let clips = FileManager.default.temporaryDirectory.appending(path: "clips-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: clips, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: clips) }
      let clip = "2026-11-28T01-02-03Z-cot.webm"
      for name in [clip, "holiday.webm"] { try Data("x".utf8).write(to: clips.appending(path: name)) }
      let child = try ChildProcess(
        configuration: """
          cameras: [{id: cot, device: test, width: 64, height: 48}]
          microphone: {device: none}
          record: {folder: \(clips.path)}
          """)
      _ = try Self.id(of: child)
      #expect(child.stop() == 0)
      let link = child.folder.appending(path: "state/screenshots")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: clips)
      let erased = try child.command(["erase", "--yes", "--config", child.folder.appending(path: "child.yaml").path])
      #expect(erased.status == 0 && erased.output.contains("recordings: \(clips.path), 1 file"), "\(erased)")
      #expect(erased.output.contains("it is a link; what it leads to is still there"), "\(erased)")
      #expect(try Self.names(clips) == ["holiday.webm"])
    }

    @Test func nothingIsErasedUnderARunningDaemonOrUnasked() throws {
      let child = try ChildProcess()
      let state = child.folder.appending(path: "state")
      let before = try Self.names(state)
      let running = try child.command(["erase", "--yes"])
      #expect(running.status == 1)
      #expect(running.error.contains("systemctl stop cradle-child"), Comment(rawValue: running.error))
      #expect(child.stop() == 0)
      let unasked = try child.command(["erase"])
      #expect(unasked.status == 2 && unasked.error.contains("--yes"), Comment(rawValue: unasked.error))
      #expect(try Self.names(state) == before)
      let nowhere = try ChildProcess.run(
        ChildProcess.program.path, ["erase", "--yes", "--state-directory", "/nonexistent/cradle"])
      #expect(nowhere.status == 1 && nowhere.error.contains("--state-directory"), Comment(rawValue: nowhere.error))
    }

    /// script(1) is the terminal.
    @Test func onATerminalItAsks() throws {
      let child = try ChildProcess()
      let state = child.folder.appending(path: "state")
      let before = try Self.names(state)
      #expect(child.stop() == 0)
      func answer(_ text: String) throws -> (output: String, error: String, status: Int32) {
        let command = "\(ChildProcess.program.path) erase --state-directory \(state.path)"
        return try ChildProcess.run("bash", ["-c", "(sleep 1; echo \(text)) | script -qec '\(command)' /dev/null"])
      }
      let no = try answer("y")
      #expect(no.status == 1 && no.output.contains("nothing was removed"), Comment(rawValue: no.output))
      #expect(try Self.names(state) == before)
      let yes = try answer("erase")
      #expect(yes.status == 0 && yes.output.contains("Removed identity: "), Comment(rawValue: yes.output))
      #expect(try Self.names(state).isEmpty)
    }
  }
}
