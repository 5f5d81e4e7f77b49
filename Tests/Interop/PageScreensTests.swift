import Foundation
import Testing

/// The phone page as a person uses it, in Chromium with a real child. What is done is in peers/page_screens.py.
extension RealPeers {
  @Suite struct PageScreensTests {
    struct Seen: Decodable {
      var steps: [String]
      var error: String?
    }

    private static func see(_ scenario: String) throws -> Seen {
      let played = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).wav")
      defer { try? FileManager.default.removeItem(at: played) }
      let house = try Household(
        configuration: Household.configuration.replacing("\"null\"", with: "\"file:\(played.path)\""))
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let (output, log, _) = try ChildProcess.run(
        root.appending(path: ".build/venv/bin/python").path,
        [
          root.appending(path: "Tests/Interop/peers/page_screens.py").path, scenario, "--program",
          ChildProcess.program.path, "--runtime-directory", house.child.folder.appending(path: "run").path, "--port",
          String(house.child.port), "--pid", String(house.child.processIdentifier), "--speaker", played.path,
        ])
      guard let line = output.split(separator: "\n").last else {
        throw ChildProcess.Problem(description: "it printed nothing: \(log.suffix(2000))")
      }
      return try JSONDecoder().decode(Seen.self, from: Data(line.utf8))
    }

    @Test func aDayWithThePage() throws {
      let seen = try Self.see("day")
      #expect(seen.error == nil)
      #expect(
        seen.steps == [
          "words", "picture", "talk", "light", "lullaby", "camera", "still", "keys", "planned stop",
        ])
    }

    @Test func aChildThatDiesRingsWithinSeconds() throws {
      let seen = try Self.see("lost")
      #expect(seen.error == nil)
      #expect(seen.steps == ["words", "picture", "alarm", "acknowledged"])
    }

    @Test func whatIsRefusedIsSaidClearly() throws {
      let seen = try Self.see("refused")
      #expect(seen.error == nil)
      #expect(seen.steps == ["wrong link", "used link", "missing right", "revoked"])
    }

    @Test func everyScreenIsAccessible() throws {
      let seen = try Self.see("accessible")
      #expect(seen.error == nil)
      #expect(Set(seen.steps).isSuperset(of: ["opening", "watch", "light", "lullaby", "shot", "settings", "alarm"]))
    }

    @Test func everyLanguageHasEveryText() throws {
      let seen = try Self.see("languages")
      #expect(seen.error == nil)
      #expect(seen.steps == ["en", "de", "ru", "zh"])
    }
  }
}
