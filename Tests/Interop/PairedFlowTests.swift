import Control
import Foundation
import Parent
import Testing

/// Our child and our parent by their commands: pair once, then command and watch without a token.
extension RealPeers {
  @Suite struct PairedFlowTests {
    @Test func pairOnceThenCommandAndWatch() throws {
      let house = try Household()
      let opened = try house.open()
      let paired = try house.parent("pair", house.address, "--code", opened.code, "--name", "Phone")
      try #require(paired.status == 0, Comment(rawValue: paired.error))
      #expect(try house.pairs().map(\.name) == ["Phone"])

      let light = try house.parent("light", "on", "--json")
      #expect(light.status == 0 && light.output.contains(#""state":"on""#), Comment(rawValue: "\(light)"))
      let flash = try house.parent("flash", "--times", "1")
      #expect(flash.status == 0, Comment(rawValue: flash.error))
      let lullaby = try house.parent("lullaby", "play", "heartbeat", "--json")
      #expect(lullaby.output.contains(#""state":"playing""#), Comment(rawValue: "\(lullaby)"))
      let stopped = try house.parent("lullaby", "stop", "--json")
      #expect(stopped.output.contains(#""state":"stopped""#), Comment(rawValue: "\(stopped)"))
      let camera = try house.parent("camera", "switch", "door")
      #expect(camera.status == 0, Comment(rawValue: camera.error))
      let picture = house.child.folder.appending(path: "still.jpg")
      let still = try house.parent("screenshot", "-o", picture.path)
      #expect(still.status == 0, Comment(rawValue: still.error))
      #expect(try Data(contentsOf: picture).starts(with: [0xff, 0xd8]))

      let watch = try house.parent("watch", "--duration", "3", "--stats")
      #expect(watch.status == 0, Comment(rawValue: watch.error))
      #expect(watch.output.contains(#""width":320"#), Comment(rawValue: watch.output))

      #expect(try house.parent("unpair", "Nursery").status == 0)
      #expect(try house.pairs().isEmpty)
      #expect(house.child.isRunning)
    }

    /// Nothing was watched, and no order given: what the parent knows of the meeting place it was told while it paired.
    @Test func whoHasJustPairedKnowsWhereTheChildIsMet() throws {
      struct Listing: Decodable {
        struct Row: Decodable { var presence: String? }
        var children: [Row]
      }
      let place = try RendezvousProcess(RendezvousFolder(), configuration: "names: ['127.0.0.1']\n")
      let meeting = "{rendezvous: \"wss://127.0.0.1:\(place.port)\", key-sha256: \"\(try place.keySHA256())\"}"
      let house = try Household(configuration: Household.configuration + "\naway: {meetings: [\(meeting)]}\n")
      let opened = try house.open()
      let paired = try house.parent("pair", house.address, "--code", opened.code)
      try #require(paired.status == 0 && paired.error.isEmpty, Comment(rawValue: "\(paired)"))
      var presence: String?
      // The child may still be on its way there.
      for _ in 0..<100 where presence != "present" {
        let said = try house.parent("children", "--json").output
        presence = try JSONDecoder().decode(Listing.self, from: Data(said.utf8)).children.first?.presence
        try #require(presence != nil, Comment(rawValue: said))
        usleep(100_000)
      }
      #expect(presence == "present", Comment(rawValue: house.child.logText + place.log))
    }

    /// What passes on one connection, for pairing, passes on no second one: pairing succeeds, and what is missing is said.
    @Test func pairingSucceedsWhereNoSessionFollows() throws {
      let house = try Household()
      let opened = try house.open()
      let script = """
        import socket, sys, threading
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        ours, _ = listener.accept()
        listener.close()
        theirs = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        def carry(source, target):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        threading.Thread(target=carry, args=(theirs, ours)).start()
        carry(ours, theirs)
        """
      let passage = Process()
      passage.executableURL = URL(filePath: "/usr/bin/env")
      passage.arguments = ["python3", "-c", script, "\(house.child.port)"]
      let output = Pipe()
      passage.standardOutput = output
      try passage.run()
      defer { passage.terminate() }
      var line = Data()
      while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
      // Without a bus nobody is found by name.
      let paired = try ChildProcess.run(
        "env",
        [
          "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", ParentProcess.program.path, "pair",
          "127.0.0.1:\(String(decoding: line, as: UTF8.self))", "--code", opened.code, "--state-directory",
          house.state.path,
        ])
      #expect(paired.status == 0, Comment(rawValue: "\(paired)"))
      #expect(paired.output.contains("Paired with Nursery"), Comment(rawValue: paired.output))
      #expect(paired.error.contains("Connect once at home with `cradle-parent watch`"), Comment(rawValue: paired.error))
      #expect(try house.pairs().count == 1)
    }

    @Test func aWrongCodePairsNobody() throws {
      let house = try Household()
      let opened = try house.open()
      let wrong = opened.code.first == "0" ? "1" + opened.code.dropFirst() : "0" + opened.code.dropFirst()
      let refused = try house.parent("pair", house.address, "--code", wrong)
      #expect(refused.status == 1 && refused.error.contains("code"), Comment(rawValue: refused.error))
      #expect(try house.pairs().isEmpty)
      #expect(house.child.logText.contains("wrong pairing code"))
      #expect(!house.child.logText.contains(opened.code))
    }

