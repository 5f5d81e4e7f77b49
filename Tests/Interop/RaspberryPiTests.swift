import Foundation
import Testing

/// A child whose camera is a program: one that behaves as Raspberry Pi OS's rpicam-vid, and ffmpeg.
extension RealPeers {
  @Suite struct RaspberryPiTests {
    private struct Status: Decodable {
      struct Camera: Decodable { var state: String, detail: String, captured: UInt64 }
      var cameras: [Camera]
    }

    private static let programs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures").path

    private func child(device: String, fault: String = "") throws -> ChildProcess {
      let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
      return try ChildProcess(
        configuration: """
          cameras: [{id: cot, device: "\(device)", width: 640, height: 360, framerate: 15}]
          microphone: {device: none}
          """, prefix: ["PATH=\(Self.programs):\(path)", "FAKE=\(fault)"])
    }

    private func watch(_ child: ChildProcess) throws -> ParentProcess {
      try ParentProcess("https://127.0.0.1:\(child.port)/whep", token: child.token, arguments: ["--mute"])
    }

    private func camera(_ child: ChildProcess) throws -> Status.Camera {
      let said = try child.command(["status", "--json"])
      return try #require(try JSONDecoder().decode(Status.self, from: Data(said.output.utf8)).cameras.first)
    }

    /// Running programs with these words in their command lines.
    private func running(_ words: String) throws -> [String] {
      try ChildProcess.run("pgrep", ["-f", words]).output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [
      "rpicam:0", "exec:ffmpeg -loglevel error -re -f lavfi -i testsrc=640x360:r=15 -pix_fmt yuv420p -f yuv4mpegpipe -",
    ])
    func aProgramsPicturesAreWatchedAndItIsStartedAgain(device: String) throws {
      let words = device == "rpicam:0" ? "Fixtures/rpicam-vid" : "testsrc=640x360"
      #expect(try running(words).isEmpty, "left by another test")
      let child = try child(device: device)
      let parent = try watch(child)
      let first = parent.wait { $0.width == 640 && $0.height == 360 && $0.framesPerSecond > 5 }
      try #require(first != nil, Comment(rawValue: parent.log + child.logText))
      let programs = try running(words)
      #expect(programs.count == 1)
      for program in programs { kill(Int32(program) ?? 0, SIGKILL) }
      let before = try camera(child).captured
      let deadline = Date().addingTimeInterval(30)
      while try camera(child).state != "running" || camera(child).captured < before + 20, Date() < deadline {
        usleep(100_000)
      }
      #expect(try camera(child).captured >= before + 20, Comment(rawValue: child.logText))
      #expect(child.logText.contains("signal 9"))
      #expect(child.stop() == 0)
      #expect(try running(words).isEmpty)
    }

    @Test func aMissingRibbonCameraIsSaidInThePictureAndByTheChecks() throws {
      let child = try child(device: "rpicam:0", fault: "none")
      let parent = try watch(child)
      // The card comes five times a second.
      #expect(parent.wait { $0.framesDecoded > 5 } != nil, Comment(rawValue: parent.log))
      let camera = try camera(child)
      #expect(camera.state == "missing" && camera.detail.contains("no cameras available"))
      #expect(camera.detail.contains("ribbon cable"))
    }

    @Test func aCommandIsNotTakenFromTheCommandLine() throws {
      let said = try ChildProcess.run(ChildProcess.program.path, ["run", "--camera", "exec:true"])
      #expect(said.status == 2 && said.error.contains("configuration file"), Comment(rawValue: said.error))
    }
  }
}
