import Foundation
import Testing

/// What a token's holder, or a guest who may switch things, tries against the family: real programs.
extension RealPeers {
  @Suite struct LentCommandsTests {
    private struct Event: Decodable {
      var kind: String, level: String, name: String?, detail: String?, count: Int?
      var times: Int { count ?? 1 }
      var time: Double, began: Double?, acknowledgedAt: Double?
    }

    private func events(_ house: Household) throws -> [Event] {
      try house.parent("events", "--json").output.split(separator: "\n").map {
        try JSONDecoder().decode(Event.self, from: Data($0.utf8))
      }
    }

    /// Session after session, each with as many alarms as one may report.
    @Test func alarmsOfATokenPushNoRealOneOut() throws {
      let base = FileManager.default.temporaryDirectory.appending(path: "camera-\(UUID().uuidString)").path
      defer { for end in ["", ".sh"] { try? FileManager.default.removeItem(atPath: base + end) } }
      try Data().write(to: URL(filePath: base))
      let script = """
        printf 'YUV4MPEG2 W64 H48 F10:1 C420jpeg\\n'
        while [ -e "$1" ]; do printf 'FRAME\\n'; head -c 4608 /dev/urandom; sleep 0.1; done
        """
      try Data(script.utf8).write(to: URL(filePath: base + ".sh"))
      let server = try NotifiedServer()
      let house = try Household(
        configuration: """
          name: Nursery
          cameras: [{id: cot, device: "exec:sh \(base).sh \(base)", width: 64, height: 48, framerate: 10}]
          microphone: {device: test}
          speaker: {device: none}
          notify: [{name: phone, url: "http://127.0.0.1:\(server.port)/ok", level: notice, events: [alarm, camera-lost]}]
          """)
      try house.pair()
      let token = try ControlTalk.token(house.child, allow: "view")
      let notes = (0..<32).map {
        #"{"id":"\#($0)","text":"alarm.note","parameters":{"kind":"link","level":"alarm","began":1}}"#
      }
      var accepted = 0
      for _ in 0..<4 {
        let found = try ControlTalk.talk(house.child, ["notes": ControlTalk.quoted(notes)], token: token)
        let answers = try #require(found["notes"] ?? nil)
        #expect(answers.count == 32)
        accepted += answers.count { $0.text == "ok" }
      }
      // A few seconds pass, in which one more may come.
      #expect((32...34).contains(accepted), "\(accepted)")
      try FileManager.default.removeItem(atPath: base)
      // The first of them by themselves, the rest later, with a count.
      let told = server.wait("/ok", count: 8 + 1)
      #expect(told.count { $0["kind"] == "camera-lost" && $0["level"] == "alarm" } == 1, "\(told)")
      #expect(told.filter { $0["kind"] == "alarm" }.allSatisfy { $0["level"] == "notice" })
      #expect(try house.parent("report", "--json").status == 0, "it has all of them")
      let events = try events(house)
      #expect(events.contains { $0.kind == "camera-lost" && $0.level == "alarm" })
      let alarms = events.filter { $0.kind == "alarm" }
      #expect(alarms.map(\.times).reduce(0, +) == accepted && alarms.count <= 10, "\(alarms)")
      #expect(events.contains { $0.kind == "paired" })
    }

