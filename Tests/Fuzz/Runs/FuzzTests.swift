import Foundation
import FuzzBodies
import Testing

/// Runs every body briefly, with the same inputs each time.
@Suite struct FuzzTests {
  /// `FUZZ_DIVISOR=20 swift test --filter FuzzTests` for a twentieth of the inputs, where a processor is emulated.
  private static let divisor = ProcessInfo.processInfo.environment["FUZZ_DIVISOR"].flatMap(Int.init) ?? 1

  /// How many mutated inputs each body gets here; `make fuzz` is where it sees millions.
  private static let iterations = [
    "STUN": 5000, "RTP": 5000, "RTCP": 5000, "VP8 payload": 5000, "H.264 payload": 5000, "DCEP": 2000, "Y4M": 2000,
    "WAV": 2000,
    "SDP": 300, "WHEP": 300, "WHEP client": 200, "DTLS": 150, "TLS": 150, "peer connection": 100, "JPEG": 500,
    "VP8": 200,
    "configuration": 500, "ICE": 500, "RTP receiving": 500, "audio jitter buffer": 500,
  ]

  @Test(arguments: FuzzBodies.all.map { $0.name })
  func survivesMutatedInput(name: String) throws {
    let body = try #require(FuzzBodies.all.first { $0.name == name })
    Self.run(body, max(5, (Self.iterations[name] ?? 1000) / max(1, Self.divisor)))
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
