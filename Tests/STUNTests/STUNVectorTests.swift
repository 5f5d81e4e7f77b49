import STUN
import TestSupport
import Testing
import Wire

/// The packets of RFC 5769 and of RFC 8489 appendix B.1 (as its erratum has it).
@Suite struct STUNVectorTests {
  let hashes = TestHashes()
  let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)
  let id = STUNTransactionID(bytes: Fixture.hex("b7e7a701bc34d686fa87dfae"))

  @Test func readsTheSampleRequest() throws {
    let message = try STUNMessage(decoding: Fixture.bytes("stun-rfc5769-request.bin"))
    #expect(message.messageClass == .request && message.method == .binding && message.transactionID == id)
    #expect(
      message.attributes == [
        .software("STUN test client"), .priority(0x6e00_01ff), .iceControlled(0x932f_f9b1_5126_3b36),
        .username("evtj:h6vY"),
      ])
    #expect(message.integrity == .messageIntegrity)
    #expect(message.verifyIntegrity(key: password, hashes: hashes))
    #expect(!message.verifyIntegrity(key: password + [1], hashes: hashes))
    #expect(message.hasValidFingerprint == true)
    #expect(message.unknownComprehensionRequired().isEmpty)
  }

  @Test(arguments: [
    ("stun-rfc5769-response-ipv4.bin", "192.0.2.1"),
    ("stun-rfc5769-response-ipv6.bin", "2001:db8:1234:5678:11:2233:4455:6677"),
  ])
  func readsTheSampleResponses(fixture: String, address: String) throws {
    let message = try STUNMessage(decoding: Fixture.bytes(fixture))
    #expect(message.messageClass == .successResponse && message.transactionID == id)
    #expect(message.mappedAddress == TransportAddress(ip: try #require(IPAddress(address)), port: 32853))
    #expect(message.attributes.first == .software("test vector"))
    #expect(message.verifyIntegrity(key: password, hashes: hashes))
    #expect(message.hasValidFingerprint == true)
  }

  @Test func writesWhatTheSampleResponseHasButForPadding() throws {
    var expected = Fixture.bytes("stun-rfc5769-response-ipv4.bin")
    let message = try STUNMessage(decoding: expected)
    let written = message.encode(key: password, hashes: hashes)
    // The vector pads SOFTWARE with a space; zero is what RFC 8489 section 14 asks for.
    expected[35] = 0
    #expect(written.prefix(48) == expected.prefix(48))
    let again = try STUNMessage(decoding: written)
    #expect(again.attributes == message.attributes)
    #expect(again.verifyIntegrity(key: password, hashes: hashes) && again.hasValidFingerprint == true)
  }

  @Test func writesTheLongTermRequestToTheByte() throws {
    let bytes = Fixture.bytes("stun-rfc5769-request-long-term.bin")
    let key = stunLongTermKey(username: "マトリックス", realm: "example.org", password: "TheMatrIX", hashes: hashes)
    let message = try STUNMessage(decoding: bytes)
    #expect(message.realm == "example.org")
    #expect(message.nonce == Array("f//499k954d6OL34oL9FSTvy64sA".utf8))
    #expect(message.verifyIntegrity(key: key, hashes: hashes))
    #expect(message.hasValidFingerprint == nil)
    #expect(message.encode(key: key, fingerprint: false, hashes: hashes) == bytes)
  }

  @Test func writesTheSHA256RequestToTheByte() throws {
    let bytes = Fixture.bytes("stun-rfc8489-request-long-term-sha256.bin")
    // RFC 8489 section 18.5.1: with PASSWORD-ALGORITHM SHA-256 the key is SHA-256 over the same text.
    let key = hashes.sha256(Array("マトリックス:example.org:TheMatrIX".utf8))
    let message = try STUNMessage(decoding: bytes)
    #expect(message.integrity == .messageIntegritySHA256)
    #expect(message.verifyIntegrity(key: key, hashes: hashes))
    let written = message.encode(key: key, integrity: .messageIntegritySHA256, fingerprint: false, hashes: hashes)
    #expect(written == bytes)
    // USERHASH and PASSWORD-ALGORITHM have no case here.
    #expect(message.unknownComprehensionRequired().map(\.rawValue) == [0x001e, 0x001d])
    #expect(message.unknownComprehensionRequired(understood: [STUNAttributeType(rawValue: 0x001e)]).count == 1)
  }
}
