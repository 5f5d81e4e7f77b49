import Foundation
import Testing

/// The phone page as a person uses it, in Chromium and Firefox with a real child. What is done is in
/// peers/page_screens.py, page_edges.py, page_night.py, page_evening.py, page_rooms.py, page_trouble.py and page_firefox.py.
extension RealPeers {
  @Suite struct PageScreensTests {
    struct Seen: Decodable {
      var steps: [String]
      var error: String?
    }

    /// - Parameter room: between the child's speaker and microphone.
    private static func see(
      _ scenario: String, in script: String = "page_screens", room: HearingRoom? = nil
    ) throws -> Seen {
      let played =
        room.map { URL(filePath: $0.speaker) }
        ?? FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).wav")
      defer { try? FileManager.default.removeItem(at: played) }
      let house = try Household(
        configuration: Household.configuration.replacing("\"null\"", with: "\"file:\(played.path)\"")
          .replacing(
            "microphone: {device: test}",
            with: "microphone: {device: \"\(room.map { "file:\($0.microphone)" } ?? "test")\"}")
          + "\nrecord: {mode: events, part: 10s}\nproxies: [\"127.0.0.1\"]\n")
      room?.carry()
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let (output, log, _) = try ChildProcess.run(
        root.appending(path: ".build/venv/bin/python").path,
        [
          root.appending(path: "Tests/Interop/peers/\(script).py").path, scenario, "--program",
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
          "words", "picture", "talk", "light", "lullaby", "camera", "privacy", "still", "keys", "planned stop",
        ])
    }

    /// A proxy of the house may put it below a path of its own.
    @Test func thePageWorksBelowAPath() throws {
      let seen = try Self.see("prefixed", in: "page_prefix")
      #expect(seen.error == nil)
      #expect(seen.steps == ["words", "picture", "kept", "player", "over HTTP"])
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
      #expect(
        Set(seen.steps).isSuperset(of: [
          "opening", "watch", "light", "lullaby", "shot", "night", "proofs", "drill", "recordings", "settings", "alarm",
        ]))
    }

    /// What is missing or strange, with a clear sentence each.
    @Test(arguments: [
      ("storage", ["nothing kept, watched all the same", "lost pair"]),
      ("microphone", ["refused", "allowed later"]),
      ("tabs", ["both live", "settings follow", "forgotten in both"]),
      ("newer", ["live", "unknown refusal", "still"]),
      ("hostile", ["sheets", "settings and alarm", "kept"]),
      ("asleep", ["given up", "awake"]),
      ("untrusted", ["works without", "certificate help"]),
      ("elsewhere", ["its own page"]),
      ("late", ["shown once it is known"]),
      ("loud", ["flash and shake", "kept"]),
      ("steady", ["off at first", "kept", "greyed with the reason"]),
      ("keyboard", ["words", "light", "lullaby", "camera", "still", "talk", "mute", "alarm"]),
      ("large", ["opening", "watch", "light", "lullaby", "shot", "details", "settings", "alarm"]),
      ("mirrored", ["opening", "watch", "light", "lullaby", "shot", "details", "settings", "alarm"]),
    ])
    func atTheEdges(_ scenario: String, _ steps: [String]) throws {
      let seen = try Self.see(scenario, in: "page_edges")
      #expect(seen.error == nil)
      #expect(seen.steps == steps)
    }

    /// What refuses, and what the page does about it.
    @Test(arguments: [
      ("differ", ["removed", "could not be told"]),
      ("again", ["watch", "again"]),
      ("lockdown", ["said", "link still good", "paired before"]),
      ("socket", ["said"]),
      ("moved", ["found at its new address"]),
      ("awake", ["said"]),
      ("audio", ["closed at once"]),
      ("loading", ["fails", "hangs", "slept"]),
      ("styles", ["fails", "hangs"]),
      ("pending", ["microphone", "wake lock", "clipboard"]),
    ])
    func whatRefusesIsSaid(_ scenario: String, _ steps: [String]) throws {
      let seen = try Self.see(scenario, in: "page_trouble")
      #expect(seen.error == nil)
      #expect(seen.steps == steps)
    }

    /// What must not happen by mistake, and what must not frighten.
    @Test(arguments: [
      ("timers", ["light", "lullaby", "marked everywhere"]),
      ("tap", ["tap to listen", "turn sound on", "any tap"]),
      ("guest", ["until when", "no siren"]),
      ("live", ["stopped", "missing"]),
      ("first", ["words", "settings"]),
    ])
    func atThreeInTheMorning(_ scenario: String, _ steps: [String]) throws {
      let seen = try Self.see(scenario, in: "page_night")
      #expect(seen.error == nil)
      #expect(seen.steps == steps)
    }

    /// How it is, at a glance, and what is done from the main screen.
    @Test(arguments: [
      ("recent", ["loud", "quiet", "known again", "the minute"]),
      ("sound", ["muted for a while", "back by itself", "louder"]),
      ("tiles", ["one tap", "picture free", "night mode", "zoom", "told once"]),
      ("pages", ["four pages", "owner"]),
      ("sheets", ["one at a time", "back", "an alarm alone", "gone with its screen"]),
      ("joined", ["named", "joined", "the same words", "name kept"]),
    ])
    func anEvening(_ scenario: String, _ steps: [String]) throws {
      let seen = try Self.see(scenario, in: "page_evening")
      #expect(seen.error == nil)
      #expect(seen.steps == steps)
    }

    /// All are listened to from the moment that the page opens.
    @Test func severalRooms() throws {
      let seen = try Self.see("several", in: "page_rooms")
      #expect(seen.error == nil)
      #expect(seen.steps == ["strip", "tiles", "large and back", "one dies", "left out", "muted"])
    }

    /// With a button; the page itself listens.
    @Test func thePageProvesThatItHearsAndDrills() throws {
      let room = try HearingRoom()
      defer { room.stop() }
      let seen = try Self.see("proofs", in: "page_edges", room: room)
      #expect(seen.error == nil)
      #expect(seen.steps == ["heard end to end", "drill passed"])
    }

    @Test func inFirefoxToo() throws {
      let seen = try Self.see("firefox", in: "page_firefox")
      #expect(seen.error == nil)
      #expect(seen.steps == ["words", "picture", "hearing", "light", "lullaby", "still"])
    }

    @Test func everyLanguageHasEveryText() throws {
      let seen = try Self.see("languages")
      #expect(seen.error == nil)
      #expect(seen.steps == ["en", "de", "ru", "zh"])
    }
  }
}
