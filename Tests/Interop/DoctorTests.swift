import Foundation
import Testing

/// Both doctors by their commands, with a child that runs.
extension RealPeers {
  @Suite struct DoctorTests {
    private struct Report: Decodable {
      struct Check: Decodable {
        var what: String, state: String, detail: String, remedy: String?
      }
      struct Measured: Decodable {
        struct RoundTrip: Decodable { var p50: Double, max: Double }
        var pings: Int, packetsReceived: Int, roundTripMs: RoundTrip, width: Int?, lostPercent: Double
      }

      var ok: Bool
      var checks: [Check]
      var grade: String?
      var expect: String?
      var measured: Measured?

      subscript(what: String) -> Check? { checks.first { $0.what == what } }
    }

    private static let configuration = """
      name: Nursery
      cameras: [{id: cot, device: test, width: 320, height: 240, framerate: 30}]
      microphone: {device: test}
      speaker: {device: "null"}
      lights: [{id: nightlight, device: simulated}]
      """

    private static func report(_ output: String) throws -> Report {
      try JSONDecoder().decode(Report.self, from: Data(output.utf8))
    }

    /// Of the machine that runs the tests there may be something to say; of the child there may not.
    @Test func theChildsDoctorSeesTheRunningDaemon() throws {
      let child = try ChildProcess(configuration: Self.configuration)
      let doctor = ["doctor", "--json", "--config", child.folder.appending(path: "child.yaml").path]
      let (output, error, _) = try child.command(doctor + ["--listen", "[::]:\(child.port)"])
      let report = try Self.report(output)
      let note = Comment(rawValue: output + error)
      for what in [
        "daemon", "configuration", "camera cot", "microphone", "speaker", "light nightlight", "permissions",
        "state directory", "port \(child.port)/tcp",
      ] { #expect(report[what]?.state == "ok", note) }
      #expect(report["camera cot"]?.detail.contains("in use by the daemon") == true, note)
      #expect(report["encoder"]?.detail.contains("320x240 at ") == true, note)
      for what in ["firewall", "Avahi", "clock", "disk", "memory"] { #expect(report[what] != nil, note) }
      #expect(report.ok == !report.checks.contains { $0.state == "problem" })
      #expect(report.checks.allSatisfy { $0.state == "ok" || $0.remedy != nil }, note)
      // It has changed nothing.
      #expect(child.isRunning)
    }

    @Test func theChildsDoctorFindsAKeyThatOthersMayRead() throws {
      let child = try ChildProcess(configuration: Self.configuration)
      let key = child.folder.appending(path: "state/identity.pem")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key.path)
      let (output, _, status) = try child.command(["doctor", "--json", "--camera", "test"])
      let report = try Self.report(output)
      #expect(status == 1 && !report.ok)
      #expect(report["identity.pem"]?.state == "problem", Comment(rawValue: output))
      #expect(report["identity.pem"]?.remedy == "sudo chmod 600 '\(key.path)'")
    }

    @Test func aWrongConfigurationIsStatusTwo() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).yaml")
      try "camera: yes\n".write(to: file, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(at: file) }
      let (_, error, status) = try ChildProcess.run(ChildProcess.program.path, ["doctor", "--config", file.path])
      #expect(status == 2)
      #expect(error.contains("line 1") || error.contains(":1"), Comment(rawValue: error))
    }

    /// Paired over `prefix`, and looked at by the parent's doctor. Output and status.
    private static func examine(
      _ child: ChildProcess, at host: String = "127.0.0.1", seconds: Int, prefix: [String] = []
    ) throws -> (report: Report, output: String, status: Int32) {
      struct Opened: Decodable { var code: String }
      let state = child.folder.appending(path: "parent").path
      let opening = Process()
      opening.executableURL = ChildProcess.program
      opening.arguments = ["pair", "--json", "--runtime-directory", child.folder.appending(path: "run").path]
      let lines = Pipe()
      opening.standardOutput = lines
      try opening.run()
      defer { opening.terminate() }
      var line = Data()
      while let byte = try lines.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
      let code = try JSONDecoder().decode(Opened.self, from: line).code
      let program = prefix + [ParentProcess.program.path]
      let paired = try ChildProcess.run(
        program[0], program.dropFirst() + ["pair", "\(host):\(child.port)", "--code", code, "--state-directory", state])
      guard paired.status == 0 else { throw ChildProcess.Problem(description: paired.error) }
      let (output, _, status) = try ChildProcess.run(
        program[0], program.dropFirst() + ["doctor", "--seconds", "\(seconds)", "--json", "--state-directory", state])
      do {
        return (try report(output), output, status)
      } catch {
        throw ChildProcess.Problem(description: "\(error)\n\(output)")
      }
    }

