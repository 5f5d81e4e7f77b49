import FuzzBodies
import Testing

/// Runs every body briefly, with the same inputs each time.
@Suite struct FuzzTests {
  /// How many mutated inputs each body gets here; `make fuzz` is where it sees millions.
  private static let iterations = [
    "STUN": 5000, "RTP": 5000, "RTCP": 5000, "VP8 payload": 5000, "DCEP": 2000, "Y4M": 2000, "WAV": 2000,
    "SDP": 300, "WHEP": 300, "WHEP client": 200, "DTLS": 150, "TLS": 150, "peer connection": 100, "JPEG": 500,
    "VP8": 200,
    "configuration": 500, "ICE": 500, "RTP receiving": 500, "audio jitter buffer": 500,
  ]

  @Test(arguments: FuzzBodies.all.map { $0.name })
  func survivesMutatedInput(name: String) throws {
    let body = try #require(FuzzBodies.all.first { $0.name == name })
    Self.run(body, Self.iterations[name] ?? 1000)
  }

  @Test(arguments: FuzzBodies.all.map { $0.name })
  func survivesSavedInput(name: String) throws {
    let body = try #require(FuzzBodies.all.first { $0.name == name })
    for input in SavedInputs.findings(of: body) + SavedInputs.corpus(of: body) { body.run(input) }
  }

  private static func run<Body: FuzzBody>(_ body: Body.Type, _ iterations: Int) {
    Fuzzer.run(body, iterations: iterations)
  }
}
