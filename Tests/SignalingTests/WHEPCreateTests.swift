import Pairing
import SDP
import Signaling
import Testing
import Wire

@Suite struct WHEPCreateTests {
  @Test func anOfferIsAnsweredWithASession() throws {
    var shell = WHEPHarness(
      WHEPConfiguration(iceServers: [
        ICEServerDocument(urls: ["stun:stun.example.net"]),
        ICEServerDocument(
          urls: ["turn:turn.example.net?transport=udp", "turns:turn.example.net"], username: "u\"1",
          credential: "p\\w\r\nX: y"),
      ]))
    let response = shell.post(query: "camera=cot%20two&x=1")
    #expect(response.status == 201)
    #expect(response.headers["content-type"] == "application/sdp")
    let location = try #require(response.headers["Location"])
    #expect(location.hasPrefix("whep/") && location.utf8.count == 5 + 24)
    #expect(location.dropFirst(5).allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
    let tag = try #require(response.headers["ETag"])
    #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.utf8.count == 14)
    #expect(response.headers["Accept-Patch"] == "application/trickle-ice-sdpfrag")
    #expect(response.headers["Access-Control-Allow-Origin"] == "*")
    #expect(response.headers["Access-Control-Expose-Headers"]?.contains("Location") == true)
    let credentials = #"username="u\"1"; credential="p\\wX: y"; credential-type="password""#
    #expect(
      response.headers.values("Link") == [
        #"<stun:stun.example.net>; rel="ice-server""#,
        #"<turn:turn.example.net?transport=udp>; rel="ice-server"; "# + credentials,
        #"<turns:turn.example.net>; rel="ice-server"; "# + credentials,
      ])
    #expect(try SessionDescription(parsing: response.text).media[0].direction == .sendOnly)
    guard case .createSession(let creation) = shell.effects[0] else { throw Problem(500, "no creation") }
    #expect(creation.cameraID == "cot two")
    #expect(creation.permissions == [.view, .listen] && location.hasSuffix(creation.session.description))
    #expect(shell.endpoint.sessionCount == 1)
  }

  /// A proxy may put the endpoint below a path that it takes away again.
  @Test(arguments: [
    ("/whep", "https://home.example/nursery/whep", "https://home.example/nursery/whep/"),
    ("/whep/", "https://home.example/nursery/whep/?camera=cot", "https://home.example/nursery/whep/"),
    ("/whep", "https://192.0.2.1:8443/whep", "https://192.0.2.1:8443/whep/"),
  ]) func theLocationIsRightBehindAProxy(asked: String, seen: String, session: String) throws {
    var shell = WHEPHarness()
    let response = shell.send(
      "POST", asked, ["Content-Type": "application/sdp"], body: Array(WHEPHarness.offer.utf8))
    let location = try #require(response.headers["Location"])
    let target = try HTTPURL(seen).resolving(location)
    #expect("\(target)".hasPrefix(session) && "\(target)".utf8.count == session.utf8.count + 24, "\(target)")
  }

  @Test func everySessionHasItsOwnNames() {
    var shell = WHEPHarness()
    let responses = (0..<5).map { _ in shell.post() }
    #expect(Set(responses.compactMap { $0.headers["Location"] }).count == 5)
    #expect(Set(responses.compactMap { $0.headers["ETag"] }).count == 5)
  }

  @Test func talkbackNeedsItsPermission() throws {
    let talk = WHEPHarness.offer.split(separator: "\r\n").map { $0 == "a=recvonly" ? "a=sendrecv" : $0 }
    let sendOnly = talk.map { $0 == "a=sendrecv" ? "a=sendonly" : $0 }
    let both = talk.joined(separator: "\r\n") + "\r\n"
    for (permissions, allowed) in [([.view], false), ([.view, .talk], true)] as [(Permissions, Bool)] {
      var shell = WHEPHarness()
      #expect(shell.post(both, as: .granted(permissions)).status == 201)
      let only = shell.post(sendOnly.joined(separator: "\r\n") + "\r\n", as: .granted(permissions))
      #expect(only.status == (allowed ? 201 : 403) && (allowed || only.text.contains("recvonly")))
    }
  }

  /// Not "no codec in common": the codecs fit.
  @Test(arguments: [("video", Permissions.listen, "view"), ("audio", .view, "listen"), ("audio", .talk, "listen")])
  func whatATokenDoesNotAllowIsNamed(kind: String, permissions: Permissions, named: String) {
    let sections = WHEPHarness.offer.split(separator: "\r\nm=")
    let offer = ([sections[0]] + sections.filter { $0.hasPrefix(kind) }).joined(separator: "\r\nm=") + "\r\n"
    var shell = WHEPHarness()
    let response = shell.post(offer, as: .granted(permissions))
    #expect(response.status == 403 && response.text.contains("does not allow \(named)"))
    #expect(shell.post(as: .granted([.view, .listen])).status == 201)
  }

  @Test func namesInAnotherEncodingAreNoError() {
    var shell = WHEPHarness()
    let offer = Array(WHEPHarness.offer.replacing("s=-", with: "s=K?che").utf8).map { $0 == 63 ? 0xfc : $0 }
    #expect(shell.send("POST", "/whep", ["Content-Type": "application/sdp"], body: offer).status == 201)
  }

  @Test func aTokenWithoutMediaIsForbidden() {
    var shell = WHEPHarness()
    #expect(shell.post(as: .granted([.control, .admin])).status == 403)
    #expect(shell.endpoint.sessionCount == 0)
  }

  @Test func withoutCredentialsNothingIsSaid() {
    for (method, path) in [
      ("POST", "/whep"), ("GET", "/whep"), ("HEAD", "/whep"), ("PUT", "/whep"), ("PATCH", "/whep/x"),
      ("DELETE", "/whep/x"), ("GET", "/whep/x/y"),
    ] {
      for verdict in [Authorization.none, .invalid] {
        var shell = WHEPHarness()
        let response = shell.send(method, path, as: verdict)
        #expect(response.status == 401)
        #expect(response.headers["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
        #expect(response.headers["Access-Control-Allow-Origin"] == "*")
      }
    }
  }

  @Test func guessingTokensIsSlowedDown() {
    var shell = WHEPHarness()
    var limiter = WrongTokenLimiter()
    var now = Instant.zero
    let guess = { limiter.count(.invalid, of: "192.0.2.50", now: now) }
    let statuses = (0..<12).map { _ in shell.post(as: guess()).status }
    #expect(statuses == Array(repeating: 401, count: 10) + [429, 429])
    #expect(shell.post(as: guess()).headers["Retry-After"] == "6")
    #expect(limiter.count(.granted([.view]), of: "192.0.2.50", now: now) == .granted([.view]))
    #expect(limiter.count(.none, of: "192.0.2.50", now: now) == .none)
    #expect(limiter.count(.invalid, of: "192.0.2.51", now: now) == .invalid)
    now += .seconds(6)
    #expect(guess() == .invalid)
  }

  @Test func offersMayNotComeTooFast() {
    var shell = WHEPHarness()
    let statuses = (0..<21).map { _ in shell.post("v=1").status }
    #expect(statuses == Array(repeating: 400, count: 20) + [429])
    shell.now += .seconds(1)
    #expect(shell.post().status == 201)
  }

  @Test func aFullChildSaysWhenToComeBack() {
    var shell = WHEPHarness(WHEPConfiguration(maximumSessions: 1, retryAfter: .milliseconds(2500)))
    let first = shell.post()
    let second = shell.post()
    #expect(second.status == 503 && second.headers["Retry-After"] == "3")
    #expect(shell.send("DELETE", "/" + (first.headers["Location"] ?? "")).status == 200)
    #expect(shell.post().status == 201)
  }

  @Test func malformedOffersAreNamedByLine() {
    var shell = WHEPHarness()
    let response = shell.post("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=zero\r\nm=video\r\n")
    #expect(response.status == 400 && response.text.contains("line 5"))
    #expect(response.headers["Content-Type"] == "application/problem+json")
    #expect(shell.post("").status == 400)
    #expect(shell.send("POST", "/whep", ["Content-Type": "application/sdp"], body: [0x76, 0xff, 0xfe]).status == 400)
    #expect(shell.post(query: "camera=").status == 400 && shell.post(query: "camera=%4").status == 400)
  }

  @Test func otherMediaTypesAreRefused() {
    var shell = WHEPHarness()
    for type in ["application/json", "text/plain", "application/sdp2", ""] {
      let response = shell.post(WHEPHarness.offer, ["Content-Type": type])
      #expect(response.status == 415 && response.headers["Accept-Post"] == "application/sdp")
    }
    #expect(shell.post(WHEPHarness.offer, [:]).status == 201)
    #expect(shell.post(WHEPHarness.offer, ["CONTENT-TYPE": "Application/SDP; charset=utf-8"]).status == 201)
  }

  @Test(
    arguments: [
      ("application/json", 406), ("application/sdp", 201), ("*/*", 201), ("application/*", 201), ("", 201),
      ("application/sdp;q=0, */*", 406), ("text/html, application/sdp;q=0.1", 201), ("*/*;q=0.0", 406),
    ])
  func theAcceptHeaderCounts(accept: String, status: Int) {
    var shell = WHEPHarness()
    let response = shell.post(WHEPHarness.offer, ["Content-Type": "application/sdp", "Accept": accept])
    #expect(response.status == status)
  }

  @Test func bodiesAreBounded() {
    var shell = WHEPHarness()
    let long = WHEPHarness.offer + String(repeating: "a=x\r\n", count: 13_000)
    #expect(shell.post(long).status == 413)
  }

  @Test func aFailedCreationLeavesNothing() {
    var shell = WHEPHarness()
    shell.createResult = .failure(Problem(negotiation: .noFingerprint(SourceLine())))
    let response = shell.post()
    #expect(response.status == 400 && response.text.contains("fingerprint"))
    shell.createResult = .failure(Problem(404, "no camera \"x\""))
    #expect(shell.post(query: "camera=x").text.contains(#"no camera \"x\""#))
    #expect(shell.endpoint.sessionCount == 0)
  }

  @Test func aSessionThatEndsWhileItBeginsIsNotPromised() throws {
    var shell = WHEPHarness()
    let request = WHEPRequest(
      method: "POST", path: "/whep", headers: ["Content-Type": "application/sdp"], body: Array(WHEPHarness.offer.utf8))
    guard case .createSession(let creation) = shell.endpoint.handle(request, authorization: .granted(.view), now: .zero)
    else { throw Problem(500, "no creation") }
    #expect(shell.send("DELETE", "/whep/\(creation.session)").status == 404)
    shell.endpoint.sessionEnded(creation.session)
    #expect(shell.endpoint.completeCreate(creation.session, .success(WHEPHarness.answer(creation.offer))).status == 503)
  }
}