    @Test func theParentsDoctorMeasuresTheLink() throws {
      let child = try ChildProcess(configuration: Self.configuration)
      let (report, output, _) = try Self.examine(child, seconds: 2)
      let note = Comment(rawValue: output)
      for what in ["pairing", "permissions", "connection", "child", "clocks", "state directory"] {
        #expect(report[what]?.state == "ok", note)
      }
      for what in ["round trip", "spikes", "loss", "picture", "sound"] { #expect(report[what] != nil, note) }
      let measured = try #require(report.measured, note)
      #expect(measured.pings >= 2 && measured.packetsReceived > 30 && measured.width == 320, note)
      #expect(measured.lostPercent == 0, note)
      #expect(report.expect?.isEmpty == false && report.grade != nil, note)
    }

    @Test func theParentsDoctorSaysWhyThereIsNoLink() throws {
      let state = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: state) }
      let (output, _, status) = try ChildProcess.run(
        ParentProcess.program.path, ["doctor", "--json", "--state-directory", state.path])
      let report = try Self.report(output)
      #expect(status == 1 && !report.ok)
      #expect(report["pairing"]?.detail.contains("no camera is paired") == true, Comment(rawValue: output))
      #expect(report.measured == nil)
    }

    /// An eighth of what the child sends is thrown away on the way.
    @Test(.enabled(if: getuid() == 0, "network namespaces need root"))
    func aLossyLinkIsCalledSo() throws {
      let hosts = try TwoHosts(isIPv6: false)
      let child = try ChildProcess(configuration: Self.configuration, prefix: hosts.prefix(hosts.child))
      try hosts.loseAnEighthOnTheWayToTheParent()
      let (report, output, status) = try Self.examine(
        child, at: "10.77.3.1", seconds: 5, prefix: hosts.prefix(hosts.parent))
      let note = Comment(rawValue: output)
      #expect(status == 1 && report.grade == "poor", note)
      #expect(report["loss"]?.state == "problem", note)
      #expect((5...25).contains(report.measured?.lostPercent ?? 0), note)
    }

    /// What is listed by the real nft is understood.
    @Test(.enabled(if: getuid() == 0, "network namespaces need root"))
    func aFirewallThatKeepsParentsOutIsFound() throws {
      let hosts = try TwoHosts(isIPv6: false)
      let prefix = ["ip", "netns", "exec", hosts.child]
      func check(_ rules: [String]) throws -> Report.Check? {
        _ = try ChildProcess.run(prefix[0], prefix.dropFirst() + ["nft", "flush", "ruleset"])
        for rule in rules {
          let nft = try ChildProcess.run(prefix[0], prefix.dropFirst() + ["nft", rule])
          try #require(nft.status == 0, Comment(rawValue: nft.error))
        }
        let state = "/nonexistent/cradle-\(UUID().uuidString)"
        let (output, _, _) = try ChildProcess.run(
          prefix[0],
          prefix.dropFirst() + [
            ChildProcess.program.path, "doctor", "--json", "--camera", "test", "--microphone", "test", "--speaker",
            "null", "--listen", "[::]:8443", "--state-directory", state, "--runtime-directory", state,
          ])
        return try Self.report(output)["firewall"]
      }
      let closed = [
        "add table inet filter",
        "add chain inet filter input { type filter hook input priority 0; policy drop; }",
        "add rule inet filter input ct state established,related accept", "add rule inet filter input iif lo accept",
        "add rule inet filter input tcp dport { 22, 80 } counter accept",
      ]
      #expect(try check([])?.state == "ok")
      let found = try check(closed)
      #expect(found?.state == "problem", "\(String(describing: found))")
      let remedy = try #require(found?.remedy?.split(separator: "#").first)
      #expect(remedy.hasPrefix("sudo nft insert rule inet filter input tcp dport 8443 accept"))
      // What it says opens the port; then the media ports are next.
      #expect(try check(closed + [String(remedy.dropFirst("sudo nft ".count))])?.state == "warning")
    }
  }
}
