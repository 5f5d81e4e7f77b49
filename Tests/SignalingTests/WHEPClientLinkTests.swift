import Signaling
import Testing
import Wire

@Suite struct LinkedICEServersTests {
  private func servers(_ values: String...) throws -> [ICEServerDocument] {
    var player = try WHEPPlayer.started()
    var headers = WHEPPlayer.accepted
    for value in values { headers.add("Link", value) }
    player.answer(201, headers)
    guard case .answered(_, let servers) = player.events.first else { throw Problem(500, "no answer") }
    return servers
  }

  @Test func theDraftsExampleIsRead() throws {
    let found = try servers(
      #"<stun:stun.example.net>; rel="ice-server""#,
      #"<turn:turn.example.net?transport=udp>; rel="ice-server"; username="user"; credential="myPassword"; credential-type="password""#,
      #"<turns:a>;REL=ice-server;Username=u , <stun:b> ; credential="x\"y,z;" ; rel="next ICE-SERVER", <stun:c>; rel=next"#
    )
    #expect(
      found == [
        ICEServerDocument(urls: ["stun:stun.example.net"]),
        ICEServerDocument(urls: ["turn:turn.example.net?transport=udp"], username: "user", credential: "myPassword"),
        ICEServerDocument(urls: ["turns:a"], username: "u"),
        ICEServerDocument(urls: ["stun:b"], credential: "x\"y,z;"),
      ])
  }

  @Test func whatIsNoServerIsSkipped() throws {
    let found = try servers(
      #"<https://a>; rel="ice-server""#, "<stun:a>", "stun:a; rel=ice-server", "<stun:a", "<>;rel=ice-server", "",
      #"<turn:a>; rel="ice-server"; credential-type="oauth""#, #"<stun:a b>; rel=ice-server"#, "<stun:a>;=;;rel",
      #"<stun:ok>; rel="ice-server"#)
    #expect(found == [ICEServerDocument(urls: ["stun:ok"])])
  }

  @Test func serversAreBounded() throws {
    let many = Array(repeating: "<stun:a>;rel=ice-server", count: 500).joined(separator: ",")
    #expect(try servers(many, many).count == 16)
  }

  @Test func ourOwnServersSurviveTheWay() throws {
    let configured = [
      ICEServerDocument(urls: ["stun:stun.example.net"]),
      ICEServerDocument(urls: ["turn:turn.example.net?transport=udp"], username: "u\"1", credential: "p\\w"),
    ]
    var shell = WHEPHarness(WHEPConfiguration(iceServers: configured))
    let response = shell.post()
    var player = try WHEPPlayer.started()
    let id = try #require(player.last?.id)
    player.perform { $0.receive(response, for: id, now: $1) }
    guard case .answered(_, let servers) = player.events.first else { throw Problem(500, "no answer") }
    #expect(servers == configured)
  }
}
