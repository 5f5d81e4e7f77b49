import Identity
import SecureTransport
import TestSupport
import Testing

@Suite struct NodeIdentityTests {
  @Test func pemRoundTripKeepsKeyAndId() throws {
    let identity = NodeIdentity.generate()
    let again = try NodeIdentity(pem: identity.pem)
    #expect(again.publicKeySPKI == identity.publicKeySPKI)
    #expect(again.id == identity.id)
  }

  @Test func idIsTheFirstEightBytesOfTheDigestOfTheSPKI() {
    let identity = NodeIdentity.generate()
    let digest = TestHashes().sha256(identity.publicKeySPKI)
    #expect(Fixture.hex(identity.id) == Array(digest.prefix(8)))
    #expect(identity.id.utf8.count == 16)
    #expect(identity.id == identity.id.lowercased())
  }

  @Test func textThatIsNoKeyIsRefused() {
    #expect(throws: SecureError.malformedKey("no BEGIN PRIVATE KEY line")) { _ = try NodeIdentity(pem: "") }
  }
}
