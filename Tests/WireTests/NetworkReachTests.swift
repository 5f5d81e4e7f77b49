import Testing
import Wire

@Suite struct NetworkReachTests {
  @Test(arguments: [
    ("192.168.1.5", "192.168.1.9", NetworkReach.localNetwork), ("10.0.0.5", "172.31.255.1", .localNetwork),
    ("192.168.1.5", "172.32.0.1", .elsewhere), ("192.168.1.5", "100.64.0.1", .localNetwork),
    ("192.168.1.5", "100.127.255.255", .localNetwork), ("192.168.1.5", "100.128.0.1", .elsewhere),
    ("192.168.1.5", "100.63.255.255", .elsewhere), ("192.168.1.5", "203.0.113.7", .elsewhere),
    ("203.0.113.9", "203.0.113.7", .localNetwork), ("203.0.113.9", "203.0.114.7", .elsewhere),
    ("2001:db8:1:2::5", "2001:db8:1:2:aaaa::7", .localNetwork), ("2001:db8:1:2::5", "2001:db8:1:3::7", .elsewhere),
    ("2001:db8:1:2::5", "fd00::7", .localNetwork), ("127.0.0.1", "127.0.0.1", .sameMachine),
    ("203.0.113.9", "203.0.113.9", .sameMachine), ("192.168.1.5", "::1", .sameMachine),
  ])
  func addressesTellHowFarAwayTheOtherEndIs(_ local: String, _ remote: String, _ reach: NetworkReach) {
    #expect(NetworkReach(local: IPAddress(local), remote: IPAddress(remote)) == reach)
  }

  @Test func withoutAnAddressItIsHere() {
    #expect(NetworkReach(local: nil, remote: nil) == .localNetwork)
    #expect(NetworkReach(local: nil, remote: IPAddress("198.51.100.1")) == .elsewhere)
  }
}
