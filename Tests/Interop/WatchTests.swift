import Foundation
import Testing

/// Real viewers watch a real child: pictures that change, the tone, and a ping on the data channel.
extension RealPeers {
  @Suite struct WatchTests {
    private func check(_ result: ViewerResult, _ log: String) {
      let note = Comment(rawValue: "\(result)\n\(log.suffix(1500))")
      #expect(result.connected, note)
      #expect(result.error == nil, note)
      #expect(result.framesDecoded >= 40, note)
      #expect(result.picturesChanged, note)
      #expect(result.width == 640 && result.height == 360, note)
      #expect(result.latencyMs.count > 0, note)
      #expect(abs((result.audio.toneHz ?? 0) - 1000) < 40, note)
      #expect(abs((result.audio.toneDbfs ?? 0) + 20) < 4, note)
      #expect(result.dataChannel.opened, note)
      #expect(result.dataChannel.hello != nil, note)
      #expect(result.dataChannel.pingMs != nil, note)
      #expect(result.dataChannel.heartbeats >= 2, note)
    }

    @Test(arguments: ViewerProgram.allCases)
    func aViewerWatchesOverIPv4Loopback(viewer: ViewerProgram) throws {
      let child = try ChildProcess()
      let (result, log) = try viewer.watch("https://127.0.0.1:\(child.port)/whep", token: child.token)
      check(result, log)
      #expect(child.isRunning, Comment(rawValue: child.logText))
    }

    @Test(arguments: [ViewerProgram.aiortc, .chromium])
    func aViewerWatchesOverIPv6Loopback(viewer: ViewerProgram) throws {
      let child = try ChildProcess()
      let (result, log) = try viewer.watch(
        "https://[::1]:\(child.port)/whep", token: child.token, arguments: ["--media", "ipv6"])
      check(result, log)
    }

    @Test func severalViewersWatchAtOnceAndOneThatVanishesDisturbsNobody() async throws {
      let child = try ChildProcess()
      let url = "https://127.0.0.1:\(child.port)/whep"
      let token = child.token
      try await withThrowingTaskGroup(of: (ViewerResult, String)?.self) { group in
        group.addTask { try ViewerProgram.aiortc.watch(url, token: token, duration: 8) }
        group.addTask { try ViewerProgram.gstreamer.watch(url, token: token, duration: 8) }
        group.addTask {
          _ = try ViewerProgram.aiortc.watch(url, token: token, duration: 1, arguments: ["--leave", "vanish"])
          return nil
        }
        for try await outcome in group {
          if let (result, log) = outcome { check(result, log) }
        }
      }
      #expect(child.isRunning)
    }

    @Test func soundGoesOnWithoutACameraAndACardSaysSo() throws {
      let child = try ChildProcess(
        configuration: """
          cameras:
            - {id: cot, device: /dev/no-such-camera, width: 640, height: 360}
          microphone: {device: test}
          """)
      let (result, log) = try ViewerProgram.aiortc.watch("https://127.0.0.1:\(child.port)/whep", token: child.token)
      let note = Comment(rawValue: "\(result)\n\(log.suffix(1500))")
      #expect(result.framesDecoded >= 8, note)
      #expect(result.width == 640, note)
      #expect(abs((result.audio.toneHz ?? 0) - 1000) < 40, note)
      let status = try child.command(["status", "--json"])
      #expect(status.output.contains(#""state":"missing""#))
    }
  }
}
