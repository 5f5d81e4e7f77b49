import Foundation
import Testing

/// `cradle-child check`, `doctor` and `status` about things that the configuration names and that are not there.
extension RealPeers {
  @Suite struct CheckTests {
    private struct Report: Decodable {
      struct Check: Decodable { var what: String, ok: Bool?, state: String?, detail: String }
      var ok: Bool
      var checks: [Check]

      subscript(what: String) -> Check? { checks.first { $0.what.hasPrefix(what) } }
    }

    private static func report(_ output: String) throws -> Report {
      try JSONDecoder().decode(Report.self, from: Data(output.utf8))
    }

    /// A folder with `child.yaml`, and the arguments that name it.
    private static func folder(_ configuration: (_ path: String) -> String) throws -> (
      path: String, arguments: [String]
    ) {
      let path = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try configuration(path).write(toFile: "\(path)/child.yaml", atomically: true, encoding: .utf8)
      return (
        path,
        [
          "--json", "--config", "\(path)/child.yaml", "--state-directory", "\(path)/state", "--runtime-directory",
          "\(path)/run",
        ]
      )
    }

    /// One that hangs fails, and does not hold up the tests.
    private static func run(_ arguments: [String]) throws -> (output: String, error: String, status: Int32) {
      try ChildProcess.run("timeout", ["60", ChildProcess.program.path] + arguments)
    }

    /// Everything that names a file has it named `PATH/NAME`.
    private static func naming(_ path: String) -> String {
      """
      cameras: []
      microphone: {device: none}
      speaker: {device: "file:\(path)/speaker"}
      lights: [{id: chip, device: "gpio:\(path)/chip/3"}, {id: led, device: "led:\(path)/led"}]
      lullabies: \(path)/lullabies
      ice-servers: [{urls: "turn:127.0.0.1:9", secret: {file: \(path)/secret}}]
      away:
        meetings:
          - {mqtt: "mqtts://127.0.0.1:9", username: cot, password: {file: \(path)/password}}
          - {mqtt: "mqtts://127.0.0.1:8", username: cot, password: p, parents: {username: us, password: {file: \(path)/theirs}}}
          - {mqtt: "mqtts://127.0.0.1:7", ca: \(path)/meeting-ca}
      push: {ca: \(path)/push-ca}
      notify: [{name: phone, url: {file: \(path)/url}}, {name: own, url: "https://127.0.0.1:9/", ca: \(path)/notify-ca}]
      """
    }

    private static let named = [
      "speaker", "light chip", "light led", "lullabies", "server turn:127.0.0.1:9", "meeting place mqtts://127.0.0.1:9",
      "meeting place mqtts://127.0.0.1:8", "meeting place mqtts://127.0.0.1:7", "push", "notifier phone",
      "notifier own",
    ]

