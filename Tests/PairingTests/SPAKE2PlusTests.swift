import Identity
import SecureTransport
import TestSupport
import Testing
import Wire

@testable import Pairing

/// RFC 9383 Appendix C has one vector for P256-SHA256-HKDF-SHA256-HMAC-SHA256. The group's part is also checked with the
/// one of draft-bar-cfrg-spake2plus-01, whose keys were derived otherwise.
@Suite struct SPAKE2PlusTests {
  private let crypto = PairingPrimitives()
  private let names = SPAKE2PlusNames(
    context: Array("SPAKE2+-P256-SHA256-HKDF-SHA256-HMAC-SHA256 Test Vectors".utf8), prover: Array("client".utf8),
    verifier: Array("server".utf8))

  private func scalar(_ hex: String) -> P256Scalar {
    P256Scalar(reducedBytes: Fixture.hex(hex))
  }

  private var secrets: SPAKE2PlusSecrets {
    SPAKE2PlusSecrets(
      w0: scalar("bb8e1bbcf3c48f62c08db243652ae55d3e5586053fca77102994f23ad95491b3"),
      w1: scalar("7e945f34d78785b8a3ef44d0df5a1a97d6b3b460409a345ca7830387a74b1dba"))
  }
  private var x: P256Scalar { scalar("d1232c8e8693d02368976c174e2088851b8365d0d79a9eee709c6a05a2fad539") }
  private var y: P256Scalar { scalar("717a72348a182085109c8d3917d6c43d59b224dc6a7fc4f0483232fa6516d8b3") }
  private let shareP = Fixture.hex(
    "04ef3bd051bf78a2234ec0df197f7828060fe9856503579bb1733009042c15c0c1"
      + "de127727f418b5966afadfdd95a6e4591d171056b333dab97a79c7193e341727")
  private let shareV = Fixture.hex(
    "04c0f65da0d11927bdf5d560c69e1d7d939a05b0e88291887d679fcadea75810fb"
      + "5cc1ca7494db39e82ff2f50665255d76173e09986ab46742c798a9a68437b048")
  private let shared = Fixture.hex("0c5f8ccd1413423a54f6c1fb26ff01534a87f893779c6e68666d772bfd91f3e7")

