import Identity
import Signaling
import Testing
import WebPush
import Wire

@Suite struct VAPIDTests {
  private static let origin = "https://push.example.net"
  private static let prefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  private static func isSigned(_ signed: String, _ signature: String, by key: String) throws -> Bool {
    PairingPrimitives().isSignature(
      try #require(Base64URL.decode(signature)), over: Array(signed.utf8),
      by: prefix + (try #require(Base64URL.decode(key))))
  }

  /// RFC 8292 section 2.4: the same header and claims, and a signature that verifies as ours do.
  @Test func aTokenAsPublished() throws {
    let signed = VAPID.signedPart(
      for: try HTTPURL(Self.origin).origin, contact: "mailto:push@example.com", expiresAt: 1_453_523_768)
    #expect(
      signed == "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1"
        + "MjM3NjgsInN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0")
    let key = "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
    #expect(
      try Self.isSigned(
        signed, "i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA", by: key))
    #expect(
      try !Self.isSigned(
        signed + "x", "i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA",
        by: key))
  }

  @Test func theHeaderCarriesTokenAndKey() throws {
    let key = PushKey.generate()
    let value = VAPID.authorization(
      for: try HTTPURL("https://push.example.net:8443/a/b?c").origin, contact: "mailto:a@b", unixTime: 1000, signer: key
    )
    let match = try #require(value.wholeMatch(of: /vapid t=([\w-]+\.([\w-]+))\.([\w-]+), k=([\w-]+)/))
    #expect(try Self.isSigned(String(match.1), String(match.3), by: String(match.4)))
    #expect(String(match.4) == Base64URL.encode(key.publicKey))
    let claims = try #require(Base64URL.decode(match.2))
    #expect(
      String(decoding: claims, as: UTF8.self)
        == #"{"aud":"https://push.example.net:8443","exp":44200,"sub":"mailto:a@b"}"#)
  }

  @Test(arguments: [
    ("mailto:us@example.org", true), ("https://example.org/who", true), ("mailto:us@mail.EXAMPLE.org?subject=x", true),
    ("mailto:push@cradle.invalid", false), ("mailto:us@localhost", false), ("mailto:us@nursery.local", false),
    ("mailto:us@fritz.box.LAN", false), ("https://nursery.test/", false), ("https://localhost", false),
    ("https://192.0.2.1/", false), ("mailto:us@192.0.2.1", false), ("mailto:us@a.", false), ("us@example.org", false),
    ("https://[2001:db8::1]/", false), ("mailto:a@b.invalid", false), ("mailto:a@[192.168.1.1]", false),
    ("mailto:a@x.LOCAL.", false), ("https://10.0.0.1/x", false), ("mailto:a@0x7f.0x1", false),
    ("mailto:a@b!.org", false),
    ("mailto:a@-b.org", false), ("mailto:?to=a@example.org", false), ("mailto:a@xn--bcher-kva.example.org", true),
  ])
  func applesPushServiceWantsAContactThatCanExist(_ text: String, _ isOne: Bool) {
    #expect(VAPID.isReachable(text) == isOne)
  }

  @Test(arguments: [
    ("mailto:push@example.com", true), ("https://example.com/who", true), ("mailto:", false), ("mailto:@b", false),
    ("mailto:a@", false), ("mailto:a b@c", false), ("http://example.com", false), ("push@example.com", false),
    ("", false),
    ("mailto:a@b\u{e4}", false), ("https://", false),
  ])
  func contactsAreMailOrWebAddresses(_ text: String, _ isOne: Bool) {
    #expect(VAPID.isContact(text) == isOne)
  }

  @Test func theKeyIsKeptAsPEM() throws {
    let key = PushKey.generate()
    #expect(try PushKey(pem: key.pem).publicKey == key.publicKey)
    #expect(key.publicKey.count == 65 && key.publicKey.first == 4)
  }
}
