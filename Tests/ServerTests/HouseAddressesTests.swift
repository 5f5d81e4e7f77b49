import Testing
import Wire

@testable import Server

/// Which of a machine's addresses the others of the house are told. Interfaces are numbered as the kernel made them.
@Suite struct HouseAddressesTests {
  private static func table(
    _ links: [(index: Int32, link: InterfaceTable.Link)], _ addresses: [(Int32, String)],
    routes: [(index: Int32, metric: UInt32, isIPv6: Bool)] = []
  ) -> InterfaceTable {
    var table = InterfaceTable()
    for (index, link) in links { table.apply(.link(link, index: index)) }
    for (index, ip) in addresses {
      table.apply(.address(.init(ip: IPAddress(ip)!, index: index, prefixLength: 24, flags: 0)))
    }
    for route in routes {
      table.apply(.defaultRoute(.init(index: route.index, metric: route.metric, isIPv6: route.isIPv6)))
    }
    return table
  }

  private static func texts(_ table: InterfaceTable) -> [[String]] { table.house.map { $0.map { "\($0)" } } }

  private static let up = InterfaceTable.Link(isRunning: true)
  private static func link(_ kind: String, master: Int32 = 0, isRunning: Bool = true) -> InterfaceTable.Link {
    .init(isRunning: isRunning, kind: kind, master: master)
  }

  /// Docker's bridge, without and with a container, tunnels, and a dummy, all made before the network card was found.
  @Test(arguments: [
    link("bridge", isRunning: false), link("bridge"), link("tun"), link("wireguard"), link("dummy"),
    link("", isRunning: false),
    InterfaceTable.Link(isRunning: true, isPointToPoint: true),
  ])
  func whatLeadsElsewhereIsLeftOut(other: InterfaceTable.Link) {
    let links = [(Int32(1), other), (2, Self.link("veth", master: 1)), (3, Self.up)]
    let addresses = [(Int32(1), "172.17.0.1"), (3, "192.168.5.2")]
    for routes in [[], [(index: Int32(3), metric: UInt32(100), isIPv6: false)]] {
      #expect(Self.texts(Self.table(links, addresses, routes: routes)) == [["192.168.5.2"]], "\(other)")
    }
    // Even where all traffic goes into the tunnel.
    if other.kind != "bridge" {
      let all = [(index: Int32(1), metric: UInt32(0), isIPv6: false), (index: 3, metric: 100, isIPv6: false)]
      #expect(Self.texts(Self.table(links, addresses, routes: all)) == [["192.168.5.2"]], "\(other)")
    }
  }

  @Test func aBridgeOfTheHouseIsTaken() {
    let addresses = [(Int32(5), "192.168.5.2"), (4, "192.168.122.1")]
    // With a network card as its port, or with the way to the router.
    let card = [(Int32(2), Self.link("", master: 5)), (4, Self.link("bridge")), (5, Self.link("bridge"))]
    #expect(Self.texts(Self.table(card, addresses)) == [["192.168.5.2"]])
    let routed = [(Int32(3), Self.link("veth", master: 5)), (4, Self.link("bridge")), (5, Self.link("bridge"))]
    let route = [(index: Int32(5), metric: UInt32(0), isIPv6: false)]
    #expect(Self.texts(Self.table(routed, addresses, routes: route)) == [["192.168.5.2"]])
  }