  @Test func recordMatchesTheVector() throws {
    let record = try #require(SPAKE2PlusRecord(secrets, group: crypto))
    #expect(
      record.l.bytes
        == Fixture.hex(
          "04eb7c9db3d9a9eb1f8adab81b5794c1f13ae3e225efbe91ea487425854c7fc00f"
            + "00bfedcbd09b2400142d40a14f2064ef31dfaa903b91d1faea7093d835966efd"))
  }

  @Test func keyScheduleMatchesTheVector() throws {
    let z = try #require(
      crypto.point(
        Fixture.hex(
          "04bbfce7dd7f277819c8da21544afb7964705569bdf12fb92aa388059408d50091"
            + "a0c5f1d3127f56813b5337f9e4e67e2ca633117a4fbd559946ab474356c41839")))
    let v = try #require(
      crypto.point(
        Fixture.hex(
          "0458bf27c6bca011c9ce1930e8984a797a3419797b936629a5a937cf2f11c8b951"
            + "4b82b993da8a46e664f23db7c01edc87faa530db01c2ee405230b18997f16b68")))
    let keys = SPAKE2Plus.keys(
      names: names, shareP: try #require(crypto.point(shareP)), shareV: try #require(crypto.point(shareV)), z: z, v: v,
      w0: secrets.w0, hashes: crypto.hashes)
    #expect(
      keys.confirmProver == Fixture.hex("871ae3f7b78445e34438fb284504240239031c39d80ac23eb5ab9be5ad6db58a"))
    #expect(
      keys.confirmVerifier == Fixture.hex("ccd53c7c1fa37b64a462b40db8be101cedcf838950162902054e644b400f1680"))
    #expect(keys.shared == shared)
  }

  @Test func bothRolesMatchTheVector() throws {
    var prover = try SPAKE2PlusProver(names: names, secrets: secrets, x: x, crypto: crypto)
    #expect(prover.share == shareP)
    let record = try #require(SPAKE2PlusRecord(secrets, group: crypto))
    var verifier = try SPAKE2PlusVerifier(names: names, record: record, y: y, proverShare: prover.share, crypto: crypto)
    #expect(verifier.share == shareV)
    #expect(
      verifier.confirmation == Fixture.hex("9747bcc4f8fe9f63defee53ac9b07876d907d55047e6ff2def2e7529089d3e68"))
    let outcome = try prover.receive(share: verifier.share, confirmation: verifier.confirmation)
    #expect(outcome.confirmation == Fixture.hex("926cc713504b9b4d76c9162ded04b5493e89109f6d89462cd33adc46fda27527"))
    #expect(outcome.sharedKey == shared)
    #expect(try verifier.receive(confirmation: outcome.confirmation) == shared)
  }

  @Test func groupMatchesTheDraftsVector() throws {
    let w0 = scalar("e6887cf9bdfb7579c69bf47928a84514b5e355ac034863f7ffaf4390e67d798c")
    let w1 = scalar("24b5ae4abda868ec9336ffc3b78ee31c5755bef1759227ef5372ca139b94e512")
    let x = scalar("8b0f3f383905cf3a3bb955ef8fb62e24849dd349a05ca79aafb18041d30cbdb6")
    let y = scalar("2e0895b0e763d6d5a9564433e64ac3cac74ff897f6c3445247ba1bab40082a91")
    let record = try #require(SPAKE2PlusRecord(SPAKE2PlusSecrets(w0: w0, w1: w1), group: crypto))
    #expect(
      record.l.bytes
        == Fixture.hex(
          "0495645cfb74df6e58f9748bb83a86620bab7c82e107f57d6870da8cbcb2ff9f70"
            + "63a14b6402c62f99afcb9706a4d1a143273259fe76f1c605a3639745a92154b9"))
    let shareP = try #require(SPAKE2Plus.share(x, w0: w0, mask: SPAKE2Plus.m, group: crypto))
    #expect(
      shareP.bytes
        == Fixture.hex(
          "04af09987a593d3bac8694b123839422c3cc87e37d6b41c1d630f000dd64980e53"
            + "7ae704bcede04ea3bec9b7475b32fa2ca3b684be14d11645e38ea6609eb39e7e"))
    let shareV = try #require(SPAKE2Plus.share(y, w0: w0, mask: SPAKE2Plus.n, group: crypto))
    #expect(
      shareV.bytes
        == Fixture.hex(
          "04417592620aebf9fd203616bbb9f121b730c258b286f890c5f19fea833a9c900c"
            + "be9057bc549a3e19975be9927f0e7614f08d1f0a108eede5fd7eb5624584a4f4"))
    let peer = try #require(SPAKE2Plus.unmask(shareP, w0: w0, mask: SPAKE2Plus.m, group: crypto))
    #expect(
      crypto.multiply(peer, by: y)?.bytes
        == Fixture.hex(
          "0471a35282d2026f36bf3ceb38fcf87e3112a4452f46e9f7b47fd769cfb570145b"
            + "62589c76b7aa1eb6080a832e5332c36898426912e29c40ef9e9c742eee82bf30"))
  }

  private func sharedKey(_ proverNames: SPAKE2PlusNames, _ verifierNames: SPAKE2PlusNames) throws -> [UInt8] {
    var prover = try SPAKE2PlusProver(names: proverNames, secrets: secrets, x: x, crypto: crypto)
    let record = try #require(SPAKE2PlusRecord(secrets, group: crypto))
    var verifier = try SPAKE2PlusVerifier(
      names: verifierNames, record: record, y: y, proverShare: prover.share, crypto: crypto)
    let outcome = try prover.receive(share: verifier.share, confirmation: verifier.confirmation)
    #expect(try verifier.receive(confirmation: outcome.confirmation) == outcome.sharedKey)
    return outcome.sharedKey
  }

  @Test func eachCombinationOfNamesAgreesOnAKeyOfItsOwn() throws {
    var keys: Set<[UInt8]> = []
    for (prover, verifier) in [("client", "server"), ("client", ""), ("", "server"), ("", ""), ("server", "client")] {
      let names = SPAKE2PlusNames(context: names.context, prover: Array(prover.utf8), verifier: Array(verifier.utf8))
      keys.insert(try sharedKey(names, names))
    }
    #expect(keys.count == 5)
  }

  @Test func differentNamesOrContextDoNotAgree() throws {
    var other = names
    other.verifier = Array("other".utf8)
    #expect(throws: SPAKE2PlusError.wrongConfirmation) { try sharedKey(names, other) }
    other = names
    other.context.append(0)
    #expect(throws: SPAKE2PlusError.wrongConfirmation) { try sharedKey(names, other) }
  }

  @Test func shareThatGivesTheIdentityIsRefused() throws {
    let record = try #require(SPAKE2PlusRecord(secrets, group: crypto))
    // w0 * M alone: unmasking leaves nothing.
    let mask = try #require(crypto.multiply(SPAKE2Plus.m, by: secrets.w0))
    #expect(throws: SPAKE2PlusError.invalidShare) {
      _ = try SPAKE2PlusVerifier(names: names, record: record, y: y, proverShare: mask.bytes, crypto: crypto)
    }
    var prover = try SPAKE2PlusProver(names: names, secrets: secrets, x: x, crypto: crypto)
    let mask2 = try #require(crypto.multiply(SPAKE2Plus.n, by: secrets.w0))
    #expect(throws: SPAKE2PlusError.invalidShare) {
      _ = try prover.receive(share: mask2.bytes, confirmation: Array(repeating: 0, count: 32))
    }
  }

  @Test func eachSideAnswersOnceOnly() throws {
    var prover = try SPAKE2PlusProver(names: names, secrets: secrets, x: x, crypto: crypto)
    let record = try #require(SPAKE2PlusRecord(secrets, group: crypto))
    var verifier = try SPAKE2PlusVerifier(names: names, record: record, y: y, proverShare: prover.share, crypto: crypto)
    #expect(throws: SPAKE2PlusError.wrongConfirmation) {
      _ = try prover.receive(share: verifier.share, confirmation: Array(repeating: 0, count: 32))
    }
    #expect(throws: SPAKE2PlusError.outOfOrder) {
      _ = try prover.receive(share: verifier.share, confirmation: verifier.confirmation)
    }
    #expect(throws: SPAKE2PlusError.wrongConfirmation) { _ = try verifier.receive(confirmation: []) }
    #expect(throws: SPAKE2PlusError.outOfOrder) { _ = try verifier.receive(confirmation: []) }
  }
}

@Suite struct HKDFTests {
  /// RFC 5869 Appendix A.1 and A.3.
  @Test func matchesPublishedVectors() {
    let secret = [UInt8](repeating: 0x0b, count: 22)
    #expect(
      HKDF.derive(
        from: secret, salt: Array(0...12), info: Array(0xf0...0xf9), count: 42, hashes: CryptoHashes())
        == Fixture.hex(
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
    #expect(
      HKDF.derive(from: secret, info: [], count: 42, hashes: CryptoHashes())
        == Fixture.hex(
          "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
  }
}
