import SDP
import Testing
import Wire

@testable import Signaling

@Suite struct WHEPClientTests {
  @Test func anOfferOpensASession() throws {
    var player = try WHEPPlayer.started()
    let post = try #require(player.last)
    #expect(post.method == .post && post.url.description == "https://child.example:8443/whep?camera=cot")
    #expect(post.headers["content-type"] == "application/sdp" && post.headers["Authorization"] == "Bearer secret")
    #expect(try SessionDescription(parsing: post.text) == SessionDescription(parsing: WHEPHarness.offer))
    var headers = WHEPPlayer.accepted
    headers.add("Link", "<stun:stun.example>; rel=\"ice-server\"")
    player.answer(201, headers)
    let answer = try SessionDescription(parsing: WHEPPlayer.answerText())
    #expect(player.events == [.answered(answer, iceServers: [ICEServerDocument(urls: ["stun:stun.example"])])])
    #expect(player.client.isOpen && player.requests.count == 1 && player.client.nextDeadline == nil)

    player.perform { $0.leave(now: $1) }
    let end = try #require(player.last)
    #expect(end.method == .delete && end.url.description == "https://child.example:8443/whep/one")
    #expect(end.headers["Authorization"] == "Bearer secret" && end.body.isEmpty && !player.isClosed)
    player.answer(200)
    #expect(player.isClosed && player.client.hasEnded)
  }

  @Test func aViewerAndAnEndpointOfOursUnderstandEachOther() throws {
    var shell = WHEPHarness()
    var player = try WHEPPlayer.started()
    func deliver() throws {
      let request = try #require(player.last)
      let response = shell.send(request.method.rawValue, request.url.path, request.headers, body: request.body)
      player.perform { $0.receive(response, for: request.id, now: $1) }
    }
    try deliver()
    #expect(player.client.isOpen)
    player.candidate(1)
    try deliver()
    guard case .addCandidates(_, let fragment, _) = shell.effects.last else { throw Problem(500, "no candidates") }
    #expect(fragment.candidates == ["candidate:1 1 udp 1 192.0.2.9 1 typ host"])
    player.restart()
    try deliver()
    guard case .restart(_, let ufrag, _, _) = shell.effects.last else { throw Problem(500, "no restart") }
    #expect(ufrag == "Neww")
    guard case .restarted(let ice) = player.events.last else { throw Problem(500, "not restarted") }
    #expect(ice.ufrag == "Ours" && ice.candidates.count == 1 && ice.isComplete)
    player.perform { $0.leave(now: $1) }
    try deliver()
    #expect(player.isClosed && shell.endpoint.sessionCount == 0)
  }

  @Test(arguments: [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 500, 501])
  func aRefusalEndsItWithTheServersWords(status: Int) throws {
    var player = try WHEPPlayer.started()
    let problem = Problem(status, "no, \"because\"")
    player.answer(status, WHEPResponse(problem).headers, String(decoding: problem.body, as: UTF8.self))
    #expect(player.refusal == WHEPRefusal(status: status, title: problem.title, detail: "no, \"because\""))
    #expect(player.failure?.description == "the server refuses: \(status) \(problem.title): no, \"because\"")
    #expect(player.client.hasEnded && player.requests.count == 1 && player.client.nextDeadline == nil)
  }