    /// A guest's alarm rings: the child has been away. It is told as a notice; a parent's rings for everybody.
    @Test func aGuestsAlarmIsANotice() throws {
      let server = try NotifiedServer()
      let house = try Household(
        configuration: Household.configuration
          + "\nnotify: [{name: phone, url: \"http://127.0.0.1:\(server.port)/ok\", level: alarm, events: [alarm]}]")
      try house.pair()
      let guest = try house.inviteGuest()
      let watching = try [guest, house.state].map { try ParentProcess(paired: $0) }
      for one in watching { _ = try #require(one.wait { $0.framesPerSecond > 0 }, Comment(rawValue: one.log)) }
      house.child.kill()
      Thread.sleep(forTimeInterval: 6)
      try house.child.restart()
      var alarms: [Event] = []
      for _ in 0..<60 where alarms.count < 2 {
        Thread.sleep(forTimeInterval: 0.5)
        alarms = try events(house).filter { $0.kind == "alarm" }
      }
      #expect(alarms.count == 2, "\(alarms)")
      #expect(alarms.first { $0.name == "Guest" }?.level == "notice", "\(alarms)")
      #expect(alarms.first { $0.name != "Guest" }?.level == "alarm", "\(alarms)")
      // It is not notified of a notice, so the parent's is the only one.
      #expect(server.wait("/ok", count: 1).map { $0["level"] } == ["alarm"])
    }

    /// Each chirp may wake the child, and a check that runs keeps the family's from beginning.
    @Test func soundChecksOfThoseWithLentAccessAreFewAndGiveWay() throws {
      let house = try Household(
        configuration: Household.configuration.replacing("speaker: {device: \"null\"}", with: "speaker: {device: none}")
      )
      try house.pair()
      let watching = try ParentProcess(paired: house.state)
      _ = try #require(watching.wait { $0.audioKbps > 0 }, Comment(rawValue: watching.log))
      let check = ControlTalk.quoted([#"{"id":"1","text":"hearing.test"}"#])
      let token = try ControlTalk.token(house.child, allow: "view,listen,control")
      #expect(try ControlTalk.talk(house.child, ["check": check], token: token)["check"] == [.ok("1")])
      // It takes six seconds, and the owner does not wait for its end.
      let own = try house.parent("test", "--json")
      #expect(own.output.contains(#""number":2"#), "\(own)")
      // Nobody else's credential begins the next one.
      let another = try ControlTalk.token(house.child, allow: "view,listen,control", name: "another")
      #expect(try ControlTalk.talk(house.child, ["check": check], token: another)["check"] == [.error("1", "busy")])
      let guest = try house.inviteGuest(allow: "view,listen,control")
      let refused = try house.parent("test", state: guest)
      #expect(
        refused.status != 0 && refused.error.contains("There was a sound check a few minutes ago. Try again in 10 min"),
        "\(refused)")
    }

    private func pairAgain(_ house: Household) throws -> URL {
      let another = house.child.folder.appending(path: "another")
      let opened = try house.open()
      let paired = try house.parent("pair", house.address, "--code", opened.code, state: another)
      try #require(paired.status == 0, Comment(rawValue: paired.error))
      return another
    }

    /// Begins a drill and ends it two seconds later, as Ctrl-C does; what was said.
    private func tryDrill(_ state: URL) throws -> String {
      let (process, errors) = (Process(), Pipe())
      process.executableURL = ParentProcess.program
      process.arguments = ["drill", "link", "--state-directory", state.path]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = errors
      try process.run()
      for _ in 0..<20 where process.isRunning { usleep(100_000) }
      if process.isRunning { process.interrupt() }
      let said = errors.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return String(decoding: said, as: UTF8.self)
    }

    @Test func nobodyKeepsTheFamilyDeafWithDrills() throws {
      let house = try Household()
      try house.pair()
      let watching = try ParentProcess(paired: house.state)
      _ = try #require(watching.wait { $0.framesPerSecond > 0 }, Comment(rawValue: watching.log))
      let token = try ControlTalk.token(house.child, allow: "view,listen,control")
      let orders = [#"{"id":"1","text":"drill.start"}"#, #"{"id":"2","text":"drill.stop"}"#]
      let found = try ControlTalk.talk(house.child, ["drills": ControlTalk.quoted(orders)], token: token)
      #expect(found["drills"] == [.error("1", "not-permitted"), .error("2", "not-permitted")], "\(found)")
      let guest = try house.inviteGuest(allow: "view,listen,control")
      let refused = try tryDrill(guest)
      #expect(refused.contains("Only a paired device whose access does not expire"), Comment(rawValue: refused))
      // Another parent, who is no owner: once.
      let another = try pairAgain(house)
      let first = try tryDrill(another)
      #expect(first.contains("ended before its time"), Comment(rawValue: first))
      let second = try tryDrill(another)
      #expect(second.contains("There was a drill a few minutes ago. Try again in 10 min"), Comment(rawValue: second))
      // The owner at once; and a guest, who may start none, can end it: `d` in its terminal.
      let (keys, guestWatches) = (Pipe(), Process())
      guestWatches.executableURL = URL(filePath: "/usr/bin/env")
      guestWatches.arguments = [
        "script", "-qfec", "\(ParentProcess.program.path) watch --speaker null --state-directory \(guest.path)",
        "/dev/null",
      ]
      guestWatches.standardInput = keys
      guestWatches.standardOutput = FileHandle.nullDevice
      guestWatches.standardError = FileHandle.nullDevice
      try guestWatches.run()
      defer {
        guestWatches.terminate()
        guestWatches.waitUntilExit()
      }
      let drill = Process()
      drill.executableURL = ParentProcess.program
      drill.arguments = ["drill", "link", "--state-directory", house.state.path]
      drill.standardOutput = FileHandle.nullDevice
      drill.standardError = FileHandle.nullDevice
      sleep(2)
      try drill.run()
      for _ in 0..<30 where drill.isRunning {
        sleep(1)
        try keys.fileHandleForWriting.write(contentsOf: Data("d".utf8))
        usleep(500_000)
      }
      #expect(!drill.isRunning)
      drill.terminate()
      drill.waitUntilExit()
      let drills = try events(house).filter { $0.kind == "drill" }
      #expect(drills.count == 2 && drills.allSatisfy { $0.detail?.contains("; ended by ") == true }, "\(drills)")
      #expect(drills.count { $0.detail?.contains("ended by Guest") == true } == 1, "\(drills)")
    }

    @Test func theViewChangesOnceASecondHoweverOftenSomebodySwitches() throws {
      let house = try Household()
      try house.pair()
      let token = try ControlTalk.token(house.child, allow: "view,control")
      let switches = (0..<30).map {
        #"{"id":"\#($0)","text":"camera.switch","parameters":{"id":"\#($0 % 2 == 0 ? "door" : "cot")"}}"#
      }
      for _ in 0..<2 {
        let found = try ControlTalk.talk(house.child, ["switches": ControlTalk.quoted(switches)], token: token)
        let answers = try #require(found["switches"] ?? nil)
        #expect(answers.allSatisfy { $0.text == "ok" || $0.code == "busy" }, "\(answers)")
      }
      #expect(try events(house).count { $0.kind == "camera-switched" } <= 2 * 3)
    }

    /// A year's report takes the disk's thread, a photo the encoder, and each photo is an event.
    @Test func reportsAndPhotosOfThoseWithLentAccessAreFew() throws {
      let house = try Household()
      try house.pair()
      let token = try ControlTalk.token(house.child, allow: "view,listen,control")
      let now = Date().timeIntervalSince1970
      let reports = (0..<30).map {
        #"{"id":"\#($0)","text":"report.get","parameters":{"from":\#(now - 3e7),"to":\#(now)}}"#
      }
      let photos = (0..<30).map { [#"{"id":"\#($0)","text":"screenshot.take","parameters":{"quality":1}}"#] }
      let pauses = photos.flatMap { ControlTalk.quoted($0).dropFirst().dropLast() + #",{"wait":0.2},"# }
      let found = try ControlTalk.talk(
        house.child,
        [
          "reports": ControlTalk.quoted(reports).dropLast() + #",{"wait":3}]"#,
          "photos": "[" + String(pauses) + #"{"wait":1}]"#,
        ], token: token)
      // Both take some seconds, in which another one may come.
      let made = try #require(found["reports"] ?? nil).count { $0.text == "ok" }
      #expect((1...12).contains(made), "\(found)")
      let taken = try #require(found["photos"] ?? nil).count { $0.text == "ok" }
      #expect((5...16).contains(taken), "\(found)")
      #expect(try house.parent("report", "--json").status == 0, "the family's is made")
    }

    /// Last year's, next year's, and one that ended before it began: the report shows them to the family.
    @Test func alarmsHaveDatesThatCanBe() throws {
      let house = try Household()
      try house.pair()
      let token = try ControlTalk.token(house.child, allow: "view")
      let now = Date().timeIntervalSince1970
      let times = [(now - 3e7, now - 2.9e7), (now + 3e7, now + 3.1e7), (now - 10, now - 5)]
      let notes = times.enumerated().map {
        #"{"id":"\#($0)","text":"alarm.note","parameters":{"kind":"link","level":"alarm","began":\#($1.0),"#
          + #""acknowledgedAt":\#($1.1)}}"#
      }
      let found = try ControlTalk.talk(house.child, ["notes": ControlTalk.quoted(notes)], token: token)
      #expect(found["notes"] == [.ok("0"), .ok("1"), .ok("2")])
      let alarms = try events(house).filter { $0.kind == "alarm" }
      #expect(alarms.count == 3)
      for alarm in alarms {
        let (began, end) = (try #require(alarm.began), try #require(alarm.acknowledgedAt))
        #expect(began > now - 600 && began <= alarm.time + 1 && end >= began && end <= alarm.time + 1, "\(alarm)")
      }
      #expect(abs(try #require(alarms.last?.began) - now + 10) < 0.01)
    }

    /// Whoever looks in the morning sees the latest fifty events: a guest who plays with light, sound and microphone all night
    /// must not be all of them.
    @Test func whatAGuestSwitchesPushesNothingOut() throws {
      let house = try Household()
      try house.pair()
      let token = try ControlTalk.token(house.child, allow: "view,talk,control")
      let kinds = [
        #"{"id":"1","text":"light.set","parameters":{"state":"toggle"}}"#,
        #"{"id":"1","text":"lullaby.play","parameters":{}}"#, #"{"id":"1","text":"lullaby.stop"}"#,
        #"{"id":"1","text":"talk.acquire"}"#, #"{"id":"1","text":"talk.release"}"#,
      ]
      let orders = (0..<8).flatMap { _ in kinds }
      var done = 0
      for _ in 0..<3 {
        let found = try ControlTalk.talk(house.child, ["orders": ControlTalk.quoted(orders)], token: token)
        done += try #require(found["orders"] ?? nil).count { $0.text == "ok" }
      }
      #expect(done >= 100, "\(done)")
      var events = try events(house)
      #expect(events.contains { $0.kind == "paired" } && events.contains { $0.kind == "restart" }, "\(events)")
      #expect(events.count { $0.name == "player" } <= 8 + 6, "\(events)")
      // Nothing is lost: the report has all of it.
      #expect(try house.parent("report", "--json").status == 0)
      events = try self.events(house)
      let its = events.filter { $0.name == "player" && ["light", "lullaby", "talk"].contains($0.kind) }
      // Some answers come after the last question.
      #expect((done...orders.count * 3).contains(its.map(\.times).reduce(0, +)) && its.count < 20, "\(its)")
      #expect(events.contains { $0.kind == "paired" } && events.contains { $0.kind == "restart" })
    }

    /// A token takes the floor and keeps it: a parent just talks.
    @Test func aGuestThatKeepsTheFloorGivesWayToAParent() throws {
      let house = try Household()
      try house.pair()
      let token = try ControlTalk.token(house.child, allow: "view,talk")
      let (talk, log) = (Process(), Pipe())
      talk.executableURL = URL(filePath: "/usr/bin/env")
      // When the guest has it.
      talk.arguments = [
        "bash", "-c",
        """
        for i in $(seq 200); do
          "$0" status --json --state-directory "$1" | grep -q '"talk":{[^}]*"holder":"player"' && echo guest && break
          sleep 0.1
        done
        exec "$0" talk --microphone test --duration 3 --state-directory "$1"
        """, ParentProcess.program.path, house.state.path,
      ]
      talk.standardError = log
      talk.standardOutput = log
      try talk.run()
      defer {
        talk.terminate()
        talk.waitUntilExit()
      }
      let found = try ControlTalk.talk(
        house.child,
        [
          "floor":
            #"["{\"id\":\"1\",\"text\":\"talk.acquire\"}",{"wait":8},"{\"id\":\"2\",\"text\":\"talk.acquire\"}"]"#
        ], token: token)
      talk.waitUntilExit()
      let said = String(decoding: log.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      #expect(found["floor"]??.first == .ok("1"), "\(found)")
      #expect(said.contains("heard") && !said.contains("is speaking"), Comment(rawValue: said))
      #expect(talk.terminationStatus == 0, Comment(rawValue: said))
      let talks = try events(house).filter { $0.kind == "talk" }
      #expect(talks.contains { $0.name != "player" && $0.detail == "begins" }, "\(talks)")
    }

    /// Each session that somebody starts costs those who watch a key frame.
    @Test func whoeverStartsAndLeavesSessionsIsSlowedDown() throws {
      struct Outcome: Decodable { var started: Int, refused: [String: Int], details: [String] }
      let house = try Household()
      try house.pair()
      let watching = try ParentProcess(paired: house.state)
      _ = try #require(watching.wait { $0.framesPerSecond > 0 }, Comment(rawValue: watching.log))
      let token = try ControlTalk.token(house.child, allow: "view")
      let outcome = try JSONDecoder().decode(
        Outcome.self,
        from: Data(
          ControlTalk.run(
            "session_flood.py", house.child, token: token, arguments: ["--duration", "8"], input: ""
          ).utf8))
      // A burst, and one each four seconds of those and of what the last one takes.
      #expect((8...11).contains(outcome.started), "\(outcome)")
      #expect(outcome.refused.count == 1 && outcome.refused["429", default: 0] > 3, "\(outcome)")
      // Whoever asks faster than that meets the limit of offers first.
      #expect(outcome.details.contains { $0.contains("starts sessions too often") }, "\(outcome)")
      #expect(watching.figures.last?.reconnects == 0)
      // The owner's commands, each with a session of its own, are not slowed down; the report has all of it.
      for _ in 0..<3 { #expect(try house.parent("report", "--json").status == 0) }
      let events = try events(house).filter { $0.name == "player" }
      for kind in ["viewer-joined", "viewer-left"] {
        let some = events.filter { $0.kind == kind }
        #expect(some.map { $0.count ?? 1 }.reduce(0, +) == outcome.started, "\(kind): \(events)")
        #expect(some.count < outcome.started, "\(events)")
      }
    }

    /// Sixty ports of this machine, as a router or a neighbour would be.
    @Test func aTokensOfferMakesTheChildAskFewPorts() throws {
      let house = try Household()
      let token = try ControlTalk.token(house.child, allow: "view")
      let attacker = try Attacker(
        "candidates", port: house.child.port, seconds: 4, source: "127.0.0.1", count: 60, arguments: ["--token", token])
      let report = try attacker.report()
      #expect(report.answers["201"] == 1, "\(report)")
      #expect((1...20).contains(report.asked ?? 0), "\(report)")
    }
  }
}
