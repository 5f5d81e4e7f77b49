import ICE
import TestSupport
import Testing
import Wire

@Suite struct CandidateTests {
  @Test func readsAndWritesTheLinesOfPeers() throws {
    let lines = [
      "candidate:842163049 1 udp 1677729535 192.0.2.1 46154 typ srflx raddr 10.0.0.1 rport 9",
      "candidate:1 1 udp 2113937151 9b36eaac-bb2e-49bb-bb78-21c41c499900.local 51234 typ host generation 0 "
        + "network-cost 999 ufrag EsAw",
      "candidate:3 1 tcp 1518280447 192.168.1.2 9 typ host tcptype active generation 0",
      "candidate:0 1 udp 2122252543 2001:db8::17 50000 typ host",
      "candidate:2 2 udp 92216831 198.51.100.3 49203 typ relay raddr 203.0.113.9 rport 5000",
    ]
    for line in lines {
      let candidate = try ICECandidate(attribute: line)
      #expect(candidate.attribute == line)
      #expect(try ICECandidate(attribute: "a=" + line + "\r\n") == candidate)
    }
    let reflexive = try ICECandidate(attribute: lines[0])
    #expect(reflexive.type == .serverReflexive && reflexive.priority == 1_677_729_535 && reflexive.component == 1)
    #expect(reflexive.relatedAddress == TransportAddress(ip: .v4(0x0a00_0001), port: 9))
    let hidden = try ICECandidate(attribute: lines[1])
    #expect(hidden.isMulticastDNSName && hidden.usernameFragment == "EsAw" && hidden.transportAddress == nil)
    #expect(hidden.extensions.first == .init(name: "generation", value: "0"))
    #expect(try ICECandidate(attribute: lines[2]).transport == .tcp)
  }

  @Test func takesUpperCaseTransportsAndHiddenBases() throws {
    let candidate = try ICECandidate(
      attribute: "candidate:6 1 UDP 1685987327 203.0.113.5 61000 typ srflx raddr 0.0.0.0 rport 0")
    #expect(candidate.transport == .udp && candidate.relatedAddress == nil)
    #expect(candidate.attribute.hasSuffix("typ srflx raddr 0.0.0.0 rport 9"))
  }

  @Test(arguments: [
    "", "candidate:", "candidate:1 1 udp 1 192.0.2.1 5 typ",
    "candidate:é 1 udp 1 192.0.2.1 5 typ host", "candidate:1 0 udp 1 192.0.2.1 5 typ host",
    "candidate:1 257 udp 1 192.0.2.1 5 typ host", "candidate:1 1 udp 4294967296 192.0.2.1 5 typ host",
    "candidate:1 1 udp -1 192.0.2.1 5 typ host", "candidate:1 1 udp 1 192.0.2.256 5 typ host",
    "candidate:1 1 udp 1 192.0.2.1 65536 typ host", "candidate:1 1 udp 1 192.0.2.1 +5 typ host",
    "candidate:1 1 udp 1 fe80::1%eth0 5 typ host", "candidate:1 1 udp 1 na_me.local 5 typ host",
    "candidate:1 1 udp 1 192.0.2.1 5 typ best",
    "candidate:123456789012345678901234567890123 1 udp 1 192.0.2.1 5 typ host",
  ])
  func refusesWhatBreaksTheGrammar(line: String) {
    #expect(throws: ICECandidateError.self) { try ICECandidate(attribute: line) }
  }

  @Test(arguments: ["ufrag", "generation 0 network-cost", "raddr 10.0.0.1 rport x", "rport 9 raddr", "x"])
  func aBrokenExtensionCostsItselfAlone(text: String) throws {
    let candidate = try ICECandidate(attribute: "candidate:1 1 udp 1 192.0.2.1 5 typ host " + text)
    #expect(candidate.address == .ip(TransportAddress(ip: .v4(0xc000_0201), port: 5)))
    #expect(candidate.relatedAddress == nil && candidate.usernameFragment == nil)
  }

  /// Names without a value, in the middle as well; nothing after them changes its meaning.
  @Test(arguments: [
    "ufrag generation 0", "generation ufrag EsAw", "generation 0 network-id ufrag EsAw network-cost 10",
    "raddr rport 9 ufrag EsAw", "rport 9 ufrag EsAw", "raddr 10.0.0.1 ufrag EsAw", "raddr rport ufrag EsAw generation",
    "tcptype ufrag  EsAw  ", "network-id network-cost ufrag EsAw x", "x y ufrag ufrag EsAw",
    "generation 0 ufrag  network-id 1",
  ])
  func aNameWithoutAValueCostsItselfAlone(text: String) throws {
    let candidate = try ICECandidate(attribute: "candidate:1 1 udp 1 192.0.2.1 5 typ srflx " + text)
    #expect(candidate.address == .ip(TransportAddress(ip: .v4(0xc000_0201), port: 5)))
    #expect(candidate.relatedAddress == nil)
    #expect(candidate.usernameFragment == (text.contains("EsAw") ? "EsAw" : nil))
  }

  @Test func refusesLinesWithoutMeasure() throws {
    let many = "candidate:1 1 udp 1 192.0.2.1 5 typ host" + String(repeating: " a b", count: 20)
    let candidate = try ICECandidate(attribute: many + " ufrag EsAw")
    #expect(candidate.extensions.count == 16 && candidate.usernameFragment == "EsAw")
    #expect(throws: ICECandidateError.self) { try ICECandidate(attribute: many + String(repeating: "x", count: 1024)) }
  }

  /// RFC 8445 section 5.1.2.1.
  @Test func prioritiesAndFoundationsFollowTypeAndBase() {
    let base = TransportAddress(ip: .v4(0x0a00_0001), port: 1)
    let mapped = TransportAddress(ip: .v4(0xcb00_7101), port: 2)
    let host = ICECandidate.host(base)
    #expect(host.priority == 2_130_706_431)
    #expect(ICECandidate.serverReflexive(mapped, base: base).priority == 1_694_498_815)
    #expect(ICECandidate.relayed(mapped, related: base).priority == 16_777_215)
    #expect(ICECandidate.host(base, localPreference: 1).priority < host.priority)
    #expect(host.foundation == ICECandidate.host(TransportAddress(ip: base.ip, port: 9)).foundation)
    #expect(host.foundation != ICECandidate.host(mapped).foundation)
    #expect(host.foundation != ICECandidate.serverReflexive(mapped, base: base).foundation)
    #expect(throws: Never.self) { try ICECandidate(attribute: host.attribute) }
  }

  @Test func credentialsAreLongEnoughAndDiffer() {
    var random = SeededGenerator(seed: 1)
    let credentials = (0..<100).map { _ in ICECredentials.random(using: &random) }
    #expect(Set(credentials).count == 100)
    #expect(credentials.allSatisfy { $0.usernameFragment.utf8.count == 8 && $0.password.utf8.count == 24 })
    #expect(credentials.allSatisfy { !($0.usernameFragment + $0.password).contains(":") })
  }
}
