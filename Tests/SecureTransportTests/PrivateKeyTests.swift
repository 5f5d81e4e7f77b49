import SecureTransport
import TestSupport
import Testing

@Suite struct PrivateKeyTests {
  private static func id(_ key: PrivateKey) -> String {
    TestHashes().sha256(key.publicKeySPKI).prefix(8).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test func pemRoundTripKeepsTheKey() throws {
    let key = PrivateKey.generate()
    let again = try PrivateKey(pem: key.pem)
    #expect(again.publicKeySPKI == key.publicKeySPKI)
    #expect(again.pem == key.pem)
    #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(key.pem.hasSuffix("-----END PRIVATE KEY-----\n"))
    #expect(key.publicKeySPKI.count == 91)
    #expect(PrivateKey.generate().publicKeySPKI != key.publicKeySPKI)
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
    let key = try PrivateKey(pem: pem)
    #expect(Self.id(key) == "602a5668efa9a1e9")
    #expect(key.pem == pem)
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
  func sec1KeyIsTheSameWhateverItsForm(pem: String) throws {
    let key = try PrivateKey(pem: pem)
    #expect(Self.id(key) == "602a5668efa9a1e9")
    #expect(key.publicKeySPKI.count == 91)
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
      _ = try PrivateKey(pem: pem)
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
      _ = try PrivateKey(pem: text)
    } throws: { error in
      if case SecureError.malformedKey = error { true } else { false }
    }
  }
}
