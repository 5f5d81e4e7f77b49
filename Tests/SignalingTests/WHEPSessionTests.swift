import Signaling
import Testing

@Suite struct WHEPSessionTests {
  private let candidate = "a=candidate:1 1 udp 2122260223 192.0.2.9 61764 typ host\r\n"
  private let media = "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"
  private let renewed = "a=ice-ufrag:Neww\r\na=ice-pwd:newnewnewnewnewnewnewnew\r\n"

  private func open(_ shell: inout WHEPHarness) throws -> (path: String, tag: String) {
    let response = shell.post()
    return ("/" + (try #require(response.headers["Location"])), try #require(response.headers["ETag"]))
  }

  @Test func candidatesAreAdded() throws {
    var shell = WHEPHarness()
    let (path, tag) = try open(&shell)
    let body = WHEPHarness.knownCredentials + media + candidate + "a=end-of-candidates\r\n"
    let response = shell.patch(path, body, tag: tag)
    #expect(response.status == 204 && response.body.isEmpty && response.headers["ETag"] == nil)
    guard case .addCandidates(let id, let fragment, _) = shell.effects.last else { throw Problem(500, "no candidates") }
    #expect(path.hasSuffix(id.description) && fragment.isComplete)
    #expect(fragment.candidates == ["candidate:1 1 udp 2122260223 192.0.2.9 61764 typ host"])
    #expect(fragment.sections[0].mid == "0")
    #expect(shell.patch(path, candidate, tag: "\"other\", \(tag)").status == 204, "a list that has it, no credentials")
    #expect(shell.patch(path, candidate, tag: "*").status == 204, "players send the star here, too")
  }

  @Test func preconditionsFollowTheDraft() throws {
    var shell = WHEPHarness()
    let (path, tag) = try open(&shell)
    #expect(shell.patch(path, candidate, tag: nil).status == 428)
    #expect(shell.patch(path, candidate, tag: "\"other\"").status == 412)
    #expect(shell.patch(path, candidate, tag: "W/" + tag).status == 412)
    #expect(shell.patch(path, candidate, tag: "").status == 412)
    #expect(shell.patch(path, renewed + media, tag: "\"other\"").status == 412)
    #expect(shell.effects.count == 6 && shell.endpoint.sessionCount == 1)
  }

  @Test func presentCredentialsStandForTheTag() throws {
    var shell = WHEPHarness()
    let (path, tag) = try open(&shell)
    #expect(shell.patch(path, WHEPHarness.knownCredentials + media + candidate, tag: nil).status == 204)
    #expect(shell.patch(path, WHEPHarness.knownCredentials + candidate, tag: "\"other\"").status == 412)
    #expect(shell.patch(path, renewed + media, tag: nil).status == 428, "a restart needs a tag")
    #expect(shell.patch(path, renewed + media, tag: tag).status == 200)
    #expect(
      shell.patch(path, WHEPHarness.knownCredentials + candidate, tag: nil).status == 428, "those before the restart")
    #expect(shell.patch(path, renewed + candidate, tag: nil).status == 204)
  }

  @Test func newCredentialsRestartICEAndChangeTheTag() throws {
    var shell = WHEPHarness()
    let (path, tag) = try open(&shell)
    let response = shell.patch(path, renewed + media + candidate, tag: "*")
    #expect(response.status == 200)
    #expect(response.headers["Content-Type"] == "application/trickle-ice-sdpfrag")
    let newTag = try #require(response.headers["ETag"])
    #expect(newTag != tag)
    let ours = try TrickleFragment(parsing: response.text)
    #expect(ours.ufrag == "Ours" && ours.pwd == "oursoursoursoursoursours" && ours.isComplete)
    #expect(ours.candidates.count == 1 && ours.sections[0].mid == "0" && ours.bundle == ["0", "2"])
    #expect(ours.iceOptions == ["trickle"])
    guard case .restart(_, let ufrag, let pwd, let theirs) = shell.effects.last else {
      throw Problem(500, "no restart")
    }
    #expect(ufrag == "Neww" && pwd == "newnewnewnewnewnewnewnew" && theirs.candidates.count == 1)

    #expect(shell.patch(path, renewed + media + candidate, tag: tag).status == 412)
    #expect(shell.patch(path, renewed + media + candidate, tag: newTag).status == 204)
    #expect(
      shell.patch(path, WHEPHarness.knownCredentials + candidate, tag: "*").status == 200, "back is a restart, too")
  }

