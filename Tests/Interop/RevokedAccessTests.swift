import Foundation
import Testing

/// Whoever loses the right to come in does not find another way: real programs.
extension RealPeers {
  @Suite struct RevokedAccessTests {
    private struct Invited: Decodable {
      struct Invite: Decodable { var link: String }
      var invite: Invite
    }

    private struct Invites: Decodable {
      struct Row: Decodable { var id: String, allow: [String], issuer: String?, issuerName: String? }
      var invites: [Row]
    }

    private struct Added: Decodable { var token: String, expiresAt: String? }
    private struct Row: Decodable { var name: String, isExpired: Bool }
    private struct Status: Decodable {
      struct Viewer: Decodable { var name: String, state: String }
      var viewers: [Viewer]
    }

    private func invites(_ house: Household) throws -> [Invites.Row] {
      let said = try house.child.command(["invites", "--json"])
      try #require(said.status == 0, Comment(rawValue: said.error))
      return try JSONDecoder().decode(Invites.self, from: Data(said.output.utf8)).invites
    }

    private func invite(_ house: Household) throws -> String {
      let said = try house.parent("invite", "--name", "Second phone", "--for", "1h", "--json")
      try #require(said.status == 0, Comment(rawValue: said.error))
      let link = try JSONDecoder().decode(Invited.self, from: Data(said.output.utf8)).invite.link
      return link.replacing(/\/\/[^\/]*/, with: "//\(house.address)")
    }

    @Test func aStolenPhoneCannotInviteItselfBackIn() throws {
      let house = try Household()
      try house.pair()
      let phone = try #require(try house.pairs().first)
      #expect(phone.permissions.contains("admin"))
      let links = [try invite(house), try invite(house)]
      let rows = try invites(house)
      #expect(rows.map(\.issuer) == [phone.id, phone.id] && rows.allSatisfy { $0.allow == ["view", "listen"] })
      // An invitation that was used before is a pair of its own.
      let second = house.child.folder.appending(path: "second")
      #expect(try house.parent("pair", "--link", links[0], state: second).status == 0)
      #expect(try house.child.command(["unpair", phone.id]).status == 0)
      #expect(try invites(house).isEmpty)
      let third = house.child.folder.appending(path: "third")
      let refused = try house.parent("pair", "--link", links[1], state: third)
      #expect(refused.status == 1, Comment(rawValue: refused.error))
      #expect(try house.pairs().map(\.name) == ["Second phone"])
    }

    @Test func invitationsAndTheWindowAreListedAndEnded() throws {
      let house = try Household()
      try house.pair()
      let link = try invite(house)
      _ = try house.open()
      let rows = try invites(house)
      #expect(rows.count == 2 && rows[0].id == "window" && rows[0].issuer == nil)
      #expect(rows[0].allow == ["view", "listen", "talk", "control"])
      let unknown = try house.child.command(["invites", "revoke", "00000000"])
      #expect(unknown.status == 1 && unknown.error.contains("cradle-child invites"), Comment(rawValue: unknown.error))
      #expect(try house.child.command(["invites", "revoke", rows[1].id]).status == 0)
      #expect(try invites(house).map(\.id) == ["window"])
      #expect(try house.child.command(["unpair", "--all"]).status == 0)
      #expect(try invites(house).isEmpty)
      #expect(try house.parent("pair", "--link", link, state: house.child.folder.appending(path: "x")).status == 1)
      // Nobody is paired, so that the next one is the first.
      try house.pair()
      #expect(try house.pairs().first?.permissions.contains("admin") == true)
    }

    @Test func aSessionEndsWithItsToken() throws {
      let child = try ChildProcess()
      let said = try child.command(["token", "add", "--name", "short", "--for", "15s", "--json"])
      let added = try JSONDecoder().decode(Added.self, from: Data(said.output.utf8))
      #expect(added.expiresAt != nil)
      let began = ContinuousClock.now
      let parent = try ParentProcess(
        "https://127.0.0.1:\(child.port)/whep", token: added.token, arguments: ["--duration", "60"])
      func viewers() throws -> [Status.Viewer] {
        let said = try child.command(["status", "--json"])
        let status = try JSONDecoder().decode(Status.self, from: Data(said.output.utf8))
        return status.viewers
      }
      func wait(for condition: ([Status.Viewer]) -> Bool) throws -> Bool {
        while ContinuousClock.now - began < .seconds(60) {
          if condition(try viewers()) { return true }
          usleep(100_000)
        }
        return false
      }
      #expect(try wait { $0.contains { $0.name == "short" && $0.state == "connected" } }, Comment(rawValue: parent.log))
      #expect(try wait { $0.isEmpty }, Comment(rawValue: child.logText))
      #expect(ContinuousClock.now - began > .seconds(12))
      let rows = try JSONDecoder().decode(
        [Row].self, from: Data(child.command(["token", "list", "--json"]).output.utf8))
      #expect(rows.first { $0.name == "short" }?.isExpired == true)
      // It stays out: its player keeps trying.
      usleep(3_000_000)
      #expect(try viewers().isEmpty)
    }
  }
}
