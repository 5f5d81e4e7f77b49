import Pairing
import Signaling
import Testing
import Wire

@Suite struct ProblemTests {
  @Test func theBodyIsJSONWhateverTheTextHolds() {
    let problem = Problem(404, "no \"x\"\\\n\r\t\u{1}\u{7f}ü€🍼")
    let expected =
      #"{"type":"about:blank","title":"Not Found","status":404,"detail":"no \"x\"\\\n\r\t\u0001\u007fü€🍼"}"#
    #expect(String(decoding: problem.body, as: UTF8.self) == expected)
  }

  @Test func everyStatusOfTheTableHasATitle() {
    for status in [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 428, 429, 500, 503] {
      let title = Problem(status, "x").title
      #expect(title != "Client Error" && title != "Server Error")
    }
    #expect(Problem(418, "x").title == "Client Error" && Problem(599, "x").title == "Server Error")
  }

  @Test func waitingTimesAreWholeSecondsUp() {
    let waits: [(Duration, String)] = [(.zero, "1"), (.milliseconds(1001), "2"), (.seconds(30), "30")]
    for (wait, text) in waits {
      #expect(WHEPResponse(Problem(503, "full", retryAfter: wait)).headers["retry-after"] == text)
    }
    #expect(WHEPResponse(Problem(409, "closed")).headers["Retry-After"] == nil)
  }

  @Test func noValueBeginsAnotherField() {
    let fields: HTTPFields = ["Location": "/whep/1\r\nSet-Cookie: x"]
    #expect(fields["LOCATION"] == "/whep/1Set-Cookie: x")
  }

  @Test func permissionsHaveWords() {
    #expect(Permissions.all.names == ["view", "listen", "talk", "control", "admin", "recordings"])
    #expect(Permissions(names: ["talk"]) == .talk && Permissions(names: ["fly"]) == nil)
  }
}

@Suite struct RateLimiterTests {
  @Test func aBurstPassesThenTheRateHolds() {
    var limiter = RateLimiter<String>(burst: 3, interval: .seconds(10))
    let first = (0..<3).map { _ in limiter.admit("a", now: .zero) }
    #expect(first == [.admitted, .admitted, .admitted])
    #expect(limiter.admit("a", now: .zero) == .refused(retryAfter: .seconds(10)))
    #expect(limiter.admit("b", now: .zero) == .admitted)
    let later = Instant.zero + .seconds(4)
    #expect(limiter.admit("a", now: later) == .refused(retryAfter: .seconds(6)))
    #expect(limiter.admit("a", now: .zero + .seconds(10)) == .admitted)
    #expect(limiter.admit("a", now: .zero + .seconds(10)) == .refused(retryAfter: .seconds(10)))
  }

  @Test func refusalsCostNothing() {
    var limiter = RateLimiter<Int>(burst: 1, interval: .seconds(1))
    _ = limiter.admit(1, now: .zero)
    for _ in 0..<100 { #expect(limiter.admit(1, now: .zero) != .admitted) }
    #expect(limiter.admit(1, now: .zero + .seconds(1)) == .admitted)
  }

  @Test func forgivenKeysBeginAnew() {
    var limiter = RateLimiter<Int>(burst: 1, interval: .seconds(1))
    _ = limiter.admit(1, now: .zero)
    limiter.forgive(1)
    #expect(limiter.admit(1, now: .zero) == .admitted)
  }

  @Test func keysAreBounded() {
    var limiter = RateLimiter<Int>(burst: 2, interval: .seconds(1), maximumKeys: 10)
    _ = limiter.admit(-1, now: .zero)
    _ = limiter.admit(-1, now: .zero)
    for key in 0..<100 { _ = limiter.admit(key, now: .zero) }
    #expect(limiter.count == 10)
    #expect(limiter.admit(-1, now: .zero) != .admitted, "who has used up the most is remembered the longest")
    _ = limiter.admit(200, now: .zero + .seconds(60))
    #expect(limiter.count == 1)
  }
}
