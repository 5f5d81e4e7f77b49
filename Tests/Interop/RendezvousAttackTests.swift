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

    private func check(_ outcome: AttackedMeeting.Outcome, location: SourceLocation = #_sourceLocation) {
      #expect(
        outcome.attempts.allSatisfy { $0 <= Self.maximumAttempts }, Comment(rawValue: outcome.complaint),
        sourceLocation: location)
      #expect(outcome.report.attempted > 0, "\(outcome.report)", sourceLocation: location)
      #expect(outcome.memoryGrowth < Self.maximumGrowth, "\(outcome.report)", sourceLocation: location)
      #expect(outcome.remains == nil, Comment(rawValue: outcome.remains ?? ""), sourceLocation: location)
    }

    /// From one address, from the parent's own, and from many.
    @Test(arguments: [("127.0.0.2", 1), ("127.0.0.1", 1), ("127.3.0.1", 250)])
    func silentConnectionsKeepNobodyOut(source: String, sources: Int) throws {
      check(try AttackedMeeting().endure("idle", source: source, sources: sources))
    }

    @Test(arguments: [1, 250])
    func handshakesThatStopHalfWayKeepNobodyOut(sources: Int) throws {
      check(try AttackedMeeting().endure("half", source: "127.3.0.1", sources: sources))
    }

    /// More than a room holds.
    @Test func whoFillsTheRoomKeepsNoParentOut() throws {
      check(try AttackedMeeting().endure("places", source: "127.3.0.1", sources: 250, count: 600))
    }

    /// In the child's room there.
    @Test func aGuestKeepsFourPlacesWhateverItOffers() throws {
      let meeting = try AttackedMeeting()
      let key = try meeting.house.inviteGuest().appending(path: "identity.pem").path
      let outcome = try meeting.endure(
        "guest", source: "127.3.0.1", sources: 10, count: 30, arguments: ["--key", key]
      ) {
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

    @Test(arguments: ["mute", "claims"])
    func whoProvesNothingIsClosed(attack: String) throws {
      for sources in [1, 250] {
        let outcome = try AttackedMeeting().endure(attack, source: "127.3.0.1", sources: sources)
        check(outcome)
        #expect(outcome.report.answers["1008", default: 0] > 0, "\(sources): \(outcome.report)")
      }
    }

    /// There are more of them than the server takes children.
    @Test func roomsOfNobodyKeepNoChildOut() throws {
      let meeting = try AttackedMeeting(maximumChildren: 3)
      let outcome = try meeting.endure("rooms", source: "127.3.0.1", sources: 250) {
        // Comes back while they are there.
        try meeting.house.child.restart()
      }
      check(outcome)
      #expect(outcome.report.answers["registered", default: 0] > 3, "\(outcome.report)")
    }

    @Test func floodsOfFramesAreClosedWithTheirCode() throws {
      let outcome = try AttackedMeeting().endure("frames", count: 8)
      check(outcome)
      let forms = try #require(outcome.report.byForm)
      #expect(forms["pings"] == ["1008"] && forms["messages"] == ["1008"], "\(forms)")
      #expect(forms["unending"] == ["1009"] && forms["oversized"] == ["1009"], "\(forms)")
    }

    @Test func whoDoesNotReadFillsNoMemory() throws {
      let meeting = try AttackedMeeting()
      // Its own host and eight clients come, beside the child; clients that leave too much unread are closed within seconds.
      let outcome = try meeting.endure("unread", count: 8) {
        let areGone = try meeting.waitForConnections { $0 < 10 }
        #expect(areGone)
      }
      check(outcome)
      #expect(outcome.report.attempted > 100, "\(outcome.report)")
    }

    /// Anybody can make a key and be a child.
    @Test(arguments: [("", false), ("lend-after: 1h\n", false), ("lend-after: 0s\n", true)])
    func whoMakesAKeyGetsNoRelay(grace: String, isLent: Bool) throws {
      let servers = #"ice-servers: [{urls: "turn:192.0.2.1", secret: shared}, {urls: "stun:192.0.2.2"}]"#
      let place = try RendezvousProcess(
        RendezvousFolder(), configuration: "names: ['127.0.0.1']\n\(servers)\n\(grace)")
      let attacker = try Attacker(
        "borrow", script: "rendezvous_attacker.py", port: place.port, source: "127.0.0.2", sources: 1, count: nil,
        arguments: ["--room", "x", "--parent", "x"])
      sleep(2)
      let report = try attacker.stop()
      #expect((report.answers["credentials", default: 0] > 0) == isLent, "\(report)")
      #expect((report.answers["none", default: 0] > 0) != isLent, "\(report)")
      // It may find out its address.
      #expect(report.answers["stun:192.0.2.2:3478", default: 0] > 0, "\(report)")
    }

    /// Whoever knows its id can have it asked for signs of life, and send to it.
    @Test(arguments: [("knocks", 1), ("crumbs", 250)])
    func whoKnowsTheChildsIDKeepsItHere(attack: String, sources: Int) throws {
      let meeting = try AttackedMeeting()
      let outcome = try meeting.endure(attack, source: "127.3.0.1", sources: sources) {
        // Comes back to what they have left for it.
        try meeting.house.child.restart()
        sleep(3)
      }
      check(outcome)
      #expect(outcome.report.attempted > 500, "\(outcome.report)")
      let absences = meeting.house.child.logText.split(separator: "\n").filter { $0.contains("not at a meeting place") }
      #expect(absences.isEmpty, "\(absences)")
    }

    @Test(arguments: [1, 250])
    func forgedOffersKeepNoParentOut(sources: Int) throws {
      let outcome = try AttackedMeeting().endure("offers", source: "127.3.0.1", sources: sources)
      check(outcome)
      #expect(outcome.report.attempted > 20, "\(outcome.report)")
    }
  }
}

