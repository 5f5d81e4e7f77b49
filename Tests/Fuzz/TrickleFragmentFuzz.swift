import SDP
import Signaling

/// What a WHEP viewer sends when it finds more candidates or restarts (RFC 8840).
enum TrickleFragmentFuzz: FuzzBody {
  static let name = "trickle fragment"

  static var seeds: [[UInt8]] {
    let candidate = "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:0\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\n"
    let credentials = "a=ice-ufrag:Neww\na=ice-pwd:newnewnewnewnewnewnewnew\n"
    return [
      candidate + "a=end-of-candidates\n", credentials + candidate,
      "a=ice-lite\r\na=group:BUNDLE 0 1\r\n" + credentials + candidate + candidate,
      "a=ice-options:trickle\n" + candidate + "m=video 0 UDP 0\na=mid:1\n" + credentials,
    ].map { Array($0.utf8) }
  }

  static func run(_ input: [UInt8]) {
    guard let text = String(validating: input, as: UTF8.self), let fragment = try? TrickleFragment(parsing: text)
    else { return }
    // A line end of one byte is written as two, so a large fragment may grow over the limit.
    let written = fragment.description
    guard written.utf8.count <= SDPLimits.bytes else { return }
    do {
      let again = try TrickleFragment(parsing: written)
      precondition(again == fragment, "what was written reads back the same")
    } catch {
      preconditionFailure("what was written is well-formed: \(error)")
    }
  }
}