  @Test func theWayToTheRouterGoesFirst() {
    let links = [(Int32(2), Self.up), (3, Self.up), (4, Self.up)]
    let addresses = [(Int32(2), "10.1.0.2"), (3, "192.168.5.2"), (3, "fd00::2"), (4, "192.168.6.2")]
    let one = [(index: Int32(3), metric: UInt32(600), isIPv6: false)]
    #expect(
      Self.texts(Self.table(links, addresses, routes: one)) == [
        ["192.168.5.2", "fd00::2"], ["10.1.0.2"], ["192.168.6.2"],
      ])
    let two = one + [(index: Int32(4), metric: UInt32(100), isIPv6: false), (index: 2, metric: 1, isIPv6: true)]
    #expect(
      Self.texts(Self.table(links, addresses, routes: two)) == [
        ["192.168.6.2"], ["192.168.5.2", "fd00::2"], ["10.1.0.2"],
      ])
  }

  @Test func thereIsSomethingRatherThanNothing() {
    #expect(Self.texts(Self.table([], [])).isEmpty)
    let loopback = Self.table([(1, Self.up)], [(1, "127.0.0.1")])
    #expect(Self.texts(loopback).isEmpty)
    let linkLocal = Self.table(
      [(1, Self.link("bridge")), (2, Self.up)], [(1, "172.17.0.1"), (2, "169.254.3.4"), (2, "fe80::1")])
    #expect(Self.texts(linkLocal) == [["169.254.3.4"]])
    let both = Self.table([(1, Self.up), (2, Self.up)], [(1, "192.168.5.2"), (1, "169.254.1.1"), (2, "169.254.3.4")])
    #expect(Self.texts(both) == [["192.168.5.2"]])
    #expect(Self.texts(Self.table([(1, Self.link("tun"))], [(1, "10.8.0.2")])) == [["10.8.0.2"]])
    #expect(Self.texts(Self.table([(1, Self.link("bridge", isRunning: false))], [(1, "172.17.0.1")])).isEmpty)
  }

  // MARK: The kernel's messages, on a little-endian machine

  private static func attribute(_ kind: UInt16, _ value: [UInt8]) -> [UInt8] {
    let length = UInt16(4 + value.count)
    let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    return [UInt8(length & 255), UInt8(length >> 8), UInt8(kind & 255), UInt8(kind >> 8)] + value + padding
  }

  private static func message(_ kind: UInt16, _ body: [UInt8]) -> [UInt8] {
    let length = UInt32(16 + body.count)
    return [UInt8(length & 255), UInt8(length >> 8), 0, 0, UInt8(kind), 0, 2, 0] + [7, 0, 0, 0, 0, 0, 0, 0] + body
  }

  @Test func kindMasterAndRoutesAreRead() {
    let bridge: [UInt8] = Array("bridge".utf8) + [0]
    let link =
      [0, 0, 1, 0, 9, 0, 0, 0, 0x41, 0, 0, 0, 0, 0, 0, 0] + Self.attribute(10, [5, 0, 0, 0])
      + Self.attribute(18, Self.attribute(1, bridge))
    #expect(
      RouteMessages.changes(in: Self.message(16, link)) == [
        .link(.init(isRunning: true, isPointToPoint: false, kind: "bridge", master: 5), index: 9)
      ])
    let tunnel: [UInt8] = [0, 0, 0xfe, 0xff, 9, 0, 0, 0, 0x51, 0, 0, 0, 0, 0, 0, 0]
    #expect(
      RouteMessages.changes(in: Self.message(16, tunnel)) == [
        .link(.init(isRunning: true, isPointToPoint: true), index: 9)
      ])
    // Family, length of the destination, …, table, protocol, scope, type.
    func route(_ family: UInt8, length: UInt8, table: UInt8, _ more: [UInt8]) -> [RouteChange] {
      RouteMessages.changes(in: Self.message(24, [family, length, 0, 0, table, 3, 0, 1, 0, 0, 0, 0] + more))
    }
    let out = Self.attribute(4, [3, 0, 0, 0])
    let metric = Self.attribute(6, [88, 2, 0, 0])
    #expect(
      route(2, length: 0, table: 254, out + metric) == [.defaultRoute(.init(index: 3, metric: 600, isIPv6: false))])
    #expect(route(10, length: 0, table: 254, out) == [.defaultRoute(.init(index: 3, metric: 0, isIPv6: true))])
    #expect(route(2, length: 24, table: 254, out).isEmpty && route(2, length: 0, table: 255, out).isEmpty)
    let hops: [UInt8] = [8, 0, 0, 0, 3, 0, 0, 0] + [8, 0, 0, 0, 4, 0, 0, 0]
    #expect(
      route(2, length: 0, table: 254, metric + Self.attribute(9, hops)) == [
        .defaultRoute(.init(index: 3, metric: 600, isIPv6: false)),
        .defaultRoute(.init(index: 4, metric: 600, isIPv6: false)),
      ])
    // Cut anywhere, it is read within its bounds.
    let whole = Self.message(24, [2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0] + metric + Self.attribute(9, hops))
    for count in 0..<whole.count { _ = RouteMessages.changes(in: Array(whole.prefix(count))) }
    for index in whole.indices {
      for value: UInt8 in [0, 1, 7, 0xff] {
        var changed = whole
        changed[index] = value
        _ = RouteMessages.changes(in: changed)
      }
    }
  }
}