  @Test func otherServersWordsAreFound() throws {
    let cases: [(String, String, String)] = [
      ("application/json", #"{"code": [1, {"a": "}"}], "error": "no\u0020\ud83d\ude00"}"#, "no 😀"),
      ("application/json; charset=utf-8", #"{"message":"gone","x":true}"#, "gone"),
      ("application/problem+json", #"{"detail": 7, "title": "Sorry"}"#, ""),
      ("application/problem+json", "not JSON", ""),
      ("text/plain", "stream not found\r\n\u{1b}[2J", "stream not found [2J"),
      ("text/html", "<html>", ""), ("", "", ""),
    ]
    for (type, body, detail) in cases {
      var player = try WHEPPlayer.started()
      player.answer(404, ["Content-Type": type], body)
      #expect(player.refusal?.detail == detail)
      #expect(player.refusal?.title == (body.contains("Sorry") ? "Sorry" : "Not Found"))
    }
    var player = try WHEPPlayer.started()
    player.answer(404, ["Content-Type": "text/plain"], String(repeating: "x", count: 10_000))
    #expect(player.refusal?.detail.count == 300)
  }

  @Test(arguments: [429, 503])
  func aBusyServerIsAskedAgainWhenItSays(status: Int) throws {
    var player = try WHEPPlayer.started()
    player.answer(status, ["Retry-After": "7"])
    guard case .waiting(let refusal, let time) = player.events.last else { throw Problem(500, "no waiting") }
    #expect(refusal.status == status && time == .seconds(7))
    #expect(player.wait() == .seconds(7) && player.requests.count == 2)
    #expect(player.requests[0].body == player.requests[1].body && player.requests[0].id != player.requests[1].id)
    player.answer(201, WHEPPlayer.accepted)
    #expect(player.client.isOpen)
  }

  @Test func waitsDoubleAndEnd() throws {
    var player = try WHEPPlayer.started()
    var waits: [Duration] = []
    for _ in 0..<10 {
      player.answer(503)
      guard let time = player.wait() else { break }
      waits.append(time)
    }
    #expect(waits.count == 4 && player.requests.count == 5 && player.refusal?.status == 503)
    for (index, time) in waits.enumerated() {
      let middle = Duration.milliseconds(500) * (1 << index)
      #expect(time >= middle * 3 / 4 && time <= middle * 5 / 4)
    }
  }

  @Test func nobodyWaitsForALongTime() throws {
    for text in ["31", "999999999"] {
      var player = try WHEPPlayer.started()
      player.answer(503, ["Retry-After": text])
      #expect(player.refusal?.retryAfter == .seconds(Int64(text) ?? 0) && player.client.nextDeadline == nil)
    }
    // Dates, signs and what does not fit count as nothing said.
    for text in ["Fri, 31 Dec 1999 23:59:59 GMT", "-1", "99999999999999999999", ""] {
      var player = try WHEPPlayer.started()
      player.answer(503, ["Retry-After": text])
      #expect(player.client.nextDeadline != nil && player.failure == nil)
    }
  }

  @Test func whatIsNotPublishedYetIsAskedForAgainIfTheServerSaysWhen() throws {
    var player = try WHEPPlayer.started()
    player.answer(409, ["Retry-After": "2"])
    #expect(player.wait() == .seconds(2) && player.requests.count == 2)
    player.answer(409)
    #expect(player.refusal?.status == 409)
  }

  @Test func noResponseIsTheOwnersToHandle() throws {
    var player = try WHEPPlayer.started()
    player.lose()
    #expect(player.failure == .unreachable("the cable is out") && player.client.hasEnded)
  }

  @Test func answersThatAreNoneAreNamed() throws {
    let good = try WHEPPlayer.answerText()
    let cases: [(Int, HTTPFields, String)] = [
      (200, WHEPPlayer.accepted, good), (204, [:], ""), (201, ["Content-Type": "application/sdp"], good),
      (201, ["Location": "http://child.example:8443/whep/1"], good), (201, ["Location": "ftp://x/1"], good),
      (201, ["Location": "/a b"], good), (201, ["Location": "https://a@child.example/1"], good),
    ]
    for (status, headers, body) in cases {
      var player = try WHEPPlayer.started()
      player.answer(status, headers, body)
      guard case .malformedAnswer? = player.failure else { throw Problem(500, "taken: \(status) \(headers)") }
      #expect(player.client.hasEnded && player.requests.count == 1)
    }
  }

  @Test func aSessionWithAnUnusableAnswerIsDeleted() throws {
    let bodies = ["", "hello", String(repeating: "x", count: 70_000)]
    for (type, body) in bodies.map({ ("application/sdp", $0) }) + [("text/html", try WHEPPlayer.answerText())] {
      var player = try WHEPPlayer.started()
      player.answer(201, ["Content-Type": type, "Location": "one"], body)
      guard case .malformedAnswer? = player.failure else { throw Problem(500, "taken: \(body.prefix(20))") }
      #expect(player.last?.method == .delete && player.last?.url.path == "/one")
      player.answer(200)
      #expect(player.client.hasEnded && !player.isClosed && player.events.count == 1)
    }
    var binary = try WHEPPlayer.started()
    let response = WHEPResponse(status: 201, headers: WHEPPlayer.accepted, body: [0x76, 0xff])
    let id = try #require(binary.last?.id)
    binary.perform { $0.receive(response, for: id, now: $1) }
    #expect(binary.failure == .malformedAnswer("not UTF-8"))
  }

  @Test func aCounterOfferIsRefusedAndItsSessionDeleted() throws {
    var player = try WHEPPlayer.started()
    player.answer(406, WHEPPlayer.accepted, try WHEPPlayer.answerText())
    #expect(player.failure == .counterOffer && player.last?.method == .delete)
    player = try WHEPPlayer.started()
    player.answer(406, ["Content-Type": "application/sdp"], "v=0")
    #expect(player.failure == .counterOffer && player.requests.count == 1)
  }
}

@Suite struct WHEPClientLeavingTests {
  @Test func leavingBeforeTheAnswerDeletesWhatComesOfIt() throws {
    var player = try WHEPPlayer.started()
    player.perform { $0.leave(now: $1) }
    #expect(player.events.isEmpty && player.requests.count == 1)
    player.answer(201, WHEPPlayer.accepted)
    #expect(player.last?.method == .delete && player.events.isEmpty, "the answer itself is of no use any more")
    player.answer(200)
    #expect(player.events == [.closed])
  }

  @Test func leavingBeforeARefusalIsJustLeaving() throws {
    for (status, headers) in [(403, [:]), (503, [:]), (307, ["Location": "/b"]), (201, [:])] as [(Int, HTTPFields)] {
      var player = try WHEPPlayer.started()
      player.perform { $0.leave(now: $1) }
      player.answer(status, headers)
      #expect(player.events == [.closed] && player.requests.count == 1 && player.client.hasEnded)
    }
    var player = try WHEPPlayer.started()
    player.perform { $0.leave(now: $1) }
    player.lose()
    #expect(player.events == [.closed])
  }

  @Test func leavingWhileWaitingOrUnstartedIsImmediate() throws {
    var player = try WHEPPlayer.started()
    player.answer(503)
    player.perform { $0.leave(now: $1) }
    #expect(player.isClosed && player.client.nextDeadline == nil && player.requests.count == 1)
    player = try WHEPPlayer()
    player.perform { $0.leave(now: $1) }
    player.perform { $0.leave(now: $1) }
    #expect(player.events == [.closed])
  }

  @Test func leavingDuringAPatchForgetsIt() throws {
    var player = try WHEPPlayer.opened()
    player.candidate(1)
    let patch = try #require(player.last?.id)
    player.perform { $0.leave(now: $1) }
    #expect(player.last?.method == .delete)
    let late = WHEPResponse(status: 204)
    player.perform { $0.receive(late, for: patch, now: $1) }
    player.candidate(2)
    player.restart()
    #expect(player.requests.count == 3 && player.events.last == .restartFailed(.notOpen))
    player.answer(404)
    #expect(player.isClosed)
    player.answer(200)
    #expect(player.events.filter { $0 == .closed }.count == 1)
  }

  @Test func aDeletionIsRepeatedALittle() throws {
    var player = try WHEPPlayer.opened()
    player.perform { $0.leave(now: $1) }
    player.lose()
    #expect(!player.isClosed && player.wait() != nil)
    player.answer(503)
    #expect(player.wait() != nil)
    player.lose()
    #expect(player.isClosed && player.requests.filter { $0.method == .delete }.count == 3)
    #expect(Set(player.requests.map(\.id)).count == 4)
  }

  @Test func aDeletionMayBeRedirected() throws {
    var player = try WHEPPlayer.opened()
    player.perform { $0.leave(now: $1) }
    player.answer(307, ["Location": "two"])
    #expect(player.last?.method == .delete && player.last?.url.path == "/whep/two")
    player.answer(302, ["Location": "three"])
    #expect(player.isClosed)
  }
}

@Suite struct WHEPClientRedirectTests {
  @Test(arguments: [307, 308])
  func theOfferGoesWhereTheServerSays(status: Int) throws {
    var player = try WHEPPlayer.started()
    player.answer(status, ["Location": "/other/whep?x=1"])
    let second = try #require(player.last)
    #expect(second.method == .post && second.url.description == "https://child.example:8443/other/whep?x=1")
    #expect(second.headers == player.requests[0].headers && second.body == player.requests[0].body)
    player.answer(201, ["Content-Type": "application/sdp", "Location": "one"])
    player.perform { $0.leave(now: $1) }
    #expect(player.last?.url.description == "https://child.example:8443/other/one")
  }

  @Test(arguments: ["https://else.example:8443/whep", "https://child.example/whep", "//child.example:8444/whep"])
  func theTokenStaysWithItsOrigin(location: String) throws {
    var player = try WHEPPlayer.started()
    player.answer(307, ["Location": location])
    #expect(player.last?.method == .post && player.last?.headers["Authorization"] == nil)
    player.answer(201, ["Content-Type": "application/sdp", "Location": "one"])
    player.candidate(1)
    #expect(player.last?.method == .patch && player.last?.headers["Authorization"] == nil)
    player.perform { $0.leave(now: $1) }
    #expect(player.last?.method == .delete && player.last?.headers["Authorization"] == nil)
  }

  @Test func aSessionElsewhereIsAskedWithoutTheToken() throws {
    var player = try WHEPPlayer.started()
    player.answer(
      201, ["Content-Type": "application/sdp", "Location": "https://CHILD.example:8443/a", "ETag": "\"a\""])
    player.candidate(1)
    #expect(player.last?.headers["Authorization"] == "Bearer secret")
    player = try WHEPPlayer.started()
    player.answer(201, ["Content-Type": "application/sdp", "Location": "https://else.example/a", "ETag": "\"a\""])
    player.candidate(1)
    #expect(player.last?.url.description == "https://else.example/a" && player.last?.headers["Authorization"] == nil)
  }

  @Test func redirectsThatLeadNowhereAreNamed() throws {
    let cases: [(Int, HTTPFields)] = [
      (307, [:]), (307, ["Location": "http://child.example:8443/whep"]), (308, ["Location": "mailto:a"]),
      (301, ["Location": "/b"]), (302, ["Location": "/b"]), (303, ["Location": "/b"]), (304, [:]),
    ]
    for (status, headers) in cases {
      var player = try WHEPPlayer.started()
      player.answer(status, headers)
      guard case .badRedirect? = player.failure else { throw Problem(500, "followed \(status) \(headers)") }
    }
  }

  @Test func aLoopOfRedirectsEnds() throws {
    var player = try WHEPPlayer.started()
    for _ in 0..<20 { player.answer(307, ["Location": "/whep"]) }
    #expect(player.requests.count == 6 && player.failure == .badRedirect("more than 5 times"))
  }

  @Test func plainHTTPMayLeadToHTTPS() throws {
    var player = try WHEPPlayer.started("http://child.example/whep")
    #expect(player.last?.headers["Authorization"] == "Bearer secret")
    player.answer(308, ["Location": "https://child.example/whep"])
    #expect(player.last?.url.origin.scheme == .https && player.last?.headers["Authorization"] == nil)
  }
}
