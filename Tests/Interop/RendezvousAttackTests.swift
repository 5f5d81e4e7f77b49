import Foundation
import Testing

/// Floods of a real `cradle-rendezvous` by a real attacker. While one goes on, a paired parent meets the child there and gives
/// an order, in few attempts; memory stays bounded; and afterwards nothing remains of it.
extension RealPeers {
  @Suite struct RendezvousAttackTests {
    /// 10^6 bytes. A thousand connections of strangers with their TLS state are some 25, in an unoptimised build.
    private static let maximumGrowth = 80.0
    /// A stranger's connection may push the parent's out once or twice.
    private static let maximumAttempts = 5

    private typealias Attack = AttackedMeeting.Attack

    private func check(
      _ outcome: AttackedMeeting.Outcome, _ what: String = "", location: SourceLocation = #_sourceLocation
    ) {
      let comment = Comment(rawValue: "\(what): \(outcome.complaint) \(outcome.remains ?? "") \(outcome.reports)")
      #expect(
        outcome.attempts.allSatisfy { $0 <= Self.maximumAttempts }, comment, sourceLocation: location)
      #expect(outcome.reports.allSatisfy { $0.attempted > 0 }, comment, sourceLocation: location)
      #expect(outcome.memoryGrowth < Self.maximumGrowth, comment, sourceLocation: location)
      #expect(outcome.remains == nil, comment, sourceLocation: location)
    }

    /// TCP connections, and handshakes that stop half-way, of more than there are places: from one address, from the parent's
    /// own, and from many.
    @Test func silentConnectionsKeepNobodyOut() throws {
      let meeting = try AttackedMeeting()
      for attack in [
        Attack("idle", count: 1500), Attack("idle", source: "127.0.0.1", count: 1500),
        Attack("idle", source: "127.3.0.1", sources: 250, count: 1500),
        Attack("half", source: "127.3.0.1"), Attack("half", source: "127.3.0.1", sources: 250),
      ] {
        check(try meeting.endure(attack), "\(attack)")
      }
    }

    /// What needs no key, one after the other at one place. What is left in rooms waits for half a minute, so that nothing is there
    /// any more is seen at the end.
    @Test func strangersKeepNobodyOut() throws {
      let meeting = try AttackedMeeting(maximumChildren: 3)
      try whoLeavesMessagesInRoomsOfNobody(meeting)
      try whoDoesNotRead(meeting)
      try whoKnowsTheChildsID(meeting)
      try whoProvesNothing(meeting)
      try floodsOfFrames(meeting)
      let places = Attack("places", source: "127.3.0.1", sources: 250, count: 600)
      check(try meeting.endure(places, leavesMessages: true), "places")
      for sources in [1, 250] {
        // What the last one leaves has been taken by the child.
        let outcome = try meeting.endure(
          Attack("offers", source: "127.3.0.1", sources: sources), leavesMessages: sources == 1)
        check(outcome, "offers")
        #expect(outcome.report.attempted >= 20, "\(outcome.report)")
      }
    }

    /// More rooms than the server takes children.
    private func whoLeavesMessagesInRoomsOfNobody(_ meeting: AttackedMeeting) throws {
      let outcome = try meeting.endure(Attack("rooms", source: "127.3.0.1", sources: 250), leavesMessages: true) {
        // Comes back while they are there.
        try meeting.house.child.restart()
      }
      check(outcome, "rooms")
      #expect(outcome.report.answers["registered", default: 0] > 3, "\(outcome.report)")
    }

    private func whoDoesNotRead(_ meeting: AttackedMeeting) throws {
      // Its own host and eight clients come, beside the child; clients that leave too much unread are closed within seconds.
      let outcome = try meeting.endure(Attack("unread", count: 8), leavesMessages: true) {
        let areGone = try meeting.waitForConnections { $0 < 10 }
        #expect(areGone)
      }
      check(outcome, "unread")
      #expect(outcome.report.attempted > 100, "\(outcome.report)")
    }

