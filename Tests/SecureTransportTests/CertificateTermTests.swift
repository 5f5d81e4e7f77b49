import SecureTransport
import Testing
import Wire

@Suite struct CertificateTermTests {
  private static let day: Int64 = 86_400
  private static let validity = 10 * day...100 * day

  @Test(arguments: [
    (9 * day, CertificateTerm.notYet(days: 2), "is not valid yet, only in 2 days"),
    (10 * day - 1, .notYet(days: 1), "is not valid yet, only in 1 day"),
    (10 * day, .good(days: 90), "expires in 90 days"),
    (86 * day - 1, .good(days: 14), "expires in 14 days"),
    (86 * day, .expiring(days: 14), "expires in 14 days"),
    (99 * day, .expiring(days: 1), "expires in 1 day"),
    (100 * day, .expiring(days: 0), "expires within a day"),
    (100 * day + 1, .expired(days: 0), "has expired within the last day"),
    (107 * day, .expired(days: 7), "expired 7 days ago"),
  ])
  func theTermIsSaid(now: Int64, term: CertificateTerm, words: String) {
    let found = CertificateTerm(Self.validity, now: now)
    #expect(found == term && "\(found)" == words)
    #expect(found.isOver == (now < Self.validity.lowerBound || now > Self.validity.upperBound))
  }

  @Test func aServersContextKnowsItsTerm() throws {
    let key = PrivateKey.generate()
    let certificate = try Certificate(key: key, validity: 1_800_000_000...1_900_000_000)
    #expect(try TLSContext(key: key, certificate: certificate).validity == 1_800_000_000...1_900_000_000)
    #expect(try TLSContext(trust: .system).validity == nil)
  }
}
