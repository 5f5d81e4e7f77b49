import Testing
import Wire

@testable import Signaling

@Suite struct WHEPClientPatchTests {
  private func candidates(_ request: WHEPClientRequest?) throws -> [String] {
    try TrickleFragment(parsing: try #require(request).text).candidates
  }

  @Test func candidatesGoOneRequestAtATimeWithAllThatWait() throws {
    var player = try WHEPPlayer.started()
    player.candidate(1)
    player.candidate(2)
    #expect(player.requests.count == 1, "nowhere to send them yet")
    player.answer(201, WHEPPlayer.accepted)
    let first = try #require(player.last)
    #expect(first.method == .patch && first.url.path == "/whep/one" && first.headers["If-Match"] == "\"a\"")
    #expect(first.headers["Content-Type"] == WHEPPlayer.fragmentType && first.headers["Authorization"] != nil)
    #expect(try candidates(first).count == 2)
    player.candidate(3)
    player.candidate(3)
    player.candidate(1)
    player.perform { $0.endOfLocalCandidates(now: $1) }
    player.candidate(4)
    #expect(player.requests.count == 2)
    player.answer(204)
    let second = try #require(player.last)
    #expect(try candidates(second) == ["candidate:3 1 udp 1 192.0.2.9 3 typ host"])
    #expect(try TrickleFragment(parsing: second.text).isComplete)
    player.answer(204, ["ETag": "\"ignored\""])
    player.perform { $0.endOfLocalCandidates(now: $1) }
    #expect(player.requests.count == 3 && player.events.count == 1)
  }

  @Test func aFragmentNamesTheICESessionOfTheOffer() throws {
    var player = try WHEPPlayer.opened()
    player.candidate(1)
    let fragment = try TrickleFragment(parsing: try #require(player.last).text)
    let known = try TrickleFragment(parsing: WHEPHarness.knownCredentials)
    #expect(fragment.ufrag == known.ufrag && fragment.pwd == known.pwd)
    #expect(fragment.sections.count == 1 && fragment.sections[0].mid == fragment.bundle.first)
  }

  @Test func aServerWithoutATagGetsNone() throws {
    var player = try WHEPPlayer.started()
    player.answer(201, ["Location": "/whep/one"])
    player.candidate(1)
    #expect(player.last?.method == .patch && player.last?.headers["If-Match"] == nil)
  }

  @Test(arguments: [400, 401, 403, 404, 405, 409, 412, 415, 422, 428, 500, 501])
  func aServerThatCannotTrickleIsLeftInPeace(status: Int) throws {
    var player = try WHEPPlayer.opened()
    player.candidate(1)
    player.answer(status)
    player.candidate(2)
    player.perform { $0.endOfLocalCandidates(now: $1) }
    #expect(player.requests.count == 2 && player.events.count == 1 && player.client.isOpen)
    player.perform { $0.leave(now: $1) }
    #expect(player.last?.method == .delete)
  }

  @Test func aServerThatSaysItTakesOtherPatchesGetsNoCandidates() throws {
    var player = try WHEPPlayer.started()
    var headers = WHEPPlayer.accepted
    headers.add("Accept-Patch", "application/json")
    player.answer(201, headers)
    player.candidate(1)
    #expect(player.requests.count == 1)
  }

  @Test func lostCandidatesAreRepeatedALittle() throws {
    var player = try WHEPPlayer.opened()
    player.candidate(1)
    player.lose()
    player.candidate(2)
    #expect(player.requests.count == 2)
    #expect(player.wait() != nil)
    #expect(try candidates(player.last).count == 1)
    player.answer(429, ["Retry-After": "3"])
    #expect(player.wait() == .seconds(3))
    player.answer(204)
    #expect(try candidates(player.last) == ["candidate:2 1 udp 1 192.0.2.9 2 typ host"])
    for _ in 0..<10 {
      player.lose()
      _ = player.wait()
    }
    #expect(player.requests.count == 9 && player.client.isOpen && player.events.count == 1)
  }

  @Test func theServersLateCandidatesAreHandedOn() throws {
    var player = try WHEPPlayer.opened()
    player.candidate(1)
    player.answer(200, ["Content-Type": WHEPPlayer.fragmentType], WHEPPlayer.restartBody)
    #expect(player.events.last == .addCandidates(["candidate:7 1 udp 1 192.0.2.1 9 typ host"], isComplete: true))
    player.candidate(2)
    player.answer(200, ["Content-Type": WHEPPlayer.fragmentType], "nonsense")
    #expect(player.events.count == 2 && player.client.isOpen)
  }

  @Test func aPatchMayBeRedirected() throws {
    var player = try WHEPPlayer.opened()
    player.candidate(1)
    player.answer(307, ["Location": "/for-now"])
    #expect(player.last?.url.path == "/for-now" && player.last?.headers["If-Match"] == "\"a\"")
    player.answer(204)
    player.candidate(2)
    #expect(player.last?.url.path == "/whep/one")
    player.answer(308, ["Location": "/for-good"])
    player.answer(204)
    player.perform { $0.leave(now: $1) }
    #expect(player.last?.url.path == "/for-good")
  }

  @Test func numbersOfCandidatesAreBounded() throws {
    var player = try WHEPPlayer.started()
    for number in 0..<1000 { player.candidate(number) }
    player.answer(201, WHEPPlayer.accepted)
    #expect(try candidates(player.last).count <= 128)
    player.answer(204)
    #expect(player.requests.count == 2)
  }
}

@Suite struct WHEPClientRestartTests {
  private let ours = "candidate:1 1 udp 1 192.0.2.9 1 typ host"

  @Test func aRestartChangesCredentialsAndTag() throws {
    var player = try WHEPPlayer.opened()
    player.restart()
    let patch = try #require(player.last)
    #expect(patch.method == .patch && patch.headers["If-Match"] == "*")
    let fragment = try TrickleFragment(parsing: patch.text)
    #expect(fragment.ufrag == "Neww" && fragment.pwd == "newnewnewnewnewnewnewnew" && fragment.isComplete)
    #expect(fragment.candidates == [ours] && fragment.sections[0].mid == "0")
    player.answer(200, ["Content-Type": WHEPPlayer.fragmentType, "ETag": "\"b\""], WHEPPlayer.restartBody)
    let remote = WHEPRemoteICE(
      ufrag: "Thrs", pwd: "theirstheirstheirstheirs", candidates: ["candidate:7 1 udp 1 192.0.2.1 9 typ host"],
      isComplete: true)
    #expect(player.events.last == .restarted(remote) && player.requests.count == 2)

    player.perform {
      $0.restartICE(ufrag: "Nww2", pwd: "newnewnewnewnewnewnewnew", candidates: [], isComplete: false, now: $1)
    }
    player.candidate(9)
    #expect(player.requests.count == 3, "new candidates wait for the new tag")
    player.answer(200, ["Content-Type": WHEPPlayer.fragmentType, "ETag": "\"c\""], WHEPPlayer.restartBody)
    #expect(player.last?.headers["If-Match"] == "\"c\"")
    let trickled = try TrickleFragment(parsing: try #require(player.last).text)
    #expect(trickled.ufrag == "Nww2" && trickled.candidates.count == 1)
  }

  @Test func aRestartWaitsForThePatchUnderWayAndDropsWhatWaits() throws {
    var player = try WHEPPlayer.opened()
    player.candidate(1)
    player.candidate(2)
    player.restart()
    #expect(player.requests.count == 2)
    player.answer(204)
    let fragment = try TrickleFragment(parsing: try #require(player.last).text)
    #expect(fragment.ufrag == "Neww" && fragment.candidates == [ours] && player.requests.count == 3)
  }

  @Test func aRestartPushesPastAPatchThatWaitsOrFails() throws {
    var player = try WHEPPlayer.opened()
    player.candidate(1)
    player.lose()
    player.restart()
    #expect(player.last?.headers["If-Match"] == "*" && player.client.nextDeadline == nil)
    player = try WHEPPlayer.opened()
    player.candidate(1)
    player.restart()
    player.answer(412)
    #expect(player.last?.headers["If-Match"] == "*")
    player.answer(200, ["Content-Type": WHEPPlayer.fragmentType, "ETag": "\"b\""], WHEPPlayer.restartBody)
    player.perform {
      $0.restartICE(ufrag: "Nww2", pwd: "newnewnewnewnewnewnewnew", candidates: [], isComplete: false, now: $1)
    }
    #expect(player.requests.count == 4)
  }

  @Test func ofOverlappingRestartsTheLastCounts() throws {
    var player = try WHEPPlayer.opened()
    for name in ["Aaaa", "Bbbb", "Cccc"] { player.restart(name) }
    #expect(player.requests.count == 2)
    player.answer(200, ["Content-Type": WHEPPlayer.fragmentType, "ETag": "\"b\""], WHEPPlayer.restartBody)
    #expect(player.events.count == 1 && player.requests.count == 3)
    #expect(try TrickleFragment(parsing: try #require(player.last).text).ufrag == "Cccc")
    player.answer(200, ["Content-Type": WHEPPlayer.fragmentType, "ETag": "\"c\""], WHEPPlayer.restartBody)
    #expect(player.events.count == 2)
  }

  @Test(arguments: [204, 301, 400, 401, 404, 405, 412, 422, 428, 500, 501])
  func aRestartThatIsRefusedLeavesTheSession(status: Int) throws {
    var player = try WHEPPlayer.opened()
    player.restart()
    player.answer(status)
    guard case .restartFailed = player.events.last else { throw Problem(500, "restarted by \(status)") }
    player.candidate(5)
    #expect(player.requests.count == 2, "new credentials would be taken for one more restart")
    #expect(player.client.isOpen)
    player.restart("Agin")
    #expect(player.requests.count == 3)
  }

  @Test func answersToARestartThatAreNoneAreNamed() throws {
    let cases = [
      ("text/plain", WHEPPlayer.restartBody), (WHEPPlayer.fragmentType, ""),
      (WHEPPlayer.fragmentType, "a=ice-ufrag:Thrs\r\n"), (WHEPPlayer.fragmentType, "a=end-of-candidates\r\n"),
      (WHEPPlayer.fragmentType, String(repeating: "a=x\r\n", count: 20_000)),
    ]
    for (type, body) in cases {
      var player = try WHEPPlayer.opened()
      player.restart()
      player.answer(200, ["Content-Type": type], body)
      guard case .restartFailed(.malformedAnswer) = player.events.last else { throw Problem(500, "taken: \(type)") }
    }
  }

  @Test func aRestartIsRepeatedWhileTheNetworkChanges() throws {
    var player = try WHEPPlayer.opened()
    player.restart()
    for _ in 0..<4 {
      player.lose()
      #expect(player.wait() != nil && player.last?.headers["If-Match"] == "*")
    }
    player.lose()
    #expect(player.events.last == .restartFailed(.unreachable("the cable is out")) && player.client.isOpen)
  }

  @Test func thereIsNothingToRestartBeforeTheAnswer() throws {
    var player = try WHEPPlayer.started()
    player.restart()
    #expect(player.events == [.restartFailed(.notOpen)] && player.requests.count == 1)
  }
}