    /// Whoever knows its id can have it asked for signs of life, and send to it.
    private func whoKnowsTheChildsID(_ meeting: AttackedMeeting) throws {
      let before = absences(of: meeting)
      for attack in [
        Attack("knocks", source: "127.3.0.1"), Attack("crumbs", source: "127.3.0.1", sources: 250),
      ] {
        let outcome = try meeting.endure(attack, leavesMessages: true) {
          // Comes back to what they have left for it.
          try meeting.house.child.restart()
          sleep(2)
        }
        check(outcome, "\(attack)")
        #expect(outcome.report.attempted > 500, "\(outcome.report)")
      }
      let after = absences(of: meeting)
      #expect(after == before)
    }

    /// How often the child was not there.
    private func absences(of meeting: AttackedMeeting) -> [Substring] {
      meeting.house.child.logText.split(separator: "\n").filter { $0.contains("not at a meeting place") }
    }

    /// All at once, from one address and from many: who says nothing, and who claims to be a child.
    private func whoProvesNothing(_ meeting: AttackedMeeting) throws {
      let attacks = [
        Attack("mute", source: "127.3.0.1", count: 50), Attack("mute", source: "127.3.1.1", sources: 250, count: 200),
        Attack("claims", source: "127.3.0.2", count: 50),
        Attack("claims", source: "127.3.2.1", sources: 250, count: 200),
      ]
      let outcome = try meeting.endure(attacks, leavesMessages: true)
      check(outcome, "mute, claims")
      for (attack, report) in zip(attacks, outcome.reports) {
        #expect(report.answers["1008", default: 0] > 0, "\(attack): \(report)")
      }
    }

    private func floodsOfFrames(_ meeting: AttackedMeeting) throws {
      let outcome = try meeting.endure(Attack("frames", count: 8), leavesMessages: true)
      check(outcome, "frames")
      let forms = try #require(outcome.report.byForm)
      #expect(forms["pings"] == ["1008"] && forms["messages"] == ["1008"], "\(forms)")
      #expect(forms["unending"] == ["1009"] && forms["oversized"] == ["1009"], "\(forms)")
    }

    /// In the child's room there.
    @Test func aGuestKeepsFourPlacesWhateverItOffers() throws {
      let meeting = try AttackedMeeting()
      let key = try meeting.house.inviteGuest().appending(path: "identity.pem").path
      let guest = Attack(
        "guest", source: "127.3.0.1", sources: 10, count: 30, arguments: ["--key", key, "--enough", "offered:30"])
      let outcome = try meeting.endure(guest) {
        // Each new session takes the place of one that never connected, and of the connection that it came over: there are
        // the child's and at most four more.
        let haveCome = try meeting.waitForConnections { $0 > 1 }
        #expect(haveCome)
        let areGone = try meeting.waitForConnections { $0 <= 1 + 4 }
        #expect(areGone)
      }
      check(outcome)
      #expect(outcome.report.attempted == 30, "\(outcome.report)")
    }

    /// Anybody can make a key and be a child: children from one address, more than there are places; then the real one comes
    /// back, and so does a parent.
    @Test func childrenThatAreMadeUpKeepNoChildOut() throws {
      let meeting = try AttackedMeeting(maximumChildren: 6)
      let outcome = try meeting.endure(Attack("hosts", count: 20)) {
        let isFull = try meeting.waitFor("children") { $0 == 6 }
        #expect(isFull)
        try meeting.house.child.restart()
      }
      check(outcome)
      #expect(outcome.report.answers["full", default: 0] > 0, "\(outcome.report)")
      #expect(outcome.report.answers["displaced", default: 0] > 0, "\(outcome.report)")
      #expect(outcome.report.mostHeld ?? 0 <= 6, "\(outcome.report)")
      let absences = meeting.house.child.logText.split(separator: "\n").filter { $0.contains("too many rooms") }
      #expect(absences.isEmpty, "\(absences)")
    }

