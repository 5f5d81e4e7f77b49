import Foundation
import Testing

/// A meeting place that shows the child and passes nothing on keeps nobody from meeting the child at another.
extension RealPeers {
  @Suite struct PlacesFlowTests {
    /// What the broker lets `parents` and `child` do: one direction is missing.
    @Test(arguments: [
      "user child\ntopic readwrite cradle/#\nuser parents\ntopic read cradle/#\n",
      "user child\ntopic read cradle/#\ntopic write cradle/+/presence\nuser parents\ntopic readwrite cradle/#\n",
    ])
    func aPlaceThatPassesNothingOnKeepsNobodyOut(access: String) throws {
      let broker = try SilentBroker(access: access)
      let folder = RendezvousFolder()
      let rendezvous = try RendezvousProcess(folder, configuration: "names: ['127.0.0.1']\n")
      let house = try Household(
        configuration: Household.configuration + """

          away:
            meetings:
              - {mqtt: "\(broker.url)", username: child, password: a, parents: {username: parents, password: b}}
              - {rendezvous: "wss://127.0.0.1:\(rendezvous.port)", key-sha256: \(try rendezvous.keySHA256())}
          """)
      try house.pair()
      for _ in 0..<200 where house.child.logText.matches(of: /present at a meeting place/).count < 2 { usleep(50_000) }
      let log = house.child.logText
      try #require(log.matches(of: /present at a meeting place/).count == 2, Comment(rawValue: log))
      try leaveHome(house)

      // The broker is the faster one.
      kill(rendezvous.processIdentifier, SIGSTOP)
      let watching = try ParentProcess(paired: house.state)
      usleep(1_500_000)
      kill(rendezvous.processIdentifier, SIGCONT)
      #expect(watching.wait(limit: 25) { $0.framesDecoded > 0 } != nil, Comment(rawValue: watching.log))
      watching.kill()

      // Whoever finds no way in learns what each place said.
      #expect(try rendezvous.stop() == 0)
      let refused = try house.parent("light", "off")
      #expect(refused.status != 0)
      for place in [broker.url, "wss://127.0.0.1:\(rendezvous.port)"] {
        #expect(refused.error.contains("meeting place \(place): "), Comment(rawValue: refused.error))
      }
    }

    /// `away` and `doctor` of the child come to each place as a parent does, and name those where no message passes.
    @Test func aPlaceThatPassesNothingOnIsFoundByTheChild() throws {
      let all = "user child\ntopic readwrite cradle/#\n"
      let denied = [
        // Parents may not write; the child hears nothing; the child may not answer; parents do not see it.
        all + "user parents\ntopic read cradle/#\n",
        "user child\ntopic write cradle/#\nuser parents\ntopic readwrite cradle/#\n",
        "user child\ntopic read cradle/#\ntopic write cradle/+/presence\nuser parents\ntopic readwrite cradle/#\n",
        all + "user parents\ntopic write cradle/+/in\n",
      ]
      let whole = all + "user parents\ntopic readwrite cradle/#\n"
      let brokers = try (denied + [whole]).map { try SilentBroker(access: $0) }
      let folder = RendezvousFolder()
      let rendezvous = try RendezvousProcess(folder, configuration: "names: ['127.0.0.1']\n")
      let accounts = "username: child, password: a, parents: {username: parents, password: b}"
      var places = brokers.map { "{mqtt: \"\($0.url)\", \(accounts)}" }
      places.insert(
        "{rendezvous: \"wss://127.0.0.1:\(rendezvous.port)\", key-sha256: \(try rendezvous.keySHA256())}", at: 4)
      // Four at most.
      for (places, problems) in [(places[..<3], 3), (places[3...], 1)] {
        let house = try Household(
          configuration: Household.configuration + "\naway: {meetings: [\(places.joined(separator: ", "))]}\n")
        for _ in 0..<200 where house.child.logText.matches(of: /present at a meeting place/).count < 3 {
          usleep(50_000)
        }
        let (output, _, status) = try house.child.command(["away", "--json"])
        let note = Comment(rawValue: output + house.child.logText)
        let report = try JSONDecoder().decode(AwayReport.self, from: Data(output.utf8))
        #expect(report.meetings.map { $0.state } == ["present", "present", "present"], note)
        #expect(report.meetings.map { $0.problem != nil } == (0..<3).map { $0 < problems }, note)
        #expect(status == 1, note)
        // The child keeps no trace of it.
        #expect(!house.child.logText.contains("refused"), note)
        if problems == 1 {
          let doctor = try house.child.command(["doctor"]).output
          #expect(doctor.contains("parents do not see it"), Comment(rawValue: doctor))
          #expect(doctor.matches(of: /a parent's message reaches the child/).count == 2, Comment(rawValue: doctor))
        }
      }
    }

    private struct AwayReport: Decodable {
      struct Meeting: Decodable { var state: String, problem: String? }
      var meetings: [Meeting]
    }

    /// Nobody answers at the address where the child was.
    private func leaveHome(_ house: Household) throws {
      let file = house.state.appending(path: "pairs.json")
      let text = try String(contentsOf: file, encoding: .utf8)
      let away = text.replacing(/"port" : \d+/, with: "\"port\" : 1")
      try #require(away != text)
      // It keeps its mode.
      try away.write(to: file, atomically: false, encoding: .utf8)
    }
  }
}

/// A mosquitto with accounts `child` (password a) and `parents` (b), which may do what its ACL says.
private final class SilentBroker {
  let url: String
  private let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
  private let process = Process()

  init(access: String) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let port = try ReservedPort.next()
    url = "mqtt://127.0.0.1:\(port)"
    let path = { [folder] (name: String) in folder.appending(path: name).path }
    for arguments in [["-c", "-b", path("passwords"), "child", "a"], ["-b", path("passwords"), "parents", "b"]] {
      let made = try ChildProcess.run("mosquitto_passwd", arguments)
      try #require(made.status == 0, Comment(rawValue: made.error))
    }
    try access.write(toFile: path("acl"), atomically: true, encoding: .utf8)
    let text = """
      listener \(port) 127.0.0.1
      password_file \(path("passwords"))
      acl_file \(path("acl"))
      user root

      """
    try text.write(toFile: path("conf"), atomically: true, encoding: .utf8)
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["mosquitto", "-c", path("conf")]
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
  }

  deinit {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }
}
