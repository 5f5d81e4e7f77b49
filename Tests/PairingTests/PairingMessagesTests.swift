import Pairing
import Testing
import Wire

@Suite struct PairingMessagesTests {
  private static func bytes(_ count: Int, _ value: UInt8 = 7) -> [UInt8] { Array(repeating: value, count: count) }

  private static let requests: [PairingRequest] = [
    .begin, .share(salt: bytes(16), share: bytes(65)), .link(id: bytes(16), share: bytes(65)),
    .finish(session: bytes(16), confirmation: bytes(32), sealed: bytes(1024)), .abandon(session: bytes(16)),
  ]
  private static let replies: [PairingReply] = [
    .parameters(salt: bytes(16), iterations: 20_000),
    .share(session: bytes(16), share: bytes(65), confirmation: bytes(32)),
    .finished(sealed: bytes(400)),
  ]

  @Test func messagesSurviveTheWay() throws {
    for request in Self.requests {
      let body = PairingMessages.encode(request)
      #expect(body.count <= PairingMessages.maximumBytes)
      #expect(try PairingMessages.request(body) == request)
    }
    for reply in Self.replies {
      #expect(try PairingMessages.reply(PairingMessages.encode(reply)) == reply)
    }
  }

  @Test func formIsAsDocumented() throws {
    #expect(
      String(decoding: PairingMessages.encode(.abandon(session: Self.bytes(16, 0xff))), as: UTF8.self)
        == #"{"session":"_____________________w","step":"abandon"}"#)
    #expect(
      try PairingMessages.request(Array(#" {"step" : "begin", "later": [1, {}]} "#.utf8)) == .begin)
  }

  @Test(arguments: [
    "", "null", "[]", "{}", #"{"step":"beg"}"#, #"{"step":7}"#, #"{"step":"begin"}x"#,
    #"{"step":"begin","step":"begin"}"#,
    #"{"step":"abandon"}"#, #"{"step":"abandon","session":""}"#, #"{"step":"abandon","session":7}"#,
    #"{"step":"abandon","session":"AAAAAAAAAAAAAAAAAAAAAB"}"#,
    #"{"step":"abandon","session":"AAAAAAAAAAAAAAAAAAAAAA=="}"#,
    #"{"step":"abandon","session":"AAAAAAAAAAAAAAAAAAAAAAA"}"#,
    #"{"step":"abandon","session":"AAAAAAAAAAAAAAAAAAAA+/"}"#,
    #"{"step":"finish","session":"AAAAAAAAAAAAAAAAAAAAAA","confirmation":"AA","sealed":"AA"}"#,
    #"{"step":"parameters","salt":"AAAAAAAAAAAAAAAAAAAAAA","iterations":999}"#,
    #"{"step":"parameters","salt":"AAAAAAAAAAAAAAAAAAAAAA","iterations":1000.5}"#,
    #"{"step":"parameters","salt":"AAAAAAAAAAAAAAAAAAAAAA","iterations":1e30}"#,
    #"{"step":"parameters","salt":"AAAAAAAAAAAAAAAAAAAAAA","iterations":"2000"}"#,
  ])
  func otherTextIsABadMessage(text: String) {
    #expect {
      _ = try PairingMessages.request(Array(text.utf8))
    } throws: { error in
      if case PairingRefusal.badMessage = error { true } else { false }
    }
    #expect {
      _ = try PairingMessages.reply(Array(text.utf8))
    } throws: { error in
      if case PairingFailure.badReply = error { true } else { false }
    }
  }

  @Test func oversizedMessagesAreRefused() {
    for request in [
      PairingRequest.finish(session: Self.bytes(16), confirmation: Self.bytes(32), sealed: Self.bytes(1025)),
      .finish(session: Self.bytes(16), confirmation: Self.bytes(32), sealed: []),
      .share(salt: Self.bytes(16), share: Self.bytes(66)), .abandon(session: Self.bytes(17)),
      .link(id: Self.bytes(15), share: Self.bytes(65)), .link(id: Self.bytes(16), share: Self.bytes(66)),
    ] {
      #expect(throws: PairingRefusal.self) { _ = try PairingMessages.request(PairingMessages.encode(request)) }
    }
    let padded = Array(#"{"step":"begin"}"#.utf8) + Self.bytes(PairingMessages.maximumBytes, 0x20)
    #expect(throws: PairingRefusal.self) { _ = try PairingMessages.request(padded) }
    let deep = Array((#"{"step":"begin","a":"# + String(repeating: "[", count: 3000)).utf8)
    #expect(throws: PairingRefusal.self) { _ = try PairingMessages.request(deep) }
  }

  @Test func refusalsHaveTheirStatusAndAreReadBack() {
    let cases: [(PairingRefusal, Int)] = [
      (.windowClosed, 409), (.unknownLink, 403), (.unknownSession, 404), (.wrongCode(triesLeft: 2), 403),
      (.tooManyTries(retryAfter: .seconds(3)), 429),
    ]
    for (refusal, status) in cases {
      let problem = PairingProblem(refusal)
      #expect(problem.status == status)
      #expect(PairingProblem.refusal(problem.body) == refusal)
    }
    let bad = PairingProblem(.badMessage("salt has 16 bytes"))
    #expect(bad.status == 400)
    #expect(
      PairingProblem.refusal(bad.body) == .badMessage("this is not a pairing message: salt has 16 bytes"))
    #expect(PairingProblem(.tooManyTries(retryAfter: .milliseconds(1200))).retryAfterSeconds == 2)
    #expect(PairingProblem(.windowClosed).retryAfterSeconds == nil)
  }

  @Test func problemsOfOthersAreNotRefusals() {
    for text in ["", "{}", #"{"type":"about:blank","status":409}"#, #"{"type":"urn:cradle:pairing:new"}"#] {
      #expect(PairingProblem.refusal(Array(text.utf8)) == nil)
    }
    let hostile = #"{"type":"urn:cradle:pairing:too-many-tries","retryAfterSeconds":1e300}"#
    #expect(PairingProblem.refusal(Array(hostile.utf8)) == .tooManyTries(retryAfter: .seconds(1)))
    let escape = #"{"type":"urn:cradle:pairing:bad-message","detail":"a[2Jb"}"#
    #expect(PairingProblem.refusal(Array(escape.utf8)) == .badMessage("a[2Jb"))
  }
}