  @Test func aRestartThatFailsKeepsTheSession() throws {
    var shell = WHEPHarness()
    let (path, tag) = try open(&shell)
    shell.restartResult = .failure(Problem(503, "not now", retryAfter: .seconds(1)))
    #expect(shell.patch(path, renewed, tag: "*").status == 503)
    #expect(shell.patch(path, WHEPHarness.knownCredentials + candidate, tag: tag).status == 204)
  }

  @Test func halfARestartIsRefused() throws {
    var shell = WHEPHarness()
    let (path, _) = try open(&shell)
    #expect(shell.patch(path, "a=ice-ufrag:Neww\r\n", tag: "*").status == 400)
    #expect(shell.patch(path, "a=ice-pwd:newnewnewnewnewnewnewnew\r\n", tag: "*").status == 400)
  }

  @Test func badFragmentsAreRefused() throws {
    var shell = WHEPHarness()
    let (path, tag) = try open(&shell)
    #expect(shell.patch(path, candidate, tag: tag, type: "application/sdp").status == 415)
    #expect(shell.patch(path, "", tag: tag).status == 400)
    #expect(shell.patch(path, "{}", tag: tag).status == 400)
    #expect(shell.patch(path, String(repeating: candidate, count: 2000), tag: tag).status == 413)
    #expect(shell.patch("/whep/none", candidate, tag: tag).status == 404)
  }

  @Test func deleteEndsTheSessionOnce() throws {
    var shell = WHEPHarness()
    let (path, _) = try open(&shell)
    #expect(shell.send("DELETE", path, ["If-Match": "\"whatever\""]).status == 200)
    guard case .endSession(let id, _) = shell.effects.last else { throw Problem(500, "no end") }
    #expect(path.hasSuffix(id.description))
    #expect(shell.send("DELETE", path).status == 404)
    #expect(shell.patch(path, candidate, tag: "*").status == 404)
    #expect(shell.endpoint.sessionCount == 0)
  }

  @Test func nobodyElsesTokenFindsTheSession() throws {
    var shell = WHEPHarness()
    let (path, _) = try open(&shell)
    for method in ["GET", "PATCH", "DELETE"] {
      #expect(shell.send(method, path, credential: "another").status == 404)
    }
    #expect(shell.send("DELETE", path).status == 200)
  }

  @Test func aSessionThatEndedByItselfIsGone() throws {
    var shell = WHEPHarness()
    let (path, _) = try open(&shell)
    guard case .createSession(let creation) = shell.effects[0] else { throw Problem(500, "no creation") }
    shell.endpoint.sessionEnded(creation.session)
    #expect(shell.send("DELETE", path).status == 404)
  }

  @Test func optionsAnswersBrowsersBeforeAuthentication() throws {
    var shell = WHEPHarness()
    let endpoint = shell.send("OPTIONS", "/whep", as: .none)
    #expect(endpoint.status == 200 && endpoint.headers["Accept-Post"] == "application/sdp")
    #expect(endpoint.headers["Access-Control-Allow-Methods"]?.contains("PATCH") == true)
    #expect(endpoint.headers["Access-Control-Allow-Headers"]?.contains("Authorization") == true)
    #expect(endpoint.headers["Access-Control-Allow-Headers"]?.contains("If-Match") == true)
    let session = shell.send("OPTIONS", "/whep/whatever", as: .none)
    #expect(session.status == 200 && session.headers["Accept-Patch"] == "application/trickle-ice-sdpfrag")
  }

  @Test func getIsSuccessWithoutContent() throws {
    var shell = WHEPHarness()
    let (path, _) = try open(&shell)
    for method in ["GET", "HEAD"] {
      let endpoint = shell.send(method, "/whep")
      #expect(endpoint.status == 200 && endpoint.body.isEmpty && endpoint.headers["Content-Type"] == "application/sdp")
      #expect(shell.send(method, path).status == 204)
    }
  }

  @Test func otherMethodsAreNamedAsNotAllowed() throws {
    var shell = WHEPHarness()
    let (path, _) = try open(&shell)
    for method in ["PUT", "PATCH", "DELETE", "TRACE", "\"odd\n"] {
      let response = shell.send(method, "/whep/")
      #expect(response.status == 405 && response.headers["Allow"] == "GET, HEAD, OPTIONS, POST")
    }
    for method in ["PUT", "POST"] {
      let response = shell.send(method, path)
      #expect(response.status == 405 && response.headers["Allow"]?.contains("PATCH") == true)
    }
    #expect(shell.send("GET", path + "/more").status == 404)
    #expect(shell.send("GET", "/whepper").status == 404)
    #expect(shell.endpoint.serves(path: "/whep/a") && !shell.endpoint.serves(path: "/whepper"))
  }
}