    @Test func aLinkPairsAndWhoIsRevokedIsCutOff() throws {
      let house = try Household()
      let opened = try house.open()
      let paired = try house.parent("pair", "--link", opened.link.replacing(/\/\/[^\/]*/, with: "//\(house.address)"))
      try #require(paired.status == 0, Comment(rawValue: paired.error))
      #expect(try house.child.command(["unpair", "--all"]).status == 0)
      let refused = try house.parent("light", "on")
      #expect(refused.status == 1, Comment(rawValue: "\(refused)"))
      // Nobody else can either.
      let stranger = house.child.folder.appending(path: "stranger")
      #expect(try house.parent("light", "on", "--child", house.address, state: stranger).status == 1)
    }

    /// Nobody switches a camera on by switching a light on.
    @Test func anOrderLeavesCameraAndMicrophoneAlone() throws {
      struct Status: Decodable {
        struct Track: Decodable { var captured: Int, encoded: Int }
        var cameras: [Track], microphone: Track
      }
      let house = try Household()
      try house.pair()
      func status() throws -> Status {
        try JSONDecoder().decode(Status.self, from: Data(house.child.command(["status", "--json"]).output.utf8))
      }
      let before = try status()
      for order in [["light", "on"], ["lullaby", "play"], ["light", "off"]] {
        let done = try ChildProcess.run(
          ParentProcess.program.path, order + ["--state-directory", house.state.path])
        #expect(done.status == 0, Comment(rawValue: done.error))
      }
      let after = try status()
      #expect(after.cameras.map(\.encoded) == [0, 0])
      #expect(after.cameras.map(\.captured) == before.cameras.map(\.captured))
      #expect(after.microphone.encoded == before.microphone.encoded)
      #expect(try house.parent("watch", "--duration", "1").status == 0)
      #expect(try status().cameras[0].encoded > 0)
    }

    /// A guest's link in the owner's hands takes nothing away, also not from what is open.
    @Test func pairingAgainWithFewerRightsLeavesWhatIsOpen() throws {
      struct Answer: Decodable {
        struct Invite: Decodable { var link: String }
        var invite: Invite
      }
      let house = try Household()
      try house.pair()
      let watching = try ParentProcess(paired: house.state)
      let before = try #require(watching.wait { $0.framesPerSecond > 0 && $0.audioKbps > 0 })
      try #require(before.audioKbps > 0, Comment(rawValue: watching.log))
      let invited = try house.parent("invite", "--allow", "view", "--json")
      let link = try JSONDecoder().decode(Answer.self, from: Data(invited.output.utf8)).invite.link
      let again = try house.parent("pair", "--link", link.replacing(/\/\/[^\/]*/, with: "//\(house.address)"))
      try #require(again.status == 0, Comment(rawValue: again.error))
      #expect(try house.pairs().map { $0.permissions.contains("admin") } == [true])
      // Open sessions follow their record within a second.
      let after = watching.wait(limit: 20) { $0.framesDecoded > before.framesDecoded + 60 }
      #expect((after?.audioKbps ?? 0) > 0 && after?.reconnects == 0, "\(watching.figures.suffix(3))")
    }

    @Test func whatHappenedIsKnownAfterARestart() throws {
      struct Event: Decodable { var sequence: Int, kind: String, detail: String? }
      let house = try Household()
      try house.pair()
      func events() throws -> [Event] {
        let said = try house.parent("events", "--json")
        guard said.status == 0 else { throw ChildProcess.Problem(description: said.error) }
        return try said.output.split(separator: "\n").map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
      }
      #expect(try house.parent("light", "on").status == 0)
      let before = try events()
      #expect(before.contains { $0.kind == "pairing-opened" } && before.contains { $0.kind == "pairing-closed" })
      #expect(before.contains { $0.kind == "light" && $0.detail == "on" })
      try house.child.restart()
      let after = try events()
      #expect(after.prefix(before.count).map(\.sequence) == before.map(\.sequence))
      #expect(after.count > before.count && after.last?.kind == "restart")
    }

