import COpenSSL
import TestSupport
import Testing
import Wire

@testable import SecureTransport

@Suite struct CertificateTests {
  @Test func certificateVerifiesWithItsOwnKeyAndNamesNobody() throws {
    let key = PrivateKey.generate()
    let certificate = try Certificate(
      key: key, names: ["localhost", "cradle.local"],
      addresses: [IPAddress("192.0.2.7")!, IPAddress("fe80::1")!])
    let handle = try CertificateHandle(der: certificate.der)
    #expect(key.withPointer { X509_verify(handle.pointer, $0) } == 1)
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
    let key = PrivateKey.generate()
    #expect(try Certificate(key: key).sha256 != Certificate(key: key).sha256)
  }

  @Test(arguments: ["", "a,DNS:evil.example", "a b", "späte.local", String(repeating: "a", count: 254)])
  func namesThatAreNoHostNamesAreRefused(name: String) {
    #expect(throws: SecureError.invalidName(name)) {
      _ = try Certificate(key: .generate(), names: [name])
    }
  }
}
