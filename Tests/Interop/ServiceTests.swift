import Foundation
import Testing

/// The real program under a service manager that the test plays; sd_notify(3).
extension RealPeers {
  @Suite struct ServiceTests {
    private struct Seen: Decodable {
      struct Frozen: Decodable {
        var thread: String
        var silent: Bool
        var status: String?
        var back: Bool
      }
      var ready: Bool
      /// With `--hangup`: a configuration that is not valid changes nothing; another is read.
      var stayed: Bool?
      var reloading: Bool?
      var readySeconds: Double
      var accepts: Bool
      var pings: Int?
      var frozen: [Frozen]
      var memoryKilobytes: Int
      var stopSeconds: Double
      var exit: Int32
      var told: [[String: String]]
      var log: String
    }

    private func manage(_ options: [String], camera: String = "test", configuration: String? = nil) throws -> Seen {
      let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "peers/service_manager.py")
      let (output, error, status) = try ChildProcess.run(
        "python3",
        [script.path] + options + [
          "--", ChildProcess.program.path, "run", "--listen", "127.0.0.1:{port}", "--camera", camera, "--microphone",
          "test", "--speaker", "none", "--state-directory", "{folder}/state", "--runtime-directory", "{folder}/run",
        ] + (configuration.map { ["--config", $0] } ?? []))
      try #require(status == 0, Comment(rawValue: error))
      let seen = try JSONDecoder().decode(Seen.self, from: Data(output.utf8))
      print(
        "ready after \(seen.readySeconds) s, \(seen.memoryKilobytes) kB resident, stopped in \(seen.stopSeconds) s"
          + " (an unoptimised build)")
      return seen
    }

    @Test func saysThatItIsReadyWhenItListensAndThatItStops() throws {
      let seen = try manage([])
      #expect(seen.ready && seen.accepts, Comment(rawValue: seen.log))
      #expect(seen.told.first?["READY"] == "1")
      #expect(seen.told.first?["STATUS"]?.hasPrefix("0 viewers; camera ") == true)
      // Nobody asked for it.
      #expect(!seen.told.contains { $0["WATCHDOG"] != nil })
      #expect(seen.told.last?["STOPPING"] == "1")
      #expect(seen.exit == 0)
    }

    /// `systemctl reload`: the service goes on as the same process, with what its file says now.
    @Test func aHangupReadsTheConfigurationAgain() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).yaml")
      try "name: Before\n".write(to: file, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(at: file) }
      let seen = try manage(["--hangup", file.path], configuration: file.path)
      #expect(seen.stayed == true && seen.reloading == true && seen.ready && seen.accepts, Comment(rawValue: seen.log))
      #expect(
        seen.log.contains("the configuration is not valid") && seen.log.contains("nonsense"),
        Comment(rawValue: seen.log))
      let ready = seen.log.split(separator: "\n").filter { $0.contains(" ready ") }
      #expect(
        ready.count == 2 && ready[0].contains("Before") && ready[1].contains("After"), Comment(rawValue: seen.log))
      #expect(seen.exit == 0)
    }

    /// With nobody watching the encoder sleeps, and the camera does not exist: both are no reason to start anew.
    @Test func aMissingCameraIsHealthyAndTold() throws {
      let seen = try manage(["--watchdog", "2"], camera: "/dev/video-none")
      #expect(seen.pings == 3, Comment(rawValue: seen.log))
      #expect(seen.told.contains { $0["STATUS"]?.contains("missing, microphone running, speaker off") == true })
    }

    @Test(arguments: ["NIO-ELT", "camera-watch", "mic-watch"])
    func aLoopThatHangsEndsThePings(thread: String) throws {
      let seen = try manage(["--watchdog", "2", "--freeze", thread])
      #expect(seen.pings == 3, Comment(rawValue: seen.log))
      let frozen = try #require(seen.frozen.first)
      #expect(frozen.silent && frozen.back, Comment(rawValue: seen.log))
      // A stuck event loop cannot say so.
      if thread != "NIO-ELT" {
        #expect(frozen.status?.hasPrefix("Stuck: ") == true, "\(frozen.status ?? "")")
        #expect(seen.log.contains(" is stuck; "), Comment(rawValue: seen.log))
      }
      #expect(seen.exit == 0)
    }

    @Test func aDeviceThatHangsDoesNotKeepItFromStopping() throws {
      let seen = try manage(["--hang", "camera-watch"])
      #expect(seen.exit == 0)
      #expect(seen.log.contains("a device hangs"), Comment(rawValue: seen.log))
      #expect(seen.told.last?["STOPPING"] == "1")
    }

    /// It would keep its camera for itself.
    @Test func aProgramThatDoesNotEndIsKilled() throws {
      let mark = FileManager.default.temporaryDirectory.appending(path: "stubborn-\(UUID().uuidString).sh")
      try Data(
        """
        trap '' TERM
        printf 'YUV4MPEG2 W64 H48 F10:1 Ip A1:1 C420jpeg\\n'
        while :; do printf 'FRAME\\n'; head -c 4608 /dev/zero; sleep 0.1; done
        """.utf8
      ).write(to: mark)
      defer { try? FileManager.default.removeItem(at: mark) }
      let child = try ChildProcess(
        configuration: """
          cameras: [{id: cot, device: "exec:sh \(mark.path)", width: 64, height: 48, framerate: 10}]
          microphone: {device: none}
          """)
      func processes() throws -> String { try ChildProcess.run("pgrep", ["-f", "sh \(mark.path)"]).output }
      _ = try ViewerProgram.aiortc.watch("https://127.0.0.1:\(child.port)/whep", token: child.token, duration: 3)
      #expect(try !processes().isEmpty)
      #expect(child.stop() == 0)
      #expect(try processes() == "")
    }

    @Test func aFailedStartIsTold() throws {
      let socket = try ChildProcess()
      let seen = try ChildProcess.run(
        "python3",
        [
          URL(filePath: #filePath).deletingLastPathComponent().appending(path: "peers/service_manager.py").path,
          "--", ChildProcess.program.path, "run", "--listen", "127.0.0.1:\(socket.port)", "--state-directory",
          "{folder}/state", "--runtime-directory", "{folder}/run",
        ])
      #expect(seen.output.contains(#""STATUS": "cannot listen on"#), Comment(rawValue: "\(seen)"))
      #expect(seen.output.contains(#""ready": false"#))
    }

    @Test func aStopSaysGoodbyeToWhoWatches() async throws {
      let child = try ChildProcess()
      let url = "https://127.0.0.1:\(child.port)/whep"
      let token = child.token
      async let watching = Task.detached { try ViewerProgram.aiortc.watch(url, token: token, duration: 10) }.value
      let deadline = Date().addingTimeInterval(60)
      while Date() < deadline {
        if try child.command(["status", "--json"]).output.contains(#""state":"connected""#) { break }
        try await Task.sleep(for: .milliseconds(200))
      }
      // The data channel opens behind the connection.
      try await Task.sleep(for: .seconds(2))
      let begin = ContinuousClock.now
      #expect(child.stop() == 0)
      print("stopped with a viewer in \(ContinuousClock.now - begin)")
      let result = try await watching.result
      #expect(result.dataChannel.goodbye == "The child is stopping.", Comment(rawValue: "\(result)"))
    }
  }
}