    /// No attack, but the same place: the child's program crashes and is there again within a second, in which nothing that the
    /// session waits for has run out.
    @Test func aChildThatBeganAgainIsWatchedAgainAtOnce() throws {
      let meeting = try AttackedMeeting()
      let watching = try ParentProcess(
        paired: meeting.house.state, environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"])
      _ = try #require(watching.wait { $0.framesPerSecond > 0 }, Comment(rawValue: watching.log))
      meeting.house.child.kill()
      try meeting.house.child.restart()
      // Consent to send would expire after 30 s.
      let again = watching.wait(limit: 20) { $0.reconnects > 0 && $0.framesPerSecond > 0 }
      #expect(again?.reconnects == 1, "\(watching.figures.suffix(20)) \(watching.log)")
    }

    /// Nor are they lent a relay.
    @Test(arguments: [("", false), ("lend-after: 1h\n", false), ("lend-after: 0s\n", true)])
    func whoMakesAKeyGetsNoRelay(grace: String, isLent: Bool) throws {
      let servers = #"ice-servers: [{urls: "turn:192.0.2.1", secret: shared}, {urls: "stun:192.0.2.2"}]"#
      let place = try RendezvousProcess(
        RendezvousFolder(), configuration: "names: ['127.0.0.1']\n\(servers)\n\(grace)")
      let attacker = try Attacker(
        "borrow", script: "rendezvous_attacker.py", port: place.port, seconds: 0,
        arguments: ["--room", "x", "--parent", "x", "--enough", "stun:192.0.2.2:3478:1"])
      let report = try attacker.report()
      #expect((report.answers["credentials", default: 0] > 0) == isLent, "\(report)")
      #expect((report.answers["none", default: 0] > 0) != isLent, "\(report)")
      // It may find out its address.
      #expect(report.answers["stun:192.0.2.2:3478", default: 0] > 0, "\(report)")
    }

  }
}

/// A child at a rendezvous on loopback, and a paired parent that reaches it there alone. The machine needs an address beside
/// loopback: ends that meet elsewhere do not tell each other that one.
final class AttackedMeeting {
  let place: RendezvousProcess
  let house: Household
  private let parent: String

  struct Attack: CustomStringConvertible {
    var name: String
    var source: String
    var sources: Int
    var count: Int?
    var arguments: [String]

    /// - Parameters: as of `Attacker`.
    init(
      _ name: String, source: String = "127.0.0.2", sources: Int = 1, count: Int? = nil, arguments: [String] = []
    ) {
      (self.name, self.source, self.sources) = (name, source, sources)
      (self.count, self.arguments) = (count, arguments)
    }

    var description: String { "\(name) from \(source), \(sources)" }
  }

  struct Outcome {
    /// One for each attack.
    var reports: [AttackReport]
    var report: AttackReport { reports[0] }
    /// For each meeting, how many attempts it took.
    var attempts: [Int]
    /// What the last attempt that failed said.
    var complaint: String
    /// The highest memory of the rendezvous meanwhile less that before, 10^6 bytes.
    var memoryGrowth: Double
    /// What is left long afterwards that was not there before; nil: nothing.
    var remains: String?
  }

