import Foundation
import Testing

/// Attacks on the child's ports by a real attacker, shortly; `bench.py --only attacks` measures what they cost.
///
/// Each time the viewers notice nothing, a paired parent's order is done meanwhile, and the child's memory stays bounded.
extension RealPeers {
  @Suite struct AttackTests {
    /// 10^6 bytes. 256 connections with their TLS state are some 15.
    private static let maximumGrowth = 60.0

    private func check(_ outcome: AttackedHouse.Outcome, location: SourceLocation = #_sourceLocation) {
      #expect(outcome.complaints.isEmpty, "\(outcome.report)", sourceLocation: location)
      #expect(outcome.order.status == 0, Comment(rawValue: outcome.order.error), sourceLocation: location)
      #expect(outcome.memoryGrowth < Self.maximumGrowth, "\(outcome.report)", sourceLocation: location)
    }

    @Test func silentConnectionsKeepNobodyOut() throws {
      let house = try AttackedHouse()
      // Once as somebody else in the network, once from where the parent is too, as behind one router.
      for source in ["127.0.0.2", "127.0.0.1"] {
        let outcome = try house.endure("idle", source: source, enough: "closed:101")
        check(outcome)
        #expect(outcome.report.attempted == 5000)
        #expect(outcome.report.answers["closed", default: 0] > 100, "\(outcome.report)")
        #expect(outcome.maximumDescriptors < 400, "\(outcome.maximumDescriptors)")
      }
    }

    /// Places fit the system's limit, so that neither a parent nor a device goes without a descriptor.
    @Test func fewFileDescriptorsAreEnough() throws {
      let house = try AttackedHouse(prefix: ["sh", "-c", "ulimit -n 160 && exec \"$@\"", "sh"])
      let outcome = try house.endure("idle", count: 500)
      check(outcome)
      #expect(outcome.maximumDescriptors <= 160)
    }

    @Test func tooFewFileDescriptorsAreSaidAtTheStart() throws {
      let (_, error, status) = try ChildProcess.run(
        "sh", ["-c", "ulimit -n 60 && exec \"$@\"", "sh", ChildProcess.program.path, "run", "--camera", "test"])
      #expect(status == 1 && error.contains("ulimit -n"), Comment(rawValue: error))
    }

    @Test func slowRequestsAreEndedInTime() throws {
      let outcome = try AttackedHouse().endure("slow", seconds: 14, count: 60, enough: "closed:30")
      check(outcome)
      // 10 s for a request, and 2 s more that TLS gives its goodbye.
      #expect(outcome.report.answers["closed", default: 0] >= 30, "\(outcome.report)")
    }

    @Test func floodsOfRequestsAndGuessesAreToldToWait() throws {
      let house = try AttackedHouse()
      let flood = try house.endure("requests", source: "127.0.0.3", enough: "429:1")
      check(flood)
      #expect(flood.report.answers["429", default: 0] > 0, "\(flood.report)")
      #expect(flood.report.retryAfter == flood.report.answers["429"])
      let guesses = try house.endure("pairing", source: "127.0.0.4", enough: "429:1")
      check(guesses)
      #expect(guesses.report.guesses == 0 && guesses.report.answers["429", default: 0] > 0, "\(guesses.report)")
      #expect(guesses.report.answers["409", default: 0] > 0, "\(guesses.report)")
      let handshakes = try house.endure("handshakes", source: "127.0.0.5")
      check(handshakes)
    }

    @Test func anOpenWindowTakesThreeGuessesWhateverComes() throws {
      let house = try AttackedHouse()
      let opened = try house.house.open()
      let outcome = try house.endure("pairing", seconds: 12)
      check(outcome)
      #expect((1...3).contains(try #require(outcome.report.guesses)), "\(outcome.report)")
      #expect(try house.house.pairs().count == 1)
      #expect(!house.house.child.logText.contains(opened.code))
    }

