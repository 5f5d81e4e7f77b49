import Foundation
import Identity
import SecureTransport
import Testing

/// `Examples/` is a package of its own that depends on this one by its path and imports public products only: what an
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

    @Test func loopbackCarriesAMessageAndEveryPicture() throws {
      try build()
      let (output, error, status) = try ChildProcess.run("\(Self.scratch)/debug/Loopback", [])
      #expect(status == 0, Comment(rawValue: error))
      #expect(output.contains(#"sender: received the message ["hello"]"#), Comment(rawValue: output))
      #expect(output.contains("receiver: 300 of 300 pictures arrived"), Comment(rawValue: output))
      #expect(output.hasSuffix("receiver: closed\n"), Comment(rawValue: output))
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
