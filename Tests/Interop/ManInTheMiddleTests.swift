import Foundation
import Testing

/// Somebody with another TLS certificate between a paired parent and its child, as processes of their own.
extension RealPeers {
  @Suite struct ManInTheMiddleTests {
    /// Tests/Interop/peers/man_in_the_middle.py.
    private final class Middle {
      let port: Int
      private let process = Process()
      private let input = Pipe()
      private let output = Pipe()

      init(_ house: Household) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
          .deletingLastPathComponent()
        process.executableURL = root.appending(path: ".build/venv/bin/python")
        process.arguments = [
          root.appending(path: "Tests/Interop/peers/man_in_the_middle.py").path, "--child",
          "wss://\(house.address)/signal",
        ]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = try Self.line(output)
        guard let port = line.firstMatch(of: /listening on (\d+)/).flatMap({ Int($0.1) }) else {
          throw ChildProcess.Problem(description: "it does not listen: \(line)")
        }
        self.port = port
      }

      deinit {
        try? input.fileHandleForWriting.close()
        for _ in 0..<100 where process.isRunning { usleep(20_000) }
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
      }

      func ask<Answer: Decodable>(_ command: String, _: Answer.Type) throws -> Answer {
        try input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
        return try JSONDecoder().decode(Answer.self, from: Data(Self.line(output).utf8))
      }

      func tell(_ mode: String) throws {
        struct Mode: Decodable { var mode: String }
        #expect(try ask(mode, Mode.self).mode == mode)
      }

      private static func line(_ pipe: Pipe) throws -> String {
        var line = Data()
        while let byte = try pipe.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
        return String(decoding: line, as: UTF8.self)
      }

      var address: String { "127.0.0.1:\(port)" }
    }

    private struct Refusal: Decodable, Equatable { var code: String, message: String }
    private struct Seen: Decodable { var types: [String: Int] }

    private func expectNobodyWatches(_ house: Household, location: SourceLocation = #_sourceLocation) throws {
      let status = try house.child.command(["status", "--json"]).output
      #expect(status.contains(#""viewers":[]"#), Comment(rawValue: status), sourceLocation: location)
    }

    @Test func anotherFingerprintInTheAnswerBringsNoPictureAndIsNamed() throws {
      let house = try Household()
      try house.pair()
      let middle = try Middle(house)
      for mode in ["fingerprint", "resign"] {
        try middle.tell(mode)
        let order = try house.parent("light", "on", "--child", middle.address)
        #expect(order.status == 1)
        let reason = mode == "resign" ? "signed by another node" : "the signature is not the paired node's"
        #expect(order.error.contains(reason), Comment(rawValue: order.error))
        let viewer = try ParentProcess(paired: house.state, arguments: [middle.address])
        _ = viewer.wait(limit: 10) { $0.framesDecoded > 0 }
        viewer.kill()
        #expect(viewer.figures.allSatisfy { $0.framesDecoded == 0 && $0.audioKbps == 0 })
        #expect(!viewer.figures.isEmpty)
      }
      let seen = try middle.ask("seen", Seen.self)
      #expect(seen.types["answer", default: 0] >= 4, "\(seen)")
      // Nobody's light went on, and the way that is not meddled with still works.
      let status = try house.parent("status", "--json")
      #expect(status.status == 0 && status.output.contains(#""state":"off""#), "\(status)")
    }

    /// Who changes nothing is a cable: what passes is signed, and pictures, sound and orders do not go through it.
    @Test func anotherCertificateAloneGivesNothing() throws {
      let house = try Household()
      try house.pair()
      let middle = try Middle(house)
      let order = try house.parent("light", "on", "--child", middle.address)
      #expect(order.status == 0, Comment(rawValue: order.error))
      let seen = try middle.ask("seen", Seen.self)
      #expect(
        Set(seen.types.keys).isSubset(of: ["offer", "answer", "candidate", "end-of-candidates", "bye"]), "\(seen)")
      // A token is a secret that would pass: it is not sent to another key than before.
      let known = house.child.folder.appending(path: "known")
      let url = "https://\(house.address)/whep"
      let before = try house.parent(
        "watch", "--whep", url, "--token", house.child.token, "--speaker", "null", "--duration", "1",
        state: known)
      #expect(before.status == 0, Comment(rawValue: before.error))
      let file = known.appending(path: "known-servers.json")
      try String(contentsOf: file, encoding: .utf8).replacing(":\(house.child.port)", with: ":\(middle.port)")
        .write(to: file, atomically: true, encoding: .utf8)
      #expect(chmod(file.path, 0o600) == 0)
      let after = try house.parent(
        "watch", "--whep", "https://\(middle.address)/whep", "--token", house.child.token, "--speaker",
        "null", "--duration", "1", state: known)
      #expect(after.status == 1)
      #expect(after.error.contains("shows a different key than before"), Comment(rawValue: after.error))
    }

    @Test func anOldOfferAndAStrangersOfferAreRefused() throws {
      let house = try Household()
      try house.pair()
      let middle = try Middle(house)
      let order = try house.parent("light", "on", "--child", middle.address)
      #expect(order.status == 0, Comment(rawValue: order.error))

      struct Replay: Decodable { var newConnection: Refusal, sameConnection: Refusal }
      let replay = try middle.ask("replay", Replay.self)
      #expect(replay.newConnection.code == "refused" && replay.sameConnection.code == "refused", "\(replay)")
      let words = ["another challenge", "seen before"]
      for refusal in [replay.newConnection, replay.sameConnection] {
        #expect(words.contains { refusal.message.contains($0) }, "\(replay)")
      }
      try expectNobodyWatches(house)

      struct Stranger: Decodable { var ownName: Refusal, parentsName: Refusal, parentsNameOwnHeader: Refusal }
      let stranger = try middle.ask("stranger", Stranger.self)
      #expect(stranger.ownName.code == "refused" && stranger.ownName.message.contains("is not paired"), "\(stranger)")
      #expect(stranger.parentsName.message.contains("signature"), "\(stranger)")
      #expect(stranger.parentsNameOwnHeader.code == "refused", "\(stranger)")
      try expectNobodyWatches(house)
      #expect(house.child.logText.contains("signalling refused"))
    }
  }
}
