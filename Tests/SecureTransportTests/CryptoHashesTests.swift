import SecureTransport
import TestSupport
import Testing

@Suite struct CryptoHashesTests {
  /// RFC 2202, RFC 4231, RFC 1321 and FIPS 180 examples.
  @Test func hashesMatchPublishedVectors() {
    let hashes = CryptoHashes()
    let key = [UInt8](repeating: 0x0b, count: 20)
    let text = Array("Hi There".utf8)
    #expect(hashes.hmacSHA1(key: key, message: text) == Fixture.hex("b617318655057264e28bc0b6fb378c8ef146be00"))
    #expect(
      hashes.hmacSHA256(key: key, message: text)
        == Fixture.hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
    #expect(hashes.md5(Array("abc".utf8)) == Fixture.hex("900150983cd24fb0d6963f7d28e17f72"))
    #expect(
      hashes.sha256(Array("abc".utf8))
        == Fixture.hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
  }
}