/// A child at a rendezvous on loopback, and a paired parent that reaches it there alone. The machine needs an address beside
/// loopback: ends that meet elsewhere do not tell each other that one.
final class AttackedMeeting {
  let place: RendezvousProcess
  let house: Household
  private let parent: String

  struct Outcome {
    var report: AttackReport
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

  /// - Parameter prepare: done once the attack goes on.
  func endure(
    _ attack: String, source: String = "127.0.0.2", sources: Int = 1, count: Int? = nil, arguments: [String] = [],
    prepare: () throws -> Void = {}
  ) throws -> Outcome {
    let use = ProcessUse(process: place.processIdentifier)
    let (quiet, descriptors) = (use.memory, use.descriptors)
    let attacker = try Attacker(
      attack, script: "rendezvous_attacker.py", port: place.port, source: source, sources: sources, count: count,
      arguments: ["--room", house.childID, "--parent", parent] + arguments)
    var most = quiet
    // Until it is under way.
    for _ in 0..<40 {
      most = max(most, use.memory)
      usleep(50_000)
    }
    try prepare()
    var attempts: [Int] = []
    for _ in 0..<3 {
      attempts.append(try meet(most: 10))
      most = max(most, use.memory)
    }
    // A flood that has its end by itself, like so many connections, may be over.
    let report = try attacker.stop()
    return Outcome(
      report: report, attempts: attempts, complaint: complaint, memoryGrowth: most - quiet,
      remains: try remains(use, descriptors))
  }

  /// False if it does not come true within a minute.
  func waitForConnections(_ isEnough: (Int) -> Bool) throws -> Bool {
    for _ in 0..<600 {
      let metrics = try place.request("/metrics")
      let count = metrics.firstMatch(of: /\ncradle_rendezvous_connections (\d+)/).flatMap { Int($0.1) }
      if let count, isEnough(count) { return true }
      usleep(100_000)
    }
    return false
  }

  /// Waits: an unproven connection has up to a minute, and messages in a room have half of one.
  private func remains(_ use: ProcessUse, _ descriptors: Int) throws -> String? {
    var found = ""
    for _ in 0..<1200 {
      let metrics = try place.request("/metrics")
      let isQuiet = ["connections", "rooms", "children"].allSatisfy { metrics.contains("cradle_rendezvous_\($0) 1\n") }
      if isQuiet, use.descriptors <= descriptors { return nil }
      found = "\(use.descriptors) descriptors (\(descriptors) before), \(metrics.suffix(600))"
      usleep(100_000)
    }
    return found
  }
}
