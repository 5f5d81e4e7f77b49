import STUN
import TestSupport
import Wire

/// Whatever arrives at the socket and may be STUN.
enum STUNFuzz: FuzzBody {
  static let name = "STUN"

  static var seeds: [[UInt8]] {
    [
      "stun-rfc5769-request.bin", "stun-rfc5769-response-ipv4.bin", "stun-rfc5769-response-ipv6.bin",
      "stun-rfc5769-request-long-term.bin", "stun-rfc8489-request-long-term-sha256.bin",
    ].map { Fixture.bytes($0) }
  }

  static func run(_ input: [UInt8]) {
    let hashes = TestHashes()
    let isSTUN = STUNMessage.isSTUN(input)
    guard let message = try? STUNMessage(decoding: input) else { return }
    precondition(isSTUN, "what decodes passes the quick test")
    _ = message.verifyIntegrity(key: [1], hashes: hashes)
    _ = message.hasValidFingerprint
    _ = message.unknownComprehensionRequired()
    let written = message.encode(key: [1], hashes: hashes)
    guard let again = try? STUNMessage(decoding: written) else {
      // Integrity and FINGERPRINT may take the place of the last attribute that is allowed in number or length.
      return
    }
    precondition(again.attributes == message.attributes, "what was read is written the same")
    precondition(again.verifyIntegrity(key: [1], hashes: hashes) && again.hasValidFingerprint == true)
  }
}
