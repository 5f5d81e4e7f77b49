import Foundation
import TestSupport
import Testing

/// A broker or an XMPP server with bytes that end its clients: neither the child nor a parent that watches ends.
extension RealPeers {
  @Suite struct LyingServerFlowTests {
    @Test(arguments: [Lie.unknownPropertyOfConnack, .featuresWithoutBind])
    func childAndParentGoOn(lie: Lie) throws {
      let server = try LyingServer(lie.steps)
      let place =
        lie.isXMPP
        ? "{xmpp: \"child@cradle.test\", password: secret, host: 127.0.0.1, port: \(server.port)}"
        : "{mqtt: \"mqtt://127.0.0.1:\(server.port)\", username: child, password: secret}"
      let house = try Household(configuration: Household.configuration + "\naway: {meetings: [\(place)]}\n")
      try house.pair()
      try wait(until: "the child has come twice") { server.connections >= 2 }
      #expect(try house.child.command(["status"]).status == 0)
      #expect(try house.child.command(["away"]).status != 2)

      let watching = try ParentProcess(paired: house.state)
      #expect(watching.wait { $0.framesDecoded > 0 } != nil, Comment(rawValue: watching.log))
      house.child.kill()
      let before = server.connections
      // Now it asks there, and goes on asking.
      try wait(until: "the parent has come twice") { server.connections >= before + 2 }
      let listed = try house.parent("children")
      #expect(listed.status == 0, Comment(rawValue: "\(listed)"))
      try house.child.restart()
      #expect(watching.wait { $0.reconnects > 0 && $0.framesPerSecond > 0 } != nil, Comment(rawValue: watching.log))
    }

    /// Four servers at once, each with a lie of its own: what child and parent take of memory, how often they come, what they say.
    @Test(arguments: [
      [XMPPLie.deepFeatures, .deepStanza, .entityBomb, .expensivePassword],
      [.questions, .everything, .conflict, .brokenSession],
    ])
    func aLyingXMPPServerCostsLittle(lies: [XMPPLie]) throws {
      let servers = try lies.map { try $0.server() }
      let places = servers.map { server in
        "{xmpp: \"child@cradle.test\", password: secret, host: 127.0.0.1, port: \(server.port)}"
      }
      let house = try Household(
        configuration: Household.configuration + "\naway: {meetings: [\(places.joined(separator: ", "))]}\n")
      try house.pair()
      let child = house.child.processIdentifier
      let before = try #require(Self.memory(of: child))
      var most = (child: before, link: 0)
      let end = Date().addingTimeInterval(5)
      while Date() < end {
        most.child = max(most.child, try #require(Self.memory(of: child)))
        for link in Self.children(of: child) { most.link = max(most.link, Self.memory(of: link) ?? 0) }
        usleep(20_000)
      }
      // After a second, two, four: not as fast as it goes.
      for (lie, server) in zip(lies, servers) { #expect((1...5).contains(server.connections), "\(lie)") }
      #expect(most.child - before < 20_000 && most.link < 25_000, "\(before) kB, then \(most) kB")
      let log = house.child.logText
      for (lie, server) in zip(lies, servers) {
        if let words = lie.words { #expect(log.contains(words), "\(lie): \(log)") }
        if lie.isPresent { #expect(server.connections == 1, "\(lie): \(log)") }
      }
      #expect(try house.child.command(["status"]).status == 0)
      // Others take its time.
      if !lies.contains(.entityBomb) {
        let listed = try house.parent("children")
        #expect(listed.status == 0, Comment(rawValue: "\(listed)"))
      }
      #expect(house.child.isRunning && house.child.stop() == 0)
    }

    /// kB of its own; nil: it has ended.
    private static func memory(of process: pid_t) -> Int? {
      let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      return status?.firstMatch(of: /RssAnon:\s*(\d+)/).flatMap { Int($0.output.1) }
    }

    /// As when the power fails, but for the power.
    @Test func aConnectionProcessEndsWithTheChild() throws {
      let server = try LyingServer([])
      let place = "{mqtt: \"mqtt://127.0.0.1:\(server.port)\"}"
      let child = try ChildProcess(configuration: ChildProcess.testConfiguration + "\naway: {meetings: [\(place)]}\n")
      var processes: [pid_t] = []
      try wait(until: "there is a process") {
        processes = Self.children(of: child.processIdentifier)
        return !processes.isEmpty
      }
      child.kill()
      try wait(until: "it has ended") {
        processes.allSatisfy { !FileManager.default.fileExists(atPath: "/proc/\($0)") }
      }
    }

    private static func children(of process: pid_t) -> [pid_t] {
      let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
      return all.filter { candidate in
        let status = try? String(contentsOfFile: "/proc/\(candidate)/status", encoding: .utf8)
        return status?.contains("\nPPid:\t\(process)\n") ?? false
      }
    }

    private struct Late: Error {
      var what: String
    }

    private func wait(until what: String, _ isMet: () -> Bool) throws {
      for _ in 0..<600 {
        if isMet() { return }
        usleep(50_000)
      }
      throw Late(what: what)
    }
  }
}
