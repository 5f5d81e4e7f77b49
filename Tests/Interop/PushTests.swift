import Foundation
import Testing

extension RealPeers {
  /// Pushed alarms from a lost camera to the notification, in Chromium with a real child and a push service of the test's
  /// own. What is done is in peers/page_push.py.
  @Suite struct PushTests {
    private struct Seen: Decodable {
      var steps: [String]
      var error: String?
    }

    /// - Parameter mayBePrivate: the child takes the test's push service, which is on this machine.
    private static func see(
      _ scenario: String, mayBePrivate: Bool, contact: String = "\"mailto:family@example.org\""
    ) throws -> (seen: Seen, log: String) {
      let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let base = folder.appending(path: "service").path
      let made = try ChildProcess.run(
        "/usr/bin/openssl",
        [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", base + ".key",
          "-out", base + ".pem", "-days", "2", "-subj", "/CN=push", "-addext", "subjectAltName=IP:127.0.0.1",
        ])
      try #require(made.status == 0, "\(made.error)")
      // A camera that is unplugged when its file is gone.
      let camera = base + ".camera"
      try Data().write(to: URL(filePath: camera))
      let picture = """
        import os, sys, time
        out = sys.stdout.buffer
        out.write(b"YUV4MPEG2 W64 H48 F10:1 C420jpeg\\n")
        count = 0
        while os.path.exists(sys.argv[1]):
            count += 1
            out.write(b"FRAME\\n" + bytes([count % 200]) * 3072 + bytes([128]) * 1536)
            out.flush()
            time.sleep(0.1)
        """
      try Data(picture.utf8).write(to: URL(filePath: base + ".py"))
      let house = try Household(
        configuration: """
          name: Nursery
          cameras:
            - {id: cot, device: "exec:/usr/bin/python3 \(base).py \(camera)", width: 64, height: 48, framerate: 10}
          microphone: {device: test}
          speaker: {device: none}
          push: {contact: \(contact), private-networks: \(mayBePrivate), ca: \(base).pem}
          """)
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let (output, log, _) = try ChildProcess.run(
        root.appending(path: ".build/venv/bin/python").path,
        [
          root.appending(path: "Tests/Interop/peers/page_push.py").path, scenario, "--program",
          ChildProcess.program.path, "--runtime-directory", house.child.folder.appending(path: "run").path, "--port",
          String(house.child.port), "--pid", String(house.child.processIdentifier), "--speaker", base,
        ])
      guard let line = output.split(separator: "\n").last else {
        throw ChildProcess.Problem(description: "it printed nothing: \(log.suffix(2000))")
      }
      return (try JSONDecoder().decode(Seen.self, from: Data(line.utf8)), house.child.logText)
    }

    @Test func anAlarmReachesTheBrowserAndIsAcknowledged() throws {
      let (seen, log) = try Self.see("alarms", mayBePrivate: true)
      #expect(seen.error == nil)
      #expect(
        seen.steps == [
          "trusted", "on", "test", "lost camera, tried again", "notification", "acknowledged by the alarm's button",
          "tapped", "acknowledged", "gone", "subscribed again", "switched off", "unpaired",
        ])
      // Who knows the address may send to the browser.
      #expect(!log.contains("/push/") && !log.contains("sixteen"))
    }

    /// Apple's push service refuses a sender who cannot be found, and says so; no address would do for every family.
    @Test(arguments: ["null", "\"mailto:push@cradle.invalid\""])
    func aPhoneGivesTheContactThatTheChildLacks(contact: String) throws {
      let (seen, log) = try Self.see("contact", mayBePrivate: true, contact: contact)
      #expect(seen.error == nil)
      #expect(seen.steps == ["asked", "on", "refused"])
      #expect(log.contains("push.contact cannot exist") == (contact != "null") && !log.contains("anna@example.org"))
    }

    /// Where the network to the push service is dead, browsers never answer.
    @Test func aPushServiceThatDoesNotAnswerLeavesTheSwitchUsable() throws {
      let (seen, _) = try Self.see("silent", mayBePrivate: true)
      #expect(seen.error == nil)
      #expect(seen.steps == ["late", "after a reload", "on"])
    }

    @Test func theSwitchSaysWhyItCannotBeSwitched() throws {
      let (seen, _) = try Self.see("states", mayBePrivate: false)
      #expect(seen.error == nil)
      #expect(seen.steps == ["not supported", "not trusted", "denied", "off", "private network refused"])
    }
  }
}
