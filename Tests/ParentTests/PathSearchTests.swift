import Testing
import Wire

@testable import Parent

/// What a person is told when no path was found.
@Suite struct PathSearchTests {
  private static let reflexive = "candidate:1 1 udp 1694498815 198.51.100.7 40000 typ srflx raddr 10.0.0.1 rport 5000"
  private static let relayed = "candidate:2 1 udp 16777215 192.0.2.9 50000 typ relay raddr 198.51.100.7 rport 40000"

  private static func failure(
    _ reach: NetworkReach = .elsewhere, paths: PathChoice = .any, hasServers: Bool = true, found: [String] = [],
    relayFailure: String? = nil
  ) -> String {
    var search = PathSearch(reach: reach, paths: paths, hasServers: hasServers)
    for candidate in found { search.note(candidate) }
    search.relayFailure = relayFailure
    return search.failure
  }

  @Test func atHomeAFirewallIsLikely() {
    #expect(Self.failure(.localNetwork).contains("firewall"))
  }

  @Test func withoutServersTheyAreWhatIsMissing() {
    #expect(Self.failure(hasServers: false).contains("no STUN or TURN server is known"))
  }

  @Test func serversThatDoNotAnswerAreSaidToBeBlocked() {
    #expect(Self.failure().contains("no STUN or TURN server answered"))
    #expect(Self.failure(found: ["candidate:nonsense"]).contains("no STUN or TURN server answered"))
  }

  @Test func betweenTwoNarrowNetworksARelayIsNeeded() {
    #expect(Self.failure(found: [Self.reflexive]).contains("a relay is needed. Name a TURN server"))
    #expect(Self.failure(paths: .direct, found: [Self.reflexive]).contains("leave out `--path direct`"))
  }

  @Test func aRelayThatRefusesIsNamedInItsWords() {
    let reason = "turn:192.0.2.2:3478?transport=udp: the TURN server refuses the user name or the password"
    #expect(Self.failure(found: [Self.reflexive], relayFailure: reason).contains(reason))
    #expect(Self.failure(paths: .relay, relayFailure: reason) == "no relay could be used: \(reason)")
  }

  @Test func notEvenTheRelayHelped() {
    #expect(Self.failure(found: [Self.reflexive, Self.relayed]).contains("not even through the relay"))
  }
}
