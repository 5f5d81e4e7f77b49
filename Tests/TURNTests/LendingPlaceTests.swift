import TURN
import Testing
import Wire

@Suite struct LendingPlaceTests {
  private static let own = ["192.168.1.20", "198.51.100.7", "2001:db8:1:2::7"].compactMap(IPAddress.init)

  private func mayName(_ server: String, place: String?) throws -> Bool {
    LendingPlace(address: place.flatMap(IPAddress.init)).mayName(try #require(IPAddress(server)), own: Self.own)
  }

  @Test(arguments: [
    "127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "0.0.0.0", "0.1.2.3", "::", "169.254.1.1",
    "fe80::1",
    "224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "ff02::1",
  ])
  func noPlaceNamesThisMachineItsLinkOrMany(server: String) throws {
    for place in ["203.0.113.1", "192.168.1.1"] { #expect(try !mayName(server, place: place)) }
    #expect(try !mayName(server, place: nil))
  }

  @Test(arguments: [
    "192.168.1.1", "10.0.0.1", "172.16.0.1", "100.64.0.1", "fd00::1", "198.51.100.1", "2001:db8:1:2::1",
    "::ffff:10.0.0.1",
  ])
  func aPlaceOnTheInternetNamesNothingAtHome(server: String) throws {
    for place in ["203.0.113.1", "2001:db8:9::1"] { #expect(try !mayName(server, place: place)) }
    #expect(try !mayName(server, place: nil))
  }

  @Test func aPlaceOnThisMachineNamesThisMachine() throws {
    #expect(try mayName("127.0.0.1", place: "127.0.0.1") && mayName("::1", place: "127.0.0.1"))
    #expect(try !mayName("169.254.1.1", place: "127.0.0.1"))
  }

  @Test func aPlaceAtHomeNamesItsNeighbours() throws {
    #expect(try mayName("192.168.1.1", place: "192.168.1.2"))
    #expect(try mayName("198.51.100.1", place: "198.51.100.9"))
    #expect(try mayName("2001:db8:1:2::1", place: "2001:db8:1:2::9"))
    #expect(try mayName("10.0.0.1", place: "127.0.0.1"))
  }

  @Test(arguments: ["203.0.113.5", "192.0.2.1", "2001:db8:7::1"])
  func theInternetIsOpen(server: String) throws {
    #expect(try mayName(server, place: "203.0.113.1"))
    #expect(try mayName(server, place: nil))
  }
}