    @Test func whatIsNamedAndNotThereIsFound() throws {
      let (path, arguments) = try Self.folder { Self.naming("\($0)/nonexistent") }
      defer { try? FileManager.default.removeItem(atPath: path) }
      let (output, error, status) = try Self.run(["check"] + arguments)
      let report = try Self.report(output)
      #expect(status == 1 && !report.ok, Comment(rawValue: error))
      for what in Self.named { #expect(report[what]?.ok == false, "\(what): \(output)") }
      // The doctor agrees, in its own words for what is away.
      let doctor = try Self.run(["doctor"] + arguments)
      let findings = try Self.report(doctor.output)
      #expect(doctor.status == 1)
      for what in ["speaker", "light chip", "light led", "lullabies", "ice-servers", "push", "notifier phone"] {
        #expect(findings[what]?.state == "problem", "\(what): \(doctor.output)")
      }
      let meetings = findings.checks.filter { $0.what == "meeting place" }
      #expect(meetings.count == 3 && meetings.allSatisfy { $0.state == "problem" && $0.detail.contains("nonexistent") })
    }

    /// A FIFO that nobody writes to keeps nobody waiting.
    @Test func aFIFOIsFoundAndHangsNothing() throws {
      let (path, arguments) = try Self.folder(Self.naming)
      defer { try? FileManager.default.removeItem(atPath: path) }
      try FileManager.default.createDirectory(atPath: "\(path)/led", withIntermediateDirectories: true)
      for name in [
        "speaker", "chip", "led/max_brightness", "lullabies", "secret", "password", "theirs", "meeting-ca", "push-ca",
        "url",
        "notify-ca",
      ] { try #require(mkfifo("\(path)/\(name)", 0o600) == 0) }
      let (output, error, status) = try Self.run(["check"] + arguments)
      #expect(status == 1, Comment(rawValue: error))
      let report = try Self.report(output)
      for what in Self.named { #expect(report[what]?.ok == false, "\(what): \(output)") }
      #expect(try Self.run(["doctor"] + arguments).status == 1)
    }

    @Test func whatIsThereIsFine() throws {
      let (path, arguments) = try Self.folder { path in
        """
        cameras: []
        microphone: {device: none}
        speaker: {device: "file:\(path)/out.wav"}
        lights: [{id: lamp, device: simulated}]
        ice-servers: [{urls: "turn:127.0.0.1:9", secret: {file: \(path)/secret}}]
        away: {meetings: [{mqtt: "mqtts://127.0.0.1:9", username: cot, password: {file: \(path)/secret}}]}
        notify: [{name: phone, url: "https://127.0.0.1:9/", headers: {Authorization: {file: \(path)/secret}}}]
        """
      }
      defer { try? FileManager.default.removeItem(atPath: path) }
      for name in ["secret", "out.wav"] {
        try "precious".write(toFile: "\(path)/\(name)", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(path)/\(name)")
      }
      let (output, error, status) = try Self.run(["check"] + arguments)
      let report = try Self.report(output)
      #expect(status == 0 && report.ok, Comment(rawValue: output + error))
      for what in ["speaker", "light lamp", "server turn:", "meeting place mqtts:", "notifier phone"] {
        #expect(report[what]?.ok == true, "\(what): \(output)")
      }
      // Looking at it has not emptied it, and no secret is shown.
      #expect(try String(contentsOfFile: "\(path)/out.wav", encoding: .utf8) == "precious")
      #expect(!output.contains("precious"))
    }

    private struct Status: Decodable {
      struct Speaker: Decodable { var device: String, state: String, detail: String }
      var speaker: Speaker
      var alarms: [String]
    }

    /// A FIFO without a reader in place of the speaker's file.
    @Test func aMissingSpeakerIsShownAndTheDoctorAgrees() throws {
      let fifo = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)").path
      try #require(mkfifo(fifo, 0o600) == 0)
      defer { unlink(fifo) }
      let home = try Household(
        configuration: """
          name: Nursery
          cameras: [{id: cot, device: test, width: 320, height: 240, framerate: 15}]
          microphone: {device: none}
          speaker: {device: "file:\(fifo)"}
          """)
      var text = ""
      for _ in 0..<100 where !text.contains("Speaker: missing, ") {
        usleep(50_000)
        text = try home.child.command(["status"]).output
      }
      #expect(text.contains("Speaker: missing, \(fifo): not a regular file\n"), Comment(rawValue: text))
      #expect(text.contains("ALARM: The speaker is missing: \(fifo): not a regular file"), Comment(rawValue: text))
      // What is not known leaves nothing behind.
      #expect(text.contains("\nMicrophone: off\n"), Comment(rawValue: text))
      let status = try JSONDecoder().decode(
        Status.self, from: Data(home.child.command(["status", "--json"]).output.utf8))
      #expect(status.speaker.device == "file:\(fifo)" && status.speaker.state == "missing" && status.alarms.count == 1)
      let doctor = try home.child.command([
        "doctor", "--json", "--config", home.child.folder.appending(path: "child.yaml").path,
      ])
      let finding = try #require(Self.report(doctor.output)["speaker"])
      #expect(finding.state == "problem" && finding.detail == "\(fifo): not a regular file")
      // Whoever wants to talk hears it in one sentence.
      try home.pair()
      let talk = try home.parent("talk", "--microphone", "test")
      #expect(
        talk.status == 1 && talk.error.hasSuffix("The speaker is missing: \(fifo): not a regular file.\n"),
        Comment(rawValue: talk.error))
    }
  }
}
