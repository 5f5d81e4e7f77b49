import Foundation
import Testing

/// A memory card that fails: the kernel mounts it read-only, and the next start is from there. Real programs.
extension RealPeers {
  @Suite(.enabled(if: geteuid() == 0, "mounts a file system")) struct ReadOnlyDiskTests {
    private func mount(_ script: String, _ path: String) throws {
      let said = try ChildProcess.run("sh", ["-c", script, "sh", path])
      try #require(said.status == 0, Comment(rawValue: said.error))
    }

    @Test func aFamilyThatIsPairedWatchesFromAReadOnlyDisk() throws {
      let house = try Household()
      try house.pair()
      let state = house.child.folder.appending(path: "state").path
      let opened = try house.open()
      // No root of an earlier run either, which is for browsers alone.
      try FileManager.default.removeItem(atPath: state + "/root.pem")
      try mount("mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\"", state)
      var isMounted = true
      defer { if isMounted { _ = try? ChildProcess.run("umount", ["--lazy", state]) } }
      // While it runs, and from the next start on.
      let stranger = house.child.folder.appending(path: "stranger")
      for isStarted in [false, true] {
        if isStarted { try house.child.restart() }
        let still = try house.parent("screenshot", "-o", house.child.folder.appending(path: "still.jpg").path)
        #expect(still.status == 0, Comment(rawValue: still.error))
        if !isStarted {
          let refused = try house.parent("pair", house.address, "--code", opened.code, state: stranger)
          #expect(
            refused.status == 1 && refused.error.contains("could not store the pairing: Read-only file system"),
            Comment(rawValue: refused.error))
        }
        // At once, before anybody types a code; invitations, too.
        let window = try house.child.command(["pair"])
        #expect(
          window.status == 1 && window.output.isEmpty && window.error.contains("Read-only file system"), "\(window)")
        let invited = try house.parent("invite", "--allow", "view", "--for", "1h")
        #expect(invited.status != 0 && invited.error.contains("Read-only file system"), "\(invited)")
      }
      #expect(try house.pairs().count == 1)
      let watching = try ParentProcess(paired: house.state)
      #expect(watching.wait { $0.framesPerSecond > 0 && $0.audioKbps > 0 } != nil, Comment(rawValue: watching.log))
      let status = try house.child.command(["status"]).output
      #expect(
        status.split(separator: "\n").count { $0.contains("Storage: \(state) is on a file system") } == 1,
        Comment(rawValue: status))
      let events = try house.parent("events", "--level", "warning").output
      #expect(events.contains("mounted read-only; nothing can be kept"), Comment(rawValue: events))
      let token = try house.child.command(["token", "add", "--name", "late", "--allow", "view"])
      #expect(token.status == 1 && token.error.contains("Read-only file system"), Comment(rawValue: token.error))
      // A second daemon is kept out all the same.
      let second = try ChildProcess.run(
        ChildProcess.program.path,
        [
          "run", "--config", house.child.folder.appending(path: "child.yaml").path, "--listen", "127.0.0.1:0",
          "--state-directory", state, "--runtime-directory", house.child.folder.appending(path: "other").path,
        ])
      #expect(second.status != 0 && second.error.contains("is in use by another cradle-child"), "\(second)")
      // The card was only loose: what waits is written.
      try mount("umount --lazy \"$1\"", state)
      isMounted = false
      let late = try house.parent(
        "pair", house.address, "--code", house.open().code, state: house.child.folder.appending(path: "late"))
      #expect(late.status == 0, Comment(rawValue: late.error))
      #expect(try house.pairs().count == 2)
    }

    /// `check`, `doctor` and `status` say the same of it, each at once.
    @Test func aDiskThatFillsUpIsNamedEverywhere() throws {
      let house = try Household(
        configuration: """
          name: Nursery
          cameras: [{id: cot, device: test, width: 320, height: 240, framerate: 15}]
          microphone: {device: test}
          speaker: {device: "null"}
          record: {mode: always}
          """)
      try house.pair()
      let state = house.child.folder.appending(path: "state").path
      let configuration = ["--config", house.child.folder.appending(path: "child.yaml").path]
      func says(_ arguments: [String]) throws -> (text: String, status: Int32) {
        let said = try house.child.command(arguments)
        return (said.output + said.error, said.status)
      }
      #expect(try says(["check"] + configuration).text.contains("1 paired parent, 1 token\n"))
      #expect(try !says(["status"]).text.contains("ALARM"))
      _ = house.child.stop()
      try mount(
        """
        cp -a "$1" "$1.copy" && mount -t tmpfs -o size=400k,mode=700 none "$1" && cp -a "$1.copy/." "$1/" \
        && rm -rf "$1/recordings"/* && { dd if=/dev/zero of="$1/fill" bs=1k > /dev/null 2>&1; true; }
        """, state)
      defer { _ = try? ChildProcess.run("umount", ["--lazy", state]) }
      try house.child.restart()
      let full = "the disk is full: 0 kB of 400 kB free at \(state)"
      let status = try says(["status"]).text
      #expect(status.contains("ALARM: Storage: \(full)"), Comment(rawValue: status))
      for command in ["check", "doctor"] {
        let said = try says([command] + configuration)
        #expect(said.status == 1 && said.text.contains(full), Comment(rawValue: said.text))
      }
      // The running unit says where its state is.
      for command in ["check", "doctor"] {
        let said = try ChildProcess.run(
          ChildProcess.program.path,
          [command, "--runtime-directory", house.child.folder.appending(path: "run").path] + configuration)
        #expect(said.status == 1 && said.output.contains(full), "\(said)")
      }
      // With the first picture that cannot be written.
      var paused = false
      for _ in 0..<50 where !paused {
        paused = try says(["status"]).text.contains("ALARM: Recording is paused: the disk is full")
        if !paused { usleep(100_000) }
      }
      #expect(paused)
      let window = try says(["pair"])
      #expect(window.status == 1 && window.text.contains("No space left on device"), "\(window)")
    }

    @Test func withoutAnIdentityAReadOnlyDiskIsNamed() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try ChildProcess.testConfiguration.write(
        to: folder.appending(path: "child.yaml"), atomically: true, encoding: .utf8)
      for state in ["", "/new"] {
        let said = try ChildProcess.run(
          "unshare",
          [
            "--mount", "--propagation", "private", "sh", "-c",
            """
            mkdir -p "$1/state" && mount -t tmpfs -o ro,mode=700 none "$1/state" || exit 99
            exec "$2" run --config "$1/child.yaml" --listen 127.0.0.1:0 --state-directory "$1/state$3" --runtime-directory "$1/run"
            """, "sh", folder.path, ChildProcess.program.path, state,
          ])
        #expect(said.status != 0 && said.status != 99, "\(said)")
        #expect(said.error.contains("The file system is read-only, often because the memory card fails"), "\(said)")
      }
    }
  }
}
