import SDP
import Signaling
import Testing

@Suite struct TrickleFragmentTests {
  @Test func theExampleOfRFC8840IsRead() throws {
    let fragment = try TrickleFragment(
      parsing: """
        a=ice-pwd:asd88fgpdd777uzjYhagZg
        a=ice-ufrag:8hhY
        m=audio 9 RTP/AVP 0
        a=mid:1
        a=candidate:1 1 UDP 2130706432 2001:db8:a0b:12f0::1 5000 typ host
        a=candidate:2 1 UDP 1694498815 192.0.2.3 5010 typ srflx raddr 203.0.113.3 rport 8998
        a=end-of-candidates
        m=audio 9 RTP/AVP 0
        a=mid:2
        a=candidate:1 1 UDP 2130706432 2001:db8:a0b:12f0::1 5002 typ host
        """)
    #expect(fragment.ufrag == "8hhY" && fragment.pwd == "asd88fgpdd777uzjYhagZg")
    #expect(fragment.sections.map(\.mid) == ["1", "2"])
    #expect(fragment.sections.map(\.candidates.count) == [2, 1])
    #expect(fragment.sections.map(\.endOfCandidates) == [true, false])
    #expect(!fragment.endOfCandidates && fragment.isComplete)
    #expect(try TrickleFragment(parsing: fragment.description) == fragment)
  }

  @Test func credentialsWithinASectionCount() throws {
    let fragment = try TrickleFragment(
      parsing: "a=ice-lite\na=ice-options:trickle ice2\na=group:BUNDLE 0 1\nm=audio 9 UDP/TLS/RTP/SAVPF 111\na=mid:0\n"
        + "a=ice-ufrag:EsAw\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\n")
    #expect(fragment.ufrag == "EsAw" && fragment.isICELite && fragment.bundle == ["0", "1"])
    #expect(fragment.iceOptions == ["trickle", "ice2"] && !fragment.isComplete)
    #expect(try TrickleFragment(parsing: fragment.description) == fragment)
  }

  @Test func candidatesBeforeAnySectionAreTaken() throws {
    let fragment = try TrickleFragment(parsing: "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\na=end-of-candidates\n")
    #expect(fragment.candidates.count == 1 && fragment.isComplete)
  }

  @Test(
    arguments: [
      ("", 1), ("a=mid:0\n", 1), ("m=audio 9 X 0\na=mid:\n", 2), ("m=audio 9 X 0\n", 1), ("a=candidate:\n", 1),
      ("a=ice-ufrag:ab\n", 1), ("a=ice-ufrag:abcd\na=ice-ufrag:abce\n", 2), ("a=ice-pwd:short\n", 1),
      ("candidate\n", 1),
    ])
  func malformedFragmentsAreNamedByLine(text: String, line: Int) {
    let error = #expect(throws: SDPError.self) { try TrickleFragment(parsing: text) }
    #expect(error?.line == line)
  }

  @Test func countsAreBounded() {
    for text in [
      String(repeating: "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\n", count: 129),
      "a=ice-ufrag:abcd\n" + String(repeating: "m=audio 9 X 0\n", count: 33),
    ] {
      #expect(throws: SDPError.self) { try TrickleFragment(parsing: text) }
    }
  }
}