  init(maximumChildren: Int = 100) throws {
    struct Listing: Decodable {
      struct Pair: Decodable { var id: String }
      var pairs: [Pair]
    }
    place = try RendezvousProcess(
      RendezvousFolder(), configuration: "names: ['127.0.0.1']\nmaximum-children: \(maximumChildren)\n")
    let meeting = "{rendezvous: \"wss://127.0.0.1:\(place.port)\", key-sha256: \"\(try place.keySHA256())\"}"
    house = try Household(configuration: Household.configuration + "\naway: {meetings: [\(meeting)]}\n")
    try house.pair()
    parent = try #require(
      JSONDecoder().decode(Listing.self, from: Data(house.child.command(["pairs", "--json"]).output.utf8)).pairs.first
    ).id
    try forgetAddress()
    #expect(try meet() <= 100)
  }

  /// What the parent knows of the child is its meeting place alone.
  private func forgetAddress() throws {
    let file = house.state.appending(path: "pairs.json")
    let text = try String(contentsOf: file, encoding: .utf8)
    let without = text.replacing(/"lastAddress"\s*:\s*\{[^}]*\},\s*/, with: "")
    try #require(text != without, "the parent had an address")
    try without.write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
  }

  private var complaint = ""

  /// An order to the child by way of the rendezvous; how many attempts it took.
  private func meet(most: Int = 100) throws -> Int {
    for attempt in 1...most {
      // Without a bus nobody is found by name.
      let done = try ChildProcess.run(
        "env",
        [
          "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", ParentProcess.program.path, "light", "toggle",
          "--state-directory", house.state.path,
        ])
      if done.status == 0 { return attempt }
      complaint = done.error
    }
    return .max
  }

  func endure(_ attack: Attack, leavesMessages: Bool = false, prepare: () throws -> Void = {}) throws -> Outcome {
    try endure([attack], leavesMessages: leavesMessages, prepare: prepare)
  }

  /// - Parameters:
  ///   - leavesMessages: what it has left for those who are absent is not waited for.
  ///   - prepare: done once the attacks go on.
  func endure(
    _ attacks: [Attack], leavesMessages: Bool = false, prepare: () throws -> Void = {}
  ) throws -> Outcome {
    let use = ProcessUse(process: place.processIdentifier)
    let (quiet, descriptors) = (use.memory, use.descriptors)
    let attackers = try attacks.map { attack in
      try Attacker(
        attack.name, script: "rendezvous_attacker.py", port: place.port, source: attack.source,
        sources: attack.sources, count: attack.count,
        arguments: ["--room", house.childID, "--parent", parent] + attack.arguments)
    }
    var most = quiet
    // Until they are under way.
    for _ in 0..<20 {
      most = max(most, use.memory)
      usleep(50_000)
    }
    try prepare()
    var attempts: [Int] = []
    for _ in 0..<2 {
      attempts.append(try meet(most: 10))
      most = max(most, use.memory)
    }
    // A flood that has its end by itself, like so many connections, may be over.
    let reports = try attackers.map { try $0.stop() }
    return Outcome(
      reports: reports, attempts: attempts, complaint: complaint, memoryGrowth: most - quiet,
      remains: try remains(use, descriptors, leavesMessages: leavesMessages))
  }

  /// False if it does not come true within a minute.
  func waitForConnections(_ isEnough: (Int) -> Bool) throws -> Bool { try waitFor("connections", isEnough) }

  /// The same for `children` or `rooms`.
  func waitFor(_ figure: String, _ isEnough: (Int) -> Bool) throws -> Bool {
    for _ in 0..<600 {
      let line = try place.request("/metrics").split(separator: "\n").first {
        $0.hasPrefix("cradle_rendezvous_\(figure) ")
      }
      if let count = line?.split(separator: " ").last.flatMap({ Int($0) }), isEnough(count) { return true }
      usleep(100_000)
    }
    return false
  }

  /// Waits: an unproven connection has up to a minute, and messages in a room have half of one.
  private func remains(_ use: ProcessUse, _ descriptors: Int, leavesMessages: Bool) throws -> String? {
    let figures = leavesMessages ? ["connections", "children"] : ["connections", "rooms", "children"]
    var found = ""
    for _ in 0..<1200 {
      let metrics = try place.request("/metrics")
      let isQuiet = figures.allSatisfy { metrics.contains("cradle_rendezvous_\($0) 1\n") }
      if isQuiet, use.descriptors <= descriptors { return nil }
      found = "\(use.descriptors) descriptors (\(descriptors) before), \(metrics.suffix(600))"
      usleep(100_000)
    }
    return found
  }
}
