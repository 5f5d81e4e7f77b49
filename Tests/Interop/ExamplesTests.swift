import Foundation
import Identity
import SecureTransport
import Testing

/// `Examples/` is a package of its own that depends on this one by its path and imports the public product only: what an
/// outsider builds.
extension RealPeers {
  @Suite struct ExamplesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    private static let scratch = root.appending(path: ".build/examples").path

    /// Builds what changed; the first time takes a minute or two.
    private func build() throws {
      var (output, error, status) = try buildOnce()
      if status != 0 {
        // SwiftPM does not notice that files of a package by path were moved; a new folder knows nothing of the old ones.
        try? FileManager.default.removeItem(atPath: Self.scratch)
        (output, error, status) = try buildOnce()
      }
      try #require(status == 0, Comment(rawValue: "\(output.suffix(3000))\n\(error.suffix(3000))"))
    }

    private func buildOnce() throws -> (output: String, error: String, status: Int32) {
      // It computes, and others have deadlines.
      try ChildProcess.run(
        "nice",
        [
          "swift", "build", "--package-path", Self.root.appending(path: "Examples").path, "--scratch-path",
          Self.scratch,
          "--skip-update",
        ])
    }

    /// `make docs`, with the modules that are built with the tests.
    @Test func referenceOfTheLibraryBuilds() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let (output, error, status) = try ChildProcess.run(
        Self.root.appending(path: "docs/reference").path,
        [Self.root.appending(path: ".build/debug/Modules").path, folder.path])
      #expect(status == 0, Comment(rawValue: "\(output.suffix(2000))\n\(error.suffix(2000))"))
      let pages = folder.appending(path: "data/documentation/webrtc")
      let page = try String(contentsOf: pages.appending(path: "peerconnection.json"), encoding: .utf8)
      #expect(page.contains("sendVP8") && page.contains("nextDeadline"))
      // Nothing of the modules behind it that a program has no use for.
      #expect(!FileManager.default.fileExists(atPath: pages.appending(path: "rtpsender.json").path))
    }

    @Test func loopbackCarriesAMessageAndEveryPicture() throws {
      try build()
      let (output, error, status) = try ChildProcess.run("\(Self.scratch)/debug/Loopback", [])
      #expect(status == 0, Comment(rawValue: error))
      #expect(output.contains(#"sender: received the message ["hello"]"#), Comment(rawValue: output))
      #expect(output.contains("receiver: 300 of 300 pictures arrived"), Comment(rawValue: output))
      #expect(output.hasSuffix("receiver: closed\n"), Comment(rawValue: output))
    }

    /// What comes back from `Echo`, as aiortc judges it.
    struct Returned: Decodable {
      var connected: Bool
      var error: String?
      var framesDecoded: Int
      var width: Int
      var picturesChanged: Bool
      var latencyMs: ViewerResult.Latency
      var audio: ViewerResult.Audio
      var messages: [String]
      /// On the channel that Echo opens.
      var greeting: String?
      /// What Echo printed.
      var log: [String]
      var status: Int32?
    }

    /// Another implementation gets its pictures, sound and messages back, whoever makes the offer.
    @Test(arguments: ["offer", "answer"]) func echoReturnsWhatAiortcSends(role: String) throws {
      try build()
      let (output, error, _) = try ChildProcess.run(
        Self.root.appending(path: ".build/venv/bin/python").path,
        [
          Self.root.appending(path: "Tests/Interop/peers/echo_aiortc.py").path, "--program",
          "\(Self.scratch)/debug/Echo", role,
        ])
      let note = Comment(rawValue: "\(output.suffix(2000))\n\(error.suffix(2000))")
      let line = try #require(output.split(separator: "\n").last, note)
      let returned = try JSONDecoder().decode(Returned.self, from: Data(line.utf8))
      #expect(returned.connected && returned.error == nil, note)
      #expect(returned.framesDecoded >= 60 && returned.width == 320 && returned.picturesChanged, note)
      // The time of day stands in each picture.
      #expect(returned.latencyMs.count > 30, note)
      #expect(returned.audio.toneHz.map { (990...1010).contains($0) } == true, note)
      #expect(returned.messages == ["Grüße", "2 bytes", "60000 str"], note)
      #expect(returned.greeting == (role == "offer" ? "hello" : nil), note)
      #expect(returned.status == 0 && returned.log.contains("closed"), note)
    }

    @Test func playerReceivesAChildsPicturesAndSound() throws {
      try build()
      let child = try ChildProcess()
      let pem = try String(contentsOf: child.folder.appending(path: "state/identity.pem"), encoding: .utf8)
      let pin = Data(CryptoHashes().sha256(try NodeIdentity(pem: pem).publicKeySPKI)).base64EncodedString()
      let arguments = ["https://127.0.0.1:\(child.port)/whep", "--token", child.token, "--pictures", "30"]
      let (output, error, status) = try ChildProcess.run(
        "\(Self.scratch)/debug/WHEPPlayer", arguments + ["--fingerprint", pin])
      let note = Comment(rawValue: "\(output.suffix(2000))\n\(error)")
      #expect(status == 0, note)
      #expect(output.contains("key frame of "), note)
      let last = try #require(output.split(separator: "\n").last, note)
      let counts = last.split(separator: " ").compactMap { Int($0) }
      #expect(counts.first == 30 && counts.count == 3 && counts[1] > 10, note)

      // Another key is another server.
      let other = Data(CryptoHashes().sha256(PrivateKey.generate().publicKeySPKI)).base64EncodedString()
      let refused = try ChildProcess.run("\(Self.scratch)/debug/WHEPPlayer", arguments + ["--fingerprint", other])
      #expect(refused.status != 0 && refused.output.isEmpty, Comment(rawValue: refused.output))
    }
  }
}
