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

  /// An `identity.pem` as the first programs wrote it, with swift-crypto.
  @Test func keyOfTheFirstVersionsIsReadAndWrittenAsItWas() throws {
    let pem = """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgpa4QeSalE6S0a5FA
      J8+O0qFHGnW9uT6XaMcwU8fYDYyhRANCAARrOoAuySOHjxciOoWGMLcJsTvxZMkj
      sI6JMry+QdNIqQi3y/Yfp5SRu1yiYeQP53jZDsyy2FSs0dIqcvI4oukH
      -----END PRIVATE KEY-----

      """
    let identity = try NodeIdentity(pem: pem)
    #expect(identity.id == "602a5668efa9a1e9")
    #expect(identity.pem == pem)
  }

  private static let sec1 = """
    -----BEGIN EC PARAMETERS-----
    BggqhkjOPQMBBw==
    -----END EC PARAMETERS-----
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIKWuEHkmpROktGuRQCfPjtKhRxp1vbk+l2jHMFPH2A2MoAoGCCqGSM49
    AwEHoUQDQgAEazqALskjh48XIjqFhjC3CbE78WTJI7COiTK8vkHTSKkIt8v2H6eU
    kbtcomHkD+d42Q7MsthUrNHSKnLyOKLpBw==
    -----END EC PRIVATE KEY-----
    """
  private static let compressedSEC1 = """
    -----BEGIN EC PRIVATE KEY-----
    MFcCAQEEIKWuEHkmpROktGuRQCfPjtKhRxp1vbk+l2jHMFPH2A2MoAoGCCqGSM49
    AwEHoSQDIgADazqALskjh48XIjqFhjC3CbE78WTJI7COiTK8vkHTSKk=
    -----END EC PRIVATE KEY-----
    """

  @Test(arguments: [sec1, compressedSEC1])
  func sec1KeyGivesTheSameIdWhateverItsForm(pem: String) throws {
    let identity = try NodeIdentity(pem: pem)
    #expect(identity.id == "602a5668efa9a1e9")
    #expect(identity.publicKeySPKI.count == 91)
  }

  /// On P-384; encrypted; with a public half that belongs to another key.
  @Test(arguments: [
    """
    -----BEGIN EC PRIVATE KEY-----
    MIGkAgEBBDAygd3PMPWwq3YSbgvUHjqSsCZVRryNtk+XmOdGNAMZ+YypxGGqQU2I
    7Rq5i/t5c0ugBwYFK4EEACKhZANiAARZLDdwd43HQsK1on5ID8rRGY5bY8HhpFGT
    iY7KhsAHzaf6XFuvp6J0x1bCtAdQtsBxNqmB9SdmoaeLvTimTavQOIVwbpmL71ds
    MggkZwkbYdcp+dOWrQS8mqA2SRVuVgk=
    -----END EC PRIVATE KEY-----
    """,
    """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,F08E65B36F8779362B78AEE85F75FDB4

    GrRa2dUgwbRdcG55f5Wva4nfqOPxMC+xFctba96hsKcd4WQKgYj19d2L6phI7tBh
    wmAlBH9xXKNVWxxbdxpsbZlNXKOsGdC/7iEul2ZqKp/xPTtIcAJCvGTlVjwE3LcI
    8eFxihJvXEiNL29wHgq12+zHOSMVhmYEB/eXNAYoHdg=
    -----END EC PRIVATE KEY-----
    """,
    """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEIBdIEhEJiQr1/saHuhygqTK+q3A5cailIL/0ylJncnpUoAoGCCqGSM49
    AwEHoUQDQgAEorE3xTPYO4Nid+EWxkHxVBQfUKY0n+dZmLiBF+y3RIM8oE48t9AZ
    t3AlO9Inzzm5mIguitvCSaqPcD1p7eDx4Q==
    -----END EC PRIVATE KEY-----
    """,
  ])
  func keysThatCannotServeAreRefused(pem: String) {
    #expect {
      _ = try NodeIdentity(pem: pem)
    } throws: { error in
      if case SecureError.malformedKey = error { true } else { false }
    }
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
    #expect(identity.key.withPointer { X509_verify(handle.pointer, $0) } == 1)
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
