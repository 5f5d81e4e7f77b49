import Pairing
import SecureTransport
import TestSupport
import Testing

@testable import Identity

@Suite struct PairingPrimitivesTests {
  private let crypto = PairingPrimitives()

  /// RFC 7914 section 11.
  @Test func stretchingMatchesPublishedVectors() {
    #expect(
      crypto.stretch(password: Array("passwd".utf8), salt: Array("salt".utf8), iterations: 1, count: 64)
        == Fixture.hex(
          "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
            + "49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"))
    #expect(
      crypto.stretch(password: Array("Password".utf8), salt: Array("NaCl".utf8), iterations: 80000, count: 64)
        == Fixture.hex(
          "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
            + "a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"))
  }

  /// Test cases 1 and 2 of the GCM specification (McGrew and Viega).
  @Test func sealingMatchesPublishedVectors() {
    let key = [UInt8](repeating: 0, count: 16)
    #expect(crypto.seal([], key: key, authenticating: []) == Fixture.hex("58e2fccefa7e3061367f1d57a4e7455a"))
    #expect(
      crypto.seal(key, key: key, authenticating: [])
        == Fixture.hex("0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf"))
  }

  @Test func whatWasSealedOpensUnderTheSameKeyAndContextOnly() {
    let key = [UInt8](1...16)
    let sealed = crypto.seal([1, 2, 3], key: key, authenticating: [9])
    #expect(sealed.count == 3 + 16)
    #expect(crypto.open(sealed, key: key, authenticating: [9]) == [1, 2, 3])
    #expect(crypto.open(sealed, key: key, authenticating: [8]) == nil)
    #expect(crypto.open(sealed, key: key.reversed(), authenticating: [9]) == nil)
    #expect(crypto.open(Array(sealed.dropLast()), key: key, authenticating: [9]) == nil)
    #expect(crypto.open([], key: key, authenticating: [9]) == nil)
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 0x80
      #expect(crypto.open(changed, key: key, authenticating: [9]) == nil)
    }
  }

  @Test func signatureBelongsToItsKeyAndMessage() {
    let identity = NodeIdentity.generate()
    let signature = identity.sign([1, 2])
    #expect(signature.count == IdentityKey.signatureByteCount)
    #expect(identity.publicKeySPKI.count == IdentityKey.byteCount)
    #expect(crypto.isSignature(signature, over: [1, 2], by: identity.publicKeySPKI))
    #expect(!crypto.isSignature(signature, over: [1], by: identity.publicKeySPKI))
    #expect(!crypto.isSignature(signature, over: [1, 2], by: NodeIdentity.generate().publicKeySPKI))
    #expect(!crypto.isSignature(Array(signature.dropLast()), over: [1, 2], by: identity.publicKeySPKI))
    #expect(!crypto.isSignature(signature, over: [1, 2], by: []))
    #expect(!crypto.isSignature(signature, over: [1, 2], by: identity.publicKeySPKI + [0]))
    #expect(!crypto.isSignature(Array(repeating: 0, count: 64), over: [1, 2], by: identity.publicKeySPKI))
  }

  @Test func idsAreTheSameInTheCoreAndHere() {
    let identity = NodeIdentity.generate()
    #expect(IdentityKey.id(publicKeySPKI: identity.publicKeySPKI, hashes: CryptoHashes()) == identity.id)
  }
}
