import COpenSSL
import TestSupport
import Testing
import Wire

@testable import Secure

@Suite struct NodeIdentityTests {
  @Test func pemRoundTripKeepsKeyAndId() throws {
    let identity = NodeIdentity.generate()
    let again = try NodeIdentity(pem: identity.pem)
    #expect(again.publicKeySPKI == identity.publicKeySPKI)
    #expect(again.id == identity.id)
    #expect(identity.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(identity.pem.hasSuffix("-----END PRIVATE KEY-----\n"))
    #expect(identity.publicKeySPKI.count == 91)
  }

  @Test func idIsTheFirstEightBytesOfTheDigestOfTheSPKI() {
    let identity = NodeIdentity.generate()
    let digest = TestHashes().sha256(identity.publicKeySPKI)
    #expect(Fixture.hex(identity.id) == Array(digest.prefix(8)))
    #expect(identity.id.utf8.count == 16)
    #expect(identity.id == identity.id.lowercased())
  }

  @Test func sec1KeyAfterItsParametersIsRead() throws {
    let identity = NodeIdentity.generate()
    let key = try PrivateKeyHandle(identity: identity)
    let bio = try #require(BIO_new(BIO_s_mem()))
    defer { BIO_free(bio) }
    try #require(PEM_write_bio_PrivateKey_traditional(bio, key.pointer, nil, nil, 0, nil, nil) == 1)
    var bytes: UnsafePointer<UInt8>?
    let count = copenssl_bio_memory(bio, &bytes)
    let sec1 = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    #expect(sec1.contains("BEGIN EC PRIVATE KEY"))
    let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
    #expect(try NodeIdentity(pem: parameters + sec1).id == identity.id)
  }

  @Test(arguments: [
    "", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    "-----END PRIVATE KEY----------BEGIN PRIVATE KEY-----",
  ])
  func otherTextIsAMalformedKey(text: String) {
    #expect {
      _ = try NodeIdentity(pem: text)
    } throws: { error in
      if case SecureError.malformedKey = error { true } else { false }
    }
  }

  @Test func certificateVerifiesWithItsOwnKeyAndNamesNobody() throws {
    let identity = NodeIdentity.generate()
    let certificate = try NodeCertificate(
      identity: identity, names: ["localhost", "cradle.local"],
      addresses: [IPAddress("192.0.2.7")!, IPAddress("fe80::1")!])
    let handle = try CertificateHandle(der: certificate.der)
    let key = try PrivateKeyHandle(identity: identity)
    #expect(X509_verify(handle.pointer, key.pointer) == 1)
    #expect(X509_get_version(handle.pointer) == 2)
    #expect(X509_check_host(handle.pointer, "cradle.local", 0, 0, nil) == 1)
    #expect(X509_check_host(handle.pointer, "other.local", 0, 0, nil) == 0)
    #expect(X509_check_ip_asc(handle.pointer, "192.0.2.7", 0) == 1)
    #expect(X509_check_ip_asc(handle.pointer, "fe80::1", 0) == 1)
    #expect(X509_NAME_entry_count(X509_get_subject_name(handle.pointer)) == 1)
    #expect(certificate.sha256 == TestHashes().sha256(certificate.der))
    #expect(certificate.pem.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    // Valid also for a board that believes in 2021 and until far beyond its life.
    #expect(X509_cmp_time(X509_get0_notBefore(handle.pointer), nil) < 0)
    #expect(X509_cmp_time(X509_get0_notAfter(handle.pointer), nil) > 0)
  }

  @Test func serialNumbersDifferBetweenCertificates() throws {
    let identity = NodeIdentity.generate()
    #expect(try NodeCertificate(identity: identity).sha256 != NodeCertificate(identity: identity).sha256)
  }

  @Test(arguments: ["", "a,DNS:evil.example", "a b", "späte.local", String(repeating: "a", count: 254)])
  func namesThatAreNoHostNamesAreRefused(name: String) {
    #expect(throws: SecureError.invalidName(name)) {
      _ = try NodeCertificate(identity: .generate(), names: [name])
    }
  }

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
