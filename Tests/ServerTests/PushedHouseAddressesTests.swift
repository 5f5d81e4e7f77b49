import Testing
import Wire

@testable import Server

/// A push service that a browser names must not be a device of the house, whatever its address looks like.
@Suite struct PushedHouseAddressesTests {
  @Test func whatIsReachedWithoutARouterIsInTheHouse() {
    let house = HouseAddresses()
    #expect(house.contains(.v4(0x7f00_0001)) && house.contains(.v4(0x7f01_0203)))
    #expect(!house.contains(.v4(0xcb00_7109)))
    for address in LocalAddresses.current(includingLoopback: true) { #expect(house.contains(address)) }
  }

  /// 2001:db8:0:1::/64, and what a prefix of another length has.
  @Test func theMaskOfTheInterfaceCounts() {
    let own = IPAddress.v6(0x2001_0db8_0000_0001, 5)
    let mask = IPAddress.v6(.max, 0)
    #expect(HouseAddresses.isSameNetwork(own, .v6(0x2001_0db8_0000_0001, 99), mask: mask))
    #expect(!HouseAddresses.isSameNetwork(own, .v6(0x2001_0db8_0000_0002, 5), mask: mask))
    let wide = IPAddress.v6(0xffff_ffff_ffff_ff00, 0)
    #expect(HouseAddresses.isSameNetwork(own, .v6(0x2001_0db8_0000_0002, 5), mask: wide))
    let single = IPAddress.v6(.max, .max)
    #expect(!HouseAddresses.isSameNetwork(own, .v6(0x2001_0db8_0000_0001, 6), mask: single))
    #expect(HouseAddresses.isSameNetwork(.v4(0x0808_0801), .v4(0x0808_08fe), mask: .v4(0xffff_ff00)))
    #expect(!HouseAddresses.isSameNetwork(.v4(0x0808_0801), .v4(0x0808_0901), mask: .v4(0xffff_ff00)))
    // A tunnel's.
    #expect(!HouseAddresses.isSameNetwork(own, .v6(0x2a00_0000_0000_0000, 1), mask: .v6(0, 0)))
    #expect(!HouseAddresses.isSameNetwork(.v4(1), own, mask: .v4(0)))
  }

  @Test func theRoutersOuterAddressIsTheHouseOnceAServerHasSeenIt() {
    let house = HouseAddresses()
    #expect(!house.contains(.v4(0x0808_0808)))
    house.add(mapped: .v4(0x0808_0808))
    #expect(house.contains(.v4(0x0808_0808)))
    for number in 0..<100 as Range<UInt32> { house.add(mapped: .v4(0x0909_0000 + number)) }
    #expect(!house.contains(.v4(0x0808_0808)) && house.contains(.v4(0x0909_0063)))
  }
}
