import Foundation
import Testing

/// Our own parent watches: our child, and servers that are not ours.
extension RealPeers {
  @Suite struct ParentWatchesTests {
    private static func url(_ child: ChildProcess) -> String { "https://127.0.0.1:\(child.port)/whep" }

    private func check(_ parent: ParentProcess, pictures: Int = 40, level: ClosedRange<Double> = -24 ... -16) {
      let (last, status) = parent.finish()
      let note = Comment(rawValue: "\(String(describing: last))\n\(parent.log)")
      #expect(status == 0, note)
      guard let last else { return #expect(Bool(false), note) }
      #expect(last.state == "ended", note)
      #expect(last.framesDecoded >= pictures, note)
      #expect(last.timeToFirstFrameMs != nil, note)
      #expect((last.latencyMs?.p50 ?? .max) < 2000, note)
      #expect(last.audioLevelDb.map { level.contains($0) } == true, note)
      #expect((last.concealedPercent ?? 100) < 10, note)
    }

    @Test(arguments: ["127.0.0.1", "[::1]"])
    func theParentWatchesTheChild(host: String) throws {
      let child = try ChildProcess()
      let parent = try ParentProcess(
        "https://\(host):\(child.port)/whep", token: child.token, arguments: ["--duration", "4"])
      check(parent)
      #expect(parent.figures.last?.child == "Test")
      #expect(parent.figures.last?.width == 640)
      #expect(child.isRunning, Comment(rawValue: child.logText))
    }

    @Test(arguments: ["whep_server_aiortc", "whep_server_gstreamer", "sender_chromium"])
    func theParentWatchesAServerThatIsNotOurs(script: String) throws {
      // GStreamer's bindings exist for Debian's Python only.
      let server = try ForeignServer(
        script, python: script == "whep_server_gstreamer" ? "/usr/bin/python3" : nil,
        arguments: script == "sender_chromium" ? ["--size", "640x360"] : [])
      try withExtendedLifetime(server) {
        check(try ParentProcess(server.url, token: "", arguments: ["--duration", "5"]))
      }
    }

    @Test func soundAloneComesWithoutPictures() throws {
      let child = try ChildProcess()
      let parent = try ParentProcess(
        Self.url(child), token: child.token, arguments: ["--audio-only", "--duration", "3"])
      let (last, status) = parent.finish()
      #expect(status == 0, Comment(rawValue: parent.log))
      #expect(last?.framesDecoded == 0)
      #expect((last?.audioKbps ?? 0) > 10)
      #expect(abs((last?.audioLevelDb ?? 0) + 20) < 4)
    }

    @Test func theLinkIsMadeAnewWhenTheChildComesBack() throws {
      let child = try ChildProcess()
      let parent = try ParentProcess(Self.url(child), token: child.token, arguments: [])
      #expect(parent.wait { $0.framesDecoded > 20 } != nil, Comment(rawValue: parent.log))
      try child.restart()
      let before = parent.figures.last?.framesDecoded ?? 0
      let after = parent.wait { $0.reconnects > 0 && $0.state == "connected" && $0.framesDecoded > before + 20 }
      #expect((after?.framesDecoded ?? 0) > before + 20, Comment(rawValue: parent.log))
      #expect(parent.log.contains("reconnected"))
    }

    @Test func aWrongTokenIsSaidAndEndsTheCommand() throws {
      let child = try ChildProcess()
      let parent = try ParentProcess(Self.url(child), token: "cradle_wrong", arguments: ["--duration", "5"])
      #expect(parent.finish().status == 1)
      #expect(parent.log.contains("401"), Comment(rawValue: parent.log))
      #expect(!parent.log.contains("cradle_wrong"))
    }

    @Test func aServerWithAnotherKeyIsRefusedBeforeTheTokenIsSent() throws {
      let child = try ChildProcess()
      let parent = try ParentProcess(
        Self.url(child), token: child.token,
        arguments: ["--duration", "5", "--fingerprint", String(repeating: "0", count: 64)])
      #expect(parent.finish().status == 1)
      #expect(parent.log.contains("not trusted"), Comment(rawValue: parent.log))
      #expect(!child.logText.contains("viewer is connecting"))
    }

    @Test(arguments: [
      ["--whep", "ftp://a/"], ["--whep", "https://127.0.0.1:1/", "--fingerprint", "12"],
      ["--whep", "https://127.0.0.1:1/", "--duration", "-1"], ["Nursery", "--whep", "https://127.0.0.1:1/"],
      ["--whep", "https://127.0.0.1:1/", "--speaker", "file:"],
    ])
    func wrongUsageEndsWithStatusTwo(arguments: [String]) throws {
      let state = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: state) }
      let (_, error, status) = try ChildProcess.run(
        ParentProcess.program.path, ["watch", "--state-directory", state.path] + arguments)
      #expect(status == 2, Comment(rawValue: error))
      #expect(!error.isEmpty)
    }
  }
}
