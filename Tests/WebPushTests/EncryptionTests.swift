import Identity
import Pairing
import Testing
import WebPush
import Wire

/// The vectors of the RFCs, over the cryptography that the programs use.
@Suite struct EncryptionTests {
  private let crypto = WebPushPrimitives()

  private static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

  /// RFC 8188 section 3.1.
  @Test func oneRecordAsPublished() throws {
    let encrypted = EncryptedContent.encrypt(
      [.init(Array("I am the walrus".utf8))], secret: try Self.bytes("yqdlZ-tYemfogSmv7Ws5PQ"),
      salt: try Self.bytes("I1BsxtFttlv3u_Oo94xnmw"), keyID: [], recordSize: 4096, crypto: crypto)
    #expect(
      encrypted.map(Base64URL.encode) == "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
  }

  /// RFC 8188 section 3.2: the first record has one byte of padding.
  @Test func twoRecordsAsPublished() throws {
    let text = Array("I am the walrus".utf8)
    let encrypted = EncryptedContent.encrypt(
      [.init(Array(text[..<7]), padding: 1), .init(Array(text[7...]))],
      secret: try Self.bytes("BO3ZVPxUlnLORbVGMpbT1Q"), salt: try Self.bytes("uNCkWiNYzKTnBN9ji3-qWA"),
      keyID: Array("a1".utf8), recordSize: 25, crypto: crypto)
    #expect(
      encrypted.map(Base64URL.encode)
        == "uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA")
  }

  @Test func recordsThatDoNotFitAreRefused() {
    let salt = [UInt8](repeating: 1, count: 16)
    func encrypt(_ records: [EncryptedContent.Record], salt: [UInt8], size: UInt32) -> [UInt8]? {
      EncryptedContent.encrypt(records, secret: [1], salt: salt, keyID: [], recordSize: size, crypto: crypto)
    }
    #expect(encrypt([.init([1])], salt: salt, size: 18) != nil)
    #expect(encrypt([.init([1])], salt: salt, size: 17) == nil)
    #expect(encrypt([.init([1, 2])], salt: salt, size: 18) == nil)
    #expect(encrypt([.init([1], padding: -1)], salt: salt, size: 18) == nil)
    #expect(encrypt([.init([1], padding: .max)], salt: salt, size: 18) == nil)
    // Only the last record may be short.
    #expect(encrypt([.init([]), .init([1])], salt: salt, size: 18) == nil)
    #expect(encrypt([], salt: salt, size: 18) == nil)
    #expect(encrypt([.init([1])], salt: [], size: 18) == nil)
  }

  /// RFC 8291 section 5 and appendix A.
  @Test func aMessageAsPublished() throws {
    let keys = try #require(
      SubscriptionKeys(
        publicKey: try Self.bytes(
          "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
        secret: try Self.bytes("BTBZMqHH6r4Tts7J_aSIgg"), crypto: crypto))
    let key = try #require(crypto.ephemeralKey(seed: try Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))
    #expect(
      Base64URL.encode(key.publicKey)
        == "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
    let body = MessageEncryption.encrypt(
      Array("When I grow up, I want to be a watermelon".utf8), for: keys, with: key,
      salt: try Self.bytes("DGv6ra1nlYgDCS1FRnbzlw"), crypto: crypto)
    #expect(
      body.map(Base64URL.encode)
        == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w"
        + "EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
  }

  @Test func keysThatAreNoneAreRefused() throws {
    let point = try #require(crypto.ephemeralKey(seed: [1])).publicKey
    let secret = [UInt8](repeating: 1, count: 16)
    #expect(SubscriptionKeys(publicKey: point, secret: secret, crypto: crypto) != nil)
    var beside = point
    beside[64] ^= 1
    #expect(SubscriptionKeys(publicKey: beside, secret: secret, crypto: crypto) == nil)
    #expect(SubscriptionKeys(publicKey: Array(point.dropLast()), secret: secret, crypto: crypto) == nil)
    #expect(SubscriptionKeys(publicKey: [0], secret: secret, crypto: crypto) == nil)
    #expect(SubscriptionKeys(publicKey: point, secret: Array(secret.dropLast()), crypto: crypto) == nil)
    #expect(crypto.ephemeralKey(seed: [0]) == nil)
  }

  @Test func theLongestMessageFillsABody() throws {
    let key = try #require(crypto.ephemeralKey(seed: [2]))
    let browser = try #require(crypto.ephemeralKey(seed: [1]))
    let salt = [UInt8](repeating: 1, count: 16)
    let keys = try #require(SubscriptionKeys(publicKey: browser.publicKey, secret: salt, crypto: crypto))
    let most = [UInt8](repeating: 1, count: MessageEncryption.maximumContentBytes)
    #expect(
      MessageEncryption.encrypt(most, padding: 9, for: keys, with: key, salt: salt, crypto: crypto)?.count
        == MessageEncryption.maximumBodyBytes)
    #expect(MessageEncryption.encrypt(most + [1], for: keys, with: key, salt: salt, crypto: crypto) == nil)
  }
}