    /// A stolen phone, a revoked token: what has no access must not have it longer because a disk is full or gone.
    @Test func whatIsRemovedIsOutAtOnceThoughItCannotBeStored() async throws {
      let house = try Household()
      try house.pair()
      func tokensStatus() throws -> String {
        try ChildProcess.run(
          "curl",
          [
            "-sk", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Authorization: Bearer \(house.child.token)", "-d",
            "x",
            "https://\(house.address)/whep",
          ]
        ).output
      }
      #expect(try tokensStatus() != "401")
      let finder = ChildFinder(state: try ParentState(path: house.state.path))
      let session = try await ControlSession.open(finder.paired(nil))
      let folder = house.child.folder.appending(path: "state")
      let away = house.child.folder.appending(path: "away")
      try FileManager.default.moveItem(at: folder, to: away)
      do {
        _ = try await session.perform(PairRemove())
        Issue.record("nobody was told that it is not kept")
      } catch ControlFailure.refused(let error) {
        #expect(error.code == .internal && error.message.hasPrefix("Removed, and not kept yet: "), "\(error)")
      }
      #expect(try house.pairs().isEmpty)
      await #expect(throws: (any Error).self) { try await ControlSession.open(finder.paired(nil)) }
      let name = try #require(
        try house.child.command(["token", "list"]).output.split(separator: "\n").last?.split(separator: " ").first)
      let revoked = try house.child.command(["token", "revoke", String(name)])
      #expect(revoked.status == 1 && revoked.error.contains("removed, and not kept yet: "), "\(revoked)")
      #expect(try tokensStatus() == "401")
      // It is tried again by itself; here with the next file that is written.
      try FileManager.default.moveItem(at: away, to: folder)
      #expect(try house.child.command(["token", "add", "--name", "new"]).status == 0)
      house.child.kill()
      try house.child.restart()
      #expect(try house.pairs().isEmpty)
      #expect(try tokensStatus() == "401")
      await session.close()
    }

    @Test func twentyParentsAtOnceHearOfEachOthersOrders() throws {
      let house = try Household()
      // The first parent administers the child, and may have more sessions than the others.
      let states = (0..<3).map { _ in
        FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      }
      defer { for state in states { try? FileManager.default.removeItem(at: state) } }
      for state in states {
        let opened = try house.open()
        try #require(try house.parent("pair", house.address, "--code", opened.code, state: state).status == 0)
      }
      let followers = try (0..<20).map { number in
        let process = Process()
        process.executableURL = ParentProcess.program
        process.arguments = [
          "events", "--follow", "--json", "--state-directory", states[number < 13 ? 0 : number % 2 + 1].path,
        ]
        let log = house.child.folder.appending(path: "events-\(number)")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        process.standardOutput = try FileHandle(forWritingTo: log)
        process.standardError = FileHandle.nullDevice
        try process.run()
        return (process, log)
      }
      defer { for (process, _) in followers { process.terminate() } }
      func read(_ log: URL) -> String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
      func wait(for text: String) -> Bool {
        for _ in 0..<600 {
          if followers.allSatisfy({ read($0.1).contains(text) }) { return true }
          usleep(100_000)
        }
        return false
      }
      // What happened before is told first; from then on they follow.
      #expect(wait(for: #""kind":"paired""#))
      #expect(try house.parent("lullaby", "play", "heartbeat", state: states[0]).status == 0)
      #expect(wait(for: #""kind":"lullaby""#), Comment(rawValue: house.child.logText))
    }

    /// Mean square of 16-bit samples behind a WAV header, as a share of full scale.
    private static func loudness(_ file: URL) throws -> Double {
      let bytes = try Data(contentsOf: file).dropFirst(44)
      var sum = 0.0
      var count = 0
      for index in stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2) {
        let sample = Double(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)) / 32768
        sum += sample * sample
        count += 1
      }
      return count == 0 ? 0 : sum / Double(count)
    }

    @Test func whatAParentSaysComesOutOfTheSpeaker() throws {
      let played = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).wav")
      defer { try? FileManager.default.removeItem(at: played) }
      let house = try Household(
        configuration: Household.configuration.replacing("\"null\"", with: "\"file:\(played.path)\""))
      let opened = try house.open()
      try #require(try house.parent("pair", house.address, "--code", opened.code).status == 0)
      let talk = try house.parent("talk", "--microphone", "test", "--duration", "3")
      #expect(talk.status == 0, Comment(rawValue: talk.error))
      #expect(house.child.stop() == 0)
      // The tone has -20 dB, and the speaker's limit takes some of it.
      let loudness = try Self.loudness(played)
      #expect(loudness > 1e-4, "\(loudness)")
    }

    /// This machine's clock was years ahead when the child was last met.
    @Test func aDateThatCannotBeIsPutRight() throws {
      struct Listed: Decodable {
        struct Row: Decodable { var lastSeenAt: Double }
        var children: [Row]
      }
      let house = try Household()
      try house.pair()
      let file = house.state.appending(path: "pairs.json")
      let text = try String(contentsOf: file, encoding: .utf8)
      let wrong = text.replacing(/"lastSeenAt" : "[^"]*"/, with: #""lastSeenAt" : "2060-01-01T00:00:00Z""#)
      try #require(wrong != text, Comment(rawValue: text))
      // It keeps its mode.
      try wrong.write(to: file, atomically: false, encoding: .utf8)
      let now = Date().timeIntervalSince1970
      let listed = try JSONDecoder().decode(Listed.self, from: Data(house.parent("children", "--json").output.utf8))
      #expect((now - 5...now + 600).contains(listed.children[0].lastSeenAt), "\(listed)")
      #expect(try house.parent("status").status == 0)
      let after = try String(contentsOf: file, encoding: .utf8)
      #expect(!after.contains("2060") && after.contains("lastSeenAt"), Comment(rawValue: after))
    }
  }
}
