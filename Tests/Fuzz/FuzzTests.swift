import Testing

/// Runs every body briefly, with the same inputs each time.
@Suite struct FuzzTests {
  private static let bodies: [(body: any FuzzBody.Type, iterations: Int)] = [
    (STUNFuzz.self, 5000), (ICEFuzz.self, 1000), (SDPFuzz.self, 1000), (WHEPFuzz.self, 1000), (RTPFuzz.self, 5000),
    (RTCPFuzz.self, 5000), (VP8PayloadFuzz.self, 5000), (SCTPFuzz.self, 1000), (DCEPFuzz.self, 2000),
    (DTLSFuzz.self, 300), (ConfigurationFuzz.self, 500), (Y4MFuzz.self, 2000), (WAVFuzz.self, 2000),
    (JPEGFuzz.self, 500), (VP8Fuzz.self, 500), (OpusFuzz.self, 1000),
  ]

  @Test(arguments: bodies.indices)
  func survivesMutatedInput(index: Int) {
    let (body, iterations) = Self.bodies[index]
    Self.run(body, iterations)
  }

  private static func run<Body: FuzzBody>(_ body: Body.Type, _ iterations: Int) {
    Fuzzer.run(body, iterations: iterations)
  }
}
