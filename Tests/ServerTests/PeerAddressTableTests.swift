import Testing
import Wire

@testable import Server

@Suite struct PeerAddressTableTests {
  private let first = PeerID(number: 1)
  private let second = PeerID(number: 2)

  private func address(_ port: UInt16) -> TransportAddress {
    TransportAddress(ip: .v4(0xc0a8_0001), port: port)
  }

  @Test func aFullTableForgetsTheOldestAddressButNotTheOneInUse() {
    var table = PeerAddressTable()
    for port: UInt16 in 1...64 { table.assign(address(port), to: first, keeping: address(1)) }
    #expect((1...64).allSatisfy { table.owner(of: address($0)) == first })
    for port: UInt16 in 65...200 {
      table.assign(address(port), to: first, keeping: address(1))
      #expect(table.owner(of: address(port)) == first)
    }
    #expect(table.owner(of: address(1)) == first)
    #expect((2...201).filter { table.owner(of: address($0)) == first } == Array(138...200))
  }

  @Test func anAddressThatIsUsedAgainIsNotTheOldest() {
    var table = PeerAddressTable()
    for port: UInt16 in 1...64 { table.assign(address(port), to: first, keeping: nil) }
    table.assign(address(1), to: first, keeping: nil)
    table.assign(address(65), to: first, keeping: nil)
    #expect(table.owner(of: address(1)) == first && table.owner(of: address(2)) == nil)
  }

  @Test func anAddressHasOneOwner() {
    var table = PeerAddressTable()
    table.assign(address(1), to: first, keeping: nil)
    table.claim(address(1), by: second)
    #expect(table.owner(of: address(1)) == first && table.claimant(of: address(1)) == second)
    table.claim(address(2), by: second)
    #expect(table.owner(of: address(2)) == nil && table.claimant(of: address(2)) == nil)
    table.assign(address(1), to: second, keeping: nil)
    #expect(table.owner(of: address(1)) == second && table.claimant(of: address(1)) == nil)
    // What it has lost does not go with it.
    table.forget(first)
    #expect(table.owner(of: address(1)) == second)
    table.forget(second)
    #expect(table.owner(of: address(1)) == nil)
  }
}
