import Foundation
import Testing

extension RealPeers {
  /// Both ends behind routers of many kinds, in an Internet of network namespaces with coturn: Tests/Away. `make test-away`
  /// tries every pair.
  @Suite(.enabled(if: getuid() == 0, "network namespaces need root")) struct AwayTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()

    @Test func theParentMeetsTheChildAndARelayIsUsedOnlyWhereItIsNeeded() throws {
      let rows = [
        "none+port-restricted", "full-cone+symmetric", "port-restricted+port-restricted", "cgnat+cgnat",
        "port-restricted+symmetric", "symmetric+symmetric", "port-restricted+port-restricted+tcp-443",
        "port-restricted+port-restricted+relay", "symmetric+symmetric+direct",
      ]
      let (output, log, status) = try run("matrix.py", ["--rendezvous", Self.rendezvous] + rows)
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
      #expect(output.contains("\(rows.count) of \(rows.count) as expected"), Comment(rawValue: output))
    }

    @Test func anEndWithIPv6AloneIsReachedAndReaches() throws {
      let rows = ["ipv6-only+dual-stack", "dual-stack+ipv6-only", "ipv6-only+none", "ipv6-only+symmetric"]
      let (output, log, status) = try run("matrix.py", ["--rendezvous", Self.rendezvous, "--ipv6"] + rows)
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
      #expect(output.contains("\(rows.count) of \(rows.count) as expected"), Comment(rawValue: output))
    }

    /// WHEP, with aiortc.
    @Test func aGuestWithATokenFindsAPath() throws {
      let python = Self.root.appending(path: ".build/venv/bin/python").path
      let (output, log, status) = try ChildProcess.run(
        python, [Self.root.appending(path: "Tests/Away/guest.py").path, "--child", ChildProcess.program.path])
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
    }

    @Test func theParentFindsAPathToAForwardedPort() throws {
      let rows = ["port-restricted+port-restricted", "symmetric+symmetric"]
      let (output, log, status) = try run("matrix.py", rows)
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
      #expect(output.contains("\(rows.count) of \(rows.count) as expected"), Comment(rawValue: output))
    }

    @Test func aMeetingPlaceEndsNoSessionAndSaysWhoIsThere() throws {
      try meet([
        "killed-rendezvous", "parent-moves", "child-moves", "stopped-rendezvous", "child-without-power",
        "relay-data-used",
      ])
    }

    /// mosquitto and prosody, with the configurations that we ship.
    @Test func aBrokerOrAnAccountDoesAsWell() throws {
      try meet(["killed-mqtt", "stopped-mqtt", "offered-mqtt", "killed-xmpp"])
    }

    private func meet(_ rows: [String]) throws {
      let (output, log, status) = try run("meeting.py", ["--rendezvous", Self.rendezvous] + rows)
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
      #expect(output.contains("\(rows.count) of \(rows.count) as expected"), Comment(rawValue: output))
    }

    @Test func aSessionGoesOnWhenTheChildsRouterBeginsAnewWithAnotherAddress() throws {
      let (output, log, status) = try run("moves.py", ["--rendezvous", Self.rendezvous, "child-public-address"])
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
    }

    @Test func atHomeNoServerIsAsked() throws {
      let (output, log, status) = try run("home.py", ["--rendezvous", Self.rendezvous])
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
    }

    @Test func whatPassedABrokerIsOfNoUseToAnybody() throws {
      let (output, log, status) = try run("broker_dump.py", [])
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
    }

    /// HAProxy, coturn and the meeting place behind one address, with the configurations that we ship.
    @Test func meetingPlaceAndRelayShareOnePort443() throws {
      let (output, log, status) = try run("one_port.py", ["--rendezvous", Self.rendezvous])
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
    }

    @Test func nothingIsLostWhenTheRelaysCredentialsEnd() throws {
      let (output, log, status) = try run("renewal.py", ["--seconds", "27", "--lifetime", "14"])
      #expect(status == 0, Comment(rawValue: output + log.suffix(3000)))
    }

    private static var rendezvous: String {
      ChildProcess.program.deletingLastPathComponent().appending(path: "cradle-rendezvous").path
    }

    private func run(_ script: String, _ arguments: [String]) throws -> (String, String, Int32) {
      let programs = ChildProcess.program.deletingLastPathComponent()
      return try ChildProcess.run(
        "python3",
        [
          Self.root.appending(path: "Tests/Away/\(script)").path, "--child", ChildProcess.program.path, "--parent",
          programs.appending(path: "cradle-parent").path,
        ] + arguments)
    }
  }
}