    @Test func whatIsTooLargeIsRefusedWithItsCode() throws {
      let outcome = try AttackedHouse().endure("large", count: 20)
      check(outcome)
      let forms = try #require(outcome.report.byForm)
      for name in ["field", "fields", "line"] { #expect(forms[name] == ["431"], "\(name): \(forms)") }
      for name in ["body", "chunks"] { #expect(forms[name] == ["413"], "\(name): \(forms)") }
    }

    /// Page files, refusals, heads, asked for without end; every other client takes a byte each second.
    @Test func answersThatNobodyTakesFillNoMemory() throws {
      let house = try AttackedHouse()
      // Few that ask for much, then as many as there are places.
      for (count, sources) in [(5, 5), (250, 25)] {
        // Who has taken nothing for 10 s is closed.
        let outcome = try house.endure(
          "deaf", seconds: 12, source: "127.2.0.1", sources: sources, count: count, enough: "closed:5")
        check(outcome)
        #expect(outcome.memoryGrowth < (count == 5 ? 10 : 30), "\(outcome.memoryGrowth) \(outcome.report)")
        #expect(outcome.report.answers["closed", default: 0] >= 5, "\(outcome.report)")
      }
    }

    /// One token, 300 connections: health probes, parents, and whoever pairs still get in.
    @Test func aTokensConnectionsKeepNobodyOut() throws {
      struct Added: Decodable { var token: String }
      let house = try AttackedHouse()
      let said = try house.house.child.command(["token", "add", "--name", "thief", "--allow", "view", "--json"])
      let token = try JSONDecoder().decode(Added.self, from: Data(said.output.utf8)).token
      let outcome = try house.endure(
        "holder", seconds: 8, source: "127.4.0.1", sources: 50, arguments: ["--token", token]
      ) {
        let health = try ChildProcess.run(
          "curl", ["-ksS", "--max-time", "10", "https://127.0.0.1:\(house.house.child.port)/healthz"])
        #expect(health.output == "ok\n", "\(health)")
        let another = house.house.child.folder.appending(path: "another")
        let opened = try house.house.open()
        let paired = try house.house.parent("pair", house.house.address, "--code", opened.code, state: another)
        #expect(paired.status == 0, Comment(rawValue: paired.error))
      }
      check(outcome)
      #expect(outcome.report.answers["404", default: 0] > 100, "\(outcome.report)")
      // Nothing is left of it.
      #expect(try house.house.child.command(["token", "revoke", "thief"]).status == 0)
      let after = try house.endure("holder", seconds: 2, source: "127.4.0.1", arguments: ["--token", token])
      check(after)
      #expect(after.report.answers["404"] == nil && after.report.answers["401"] != nil, "\(after.report)")
    }

    /// More offers than there are places in the room, of one who is paired.
    @Test func aGuestsOffersKeepNoParentOut() throws {
      let house = try AttackedHouse()
      let key = try house.house.inviteGuest().appending(path: "identity.pem").path
      let outcome = try house.endure(
        "guest", script: "rendezvous_attacker.py", seconds: 10, source: "127.5.0.1", sources: 10,
        enough: "offered:65", arguments: ["--key", key])
      check(outcome)
      #expect(outcome.report.attempted > 64, "\(outcome.report)")
    }

    @Test func whoFillsTheRoomKeepsNoParentOut() throws {
      let outcome = try AttackedHouse().endure("places", seconds: 6)
      check(outcome)
      #expect(outcome.report.answers.values.reduce(0, +) > 0, "\(outcome.report)")
    }

    @Test func webSocketFloodsAreClosedWithTheirCode() throws {
      let outcome = try AttackedHouse().endure("frames", count: 8)
      check(outcome)
      let codes = [
        "pings": "1008", "messages": "1008", "sends-to-others": "1008", "unending": "1009", "oversized": "1009",
        "binary": "1003", "nonsense": "1008", "broken-text": "1007",
      ]
      #expect(outcome.report.byForm == codes.mapValues { [$0] })
    }

    @Test func floodsOfDatagramsAreDroppedUnanswered() throws {
      // As many as an unoptimised build on a busy machine can look at.
      let outcome = try AttackedHouse().endure("udp", count: 20_000)
      check(outcome)
      #expect(outcome.report.attempted > 1000 && outcome.report.received == 0, "\(outcome.report)")
    }
  }
}
