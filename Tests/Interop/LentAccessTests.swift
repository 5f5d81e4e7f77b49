import Foundation
import Testing

extension RealPeers {
  /// What a child lends for the way in from elsewhere lasts no longer than the access of whom it lends it to: a babysitter for an
  /// hour keeps no relay for a month, and no account.
  @Suite struct LentAccessTests {
    private static let configuration =
      Household.configuration + """

        ice-servers:
          - {urls: ["turn:192.0.2.1"], secret: "between the two"}
          - {urls: ["turn:192.0.2.2", "turns:192.0.2.3"], username: family, credential: for-ever}
        away:
          meetings:
            - {rendezvous: "wss://meet.example.org"}
            - {mqtt: "mqtt://127.0.0.1:1", username: child, password: broker-password}
            - {xmpp: "child@127.0.0.1", password: account-password, host: 127.0.0.1, port: 1}
        """

    private struct Known: Decodable {
      struct Child: Decodable { var iceServers: [Server], meetings: [Meeting] }
      struct Server: Decodable { var urls: [String], username: String?, credential: String? }
      struct Meeting: Decodable { var kind: String, password: String? }
      var children: [Child]
    }

    private struct Invited: Decodable {
      struct Invite: Decodable { var link: String }
      var invite: Invite
    }

    /// `away.json` of a parent that has paired.
    private func known(_ state: URL) throws -> (Known.Child, text: String) {
      let data = try Data(contentsOf: state.appending(path: "away.json"))
      let text = String(decoding: data, as: UTF8.self)
      return (try #require(JSONDecoder().decode(Known.self, from: data).children.first), text)
    }

    private func secondsLeft(_ username: String?) throws -> Double {
      let end = try #require(username.flatMap { Double($0.prefix { $0 != ":" }) })
      return end - Date().timeIntervalSince1970
    }

    @Test func aGuestForAnHourGetsNothingThatLastsLonger() throws {
      let house = try Household(configuration: Self.configuration)
      try house.pair()
      let (family, _) = try known(house.state)
      #expect(try secondsLeft(family.iceServers.first?.username) > 29 * 86_400)
      #expect(family.iceServers.last?.credential == "for-ever")
      #expect(family.meetings.map(\.kind) == ["rendezvous", "mqtt", "xmpp"])

      let invited = try house.parent("invite", "--name", "Anna", "--for", "1h", "--allow", "view,listen", "--json")
      try #require(invited.status == 0, Comment(rawValue: invited.error))
      let link = try JSONDecoder().decode(Invited.self, from: Data(invited.output.utf8)).invite.link
      let guest = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: guest) }
      let paired = try house.parent("pair", "--link", link, state: guest)
      try #require(paired.status == 0, Comment(rawValue: paired.error))
      let (told, text) = try known(guest)
      let left = try secondsLeft(told.iceServers.first?.username)
      #expect(left > 3000 && left <= 3601, "\(left)")
      #expect(told.meetings.map(\.kind) == ["rendezvous"])
      #expect(told.iceServers.last?.urls == ["stun:192.0.2.2:3478"] && told.iceServers.last?.credential == nil)
      for secret in ["for-ever", "broker-password", "account-password"] { #expect(!text.contains(secret)) }
    }

    /// WHEP names the servers in `Link` fields.
    @Test(arguments: [("1h", 3600.0), (nil, 30 * 86_400.0)])
    func aTokensCredentialsEndWithIt(duration: String?, most: Double) throws {
      struct Made: Decodable { var token: String }
      let house = try Household(configuration: Self.configuration)
      let made = try house.child.command(
        ["token", "add", "--name", "tv", "--json"] + (duration.map { ["--for", $0] } ?? []))
      let token = try JSONDecoder().decode(Made.self, from: Data(made.output.utf8)).token
      let offer = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/offer-aiortc.sdp")
      let answer = try ChildProcess.run(
        "curl",
        [
          "-sk", "--max-time", "20", "-D", "-", "-o", "/dev/null", "-H", "Content-Type: application/sdp", "-H",
          "Authorization: Bearer \(token)", "--data-binary", "@\(offer.path)", "https://\(house.address)/whep",
        ]
      ).output
      let username = answer.firstMatch(of: /turn:192\.0\.2\.1.*username="([^"]*)"/).map { String($0.1) }
      try #require(username != nil, Comment(rawValue: answer))
      let left = try secondsLeft(username)
      #expect(left > most * 0.8 && left <= most + 1, "\(left)")
      #expect(answer.contains("for-ever") == (duration == nil))
    }
  }
}
