import Identity
import Pairing
import TestSupport
import Testing
import Wire

@testable import Signaling

/// RFC 7515 appendix A.3: a JWS with ES256.
@Suite struct SignedVectorTests {
  private static let header = "eyJhbGciOiJFUzI1NiJ9"
  private static let payload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
  private static let signature =
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
  private static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
  private static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

  /// The public key as SubjectPublicKeyInfo. RFC 5480 section 2.
  private static var key: [UInt8] {
    Fixture.hex("3059301306072a8648ce3d020106082a8648ce3d030107034200 04") + Base64URL.decode(x)! + Base64URL.decode(y)!
  }

  @Test func thePublishedSignatureIsGood() throws {
    let form = try SignedCompactForm(parsing: "\(Self.header).\(Self.payload).\(Self.signature)")
    #expect(String(decoding: form.header, as: UTF8.self) == #"{"alg":"ES256"}"#)
    #expect(form.payload.count == 70)
    #expect(form.signature.prefix(4) == [14, 209, 33, 83] && form.signature.suffix(2) == [84, 213])
    #expect(PairingPrimitives().isSignature(form.signature, over: form.signingInput, by: Self.key))
    var other = form.signingInput
    other[30] ^= 1
    #expect(!PairingPrimitives().isSignature(form.signature, over: other, by: Self.key))
  }

  @Test func ourOwnSignaturesAreGoodOnesOf64Bytes() {
    let identity = NodeIdentity.generate()
    let text = SignedCompactForm.text(header: [1], payload: [2], sign: identity.sign)
    guard let form = try? SignedCompactForm(parsing: text) else {
      return #expect(Bool(false), "what is written is read")
    }
    #expect(PairingPrimitives().isSignature(form.signature, over: form.signingInput, by: identity.publicKeySPKI))
    #expect(form.header == [1] && form.payload == [2])
  }

  @Test(arguments: [
    "", ".", "..", "a.b", "\(header).\(payload)", "\(header).\(payload).\(signature).", "\(header).\(payload).AAAA",
    "\(header)=.\(payload).\(signature)", " \(header).\(payload).\(signature)", "\(header).\(payload)\n.\(signature)",
    "\(header).\(payload).\(signature.dropLast())V", "\(header).\(payload).\(signature)AA",
  ])
  func otherFormsAreRefused(text: String) {
    #expect(throws: SignalingRefusal.self) { try SignedCompactForm(parsing: text) }
  }

  @Test func aLargeOneIsRefusedUnread() {
    let text = String(repeating: "A", count: SignedMessage.maximumBytes + 1)
    #expect(throws: SignalingRefusal.self) { try SignedCompactForm(parsing: text) }
  }

  @Test(arguments: [
    #"{"alg":"none","kid":"0123456789abcdef"}"#, #"{"alg":"HS256","kid":"0123456789abcdef"}"#,
    #"{"alg":"es256","kid":"0123456789abcdef"}"#, #"{"alg":"ES256"}"#, #"{"kid":"0123456789abcdef"}"#,
    #"{"alg":"ES256","kid":"0123456789ABCDEF"}"#, #"{"alg":"ES256","kid":"0123456789abcde"}"#,
    #"{"alg":"ES256","kid":"0123456789abcdef","crit":["exp"]}"#,
    #"{"alg":"ES256","kid":"0123456789abcdef","jwk":{"kty":"EC"}}"#,
    #"{"alg":"ES256","kid":"0123456789abcdef","x5c":["MIIB"]}"#,
    #"{"alg":"none","alg":"ES256","kid":"0123456789abcdef"}"#, #"{"alg":["ES256"],"kid":"0123456789abcdef"}"#,
    "[]", "", #"{"alg":"ES256","kid":"0123456789abcdef"} x"#,
  ])
  func otherHeadersAreRefused(header: String) {
    #expect(throws: SignalingRefusal.self) { try SignedMessageJSON.signer(ofHeader: Array(header.utf8)) }
  }

  @Test func ourHeaderNamesUs() throws {
    let header = SignedMessageJSON.header(id: "0123456789abcdef")
    #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"0123456789abcdef"}"#)
    #expect(try SignedMessageJSON.signer(ofHeader: header) == "0123456789abcdef")
  }

  @Test(arguments: [
    SignedMessage.Content.offer(sdp: "v=0\r\n"), .answer(sdp: "\"\\\u{1}é"), .restart(fragment: "a=x"),
    .restarted(fragment: ""), .candidate("candidate:1 1 udp 1 192.0.2.1 9 typ host", sdpMid: "0"),
    .candidate("candidate:1", sdpMid: nil), .endOfCandidates, .bye(.busy), .bye(.left),
  ])
  func messagesSurviveTheirJSON(content: SignedMessage.Content) throws {
    for revision in [0, 3] {
      let message = SignedMessage(
        from: "0123456789abcdef", to: "fedcba9876543210", session: "AAAAAAAAAAAAAAAAAAAAAA",
        challenge: "BBBBBBBBBBBBBBBBBBBBBA", revision: revision, content: content)
      #expect(try SignedMessageJSON.message(ofPayload: SignedMessageJSON.payload(message)) == message)
    }
  }

  @Test(arguments: [
    #""type":"offer""#, #""type":"offer","sdp":1"#, #""type":"offer","sdp":"v","sdpfrag":"a""#,
    #""type":"candidate","candidate":"x""#, #""type":"dance""#, #""sdp":"v""#,
    #""type":"bye","revision":0.5"#, #""type":"bye","revision":-1"#, #""type":"bye","revision":1e12"#,
    #""type":"bye","to":"fedcba9876543210""#,
  ])
  func otherPayloadsAreRefused(members: String) {
    let json =
      #"{"from":"0123456789abcdef","to":"fedcba9876543210","session":"AAAAAAAAAAAAAAAAAAAAAA","#
      + #""challenge":"BBBBBBBBBBBBBBBBBBBBBA",\#(members)}"#
    #expect(throws: SignalingRefusal.self) { try SignedMessageJSON.message(ofPayload: Array(json.utf8)) }
  }

  @Test func aShortSessionOrChallengeIsRefused() {
    #expect(!SignedMessage.isSession("AAAA") && !SignedMessage.isSession("AAAAAAAAAAAAAAAAAAAAAB"))
    #expect(!SignedMessage.isChallenge("AAAAAAAAAAAAAAA") && SignedMessage.isChallenge("AAAAAAAAAAAAAAAA"))
  }
}
