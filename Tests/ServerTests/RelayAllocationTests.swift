import NIOCore
import NIOPosix
import STUN
import Synchronization
import TURN
import Testing
import Wire

@testable import Server

@Suite(.timeLimit(.minutes(1))) struct RelayAllocationTests {
  /// The client's ports, in the order of their first requests.
  private final class Ports: Sendable {
    let seen = Mutex<[UInt16]>([])

    /// How many there have been, this one included.
    func note(_ port: UInt16) -> Int {
      seen.withLock { seen in
        if !seen.contains(port) { seen.append(port) }
        return seen.count
      }
    }
  }

  @Test func aPortThatTheServerTakesForAnothersIsChangedOnce() async throws {
    let ports = Ports()
    let lab = try await RelayLab { request, port in
      ports.note(port) == 1 ? request.errorResponse(code: 437, reason: "Allocation Mismatch") : nil
    }
    let (allocation, events) = try await lab.open()
    guard case .allocated(let relayed, let mapped)? = await events.next() else {
      Issue.record("no allocation")
      return
    }
    let seen = ports.seen.withLock { $0 }
    #expect(relayed == RelayLab.relayed && seen.count == 2 && mapped.port == seen[1])
    try await lab.run { allocation.close() }
    guard case .ended(.closed)? = await events.next() else {
      Issue.record("not closed")
      return
    }
  }

  @Test func aServerThatNeverTakesAPortIsAMismatch() async throws {
    let ports = Ports()
    let lab = try await RelayLab { request, port in
      _ = ports.note(port)
      return request.errorResponse(code: 437, reason: "Allocation Mismatch")
    }
    let (allocation, events) = try await lab.open()
    guard case .ended(.mismatch)? = await events.next() else {
      Issue.record("not a mismatch")
      return
    }
    #expect(ports.seen.withLock { $0.count } == 2)
    _ = allocation
  }

  /// Two servers that send their users to each other.
  @Test func redirectionsInACircleEnd() async throws {
    let circle = Circle()
    let rule: RelayLab.Rule = { request, _ in
      let target = circle.next()
      var answer = request.errorResponse(code: 300, reason: "Try Alternate")
      answer.attributes.append(.alternateServer(TransportAddress(ip: .v4(0x7f00_0001), port: target)))
      return answer
    }
    let (one, other) = (try await RelayLab(rule: rule), try await RelayLab(rule: rule))
    circle.ports.withLock { $0 = [one.port, other.port] }
    let (allocation, events) = try await one.open()
    guard case .ended(.redirected)? = await events.next() else {
      Issue.record("it goes on")
      return
    }
    #expect(circle.requests.withLock { $0 } == 2)
    _ = allocation
  }

  private final class Circle: Sendable {
    let ports = Mutex<[UInt16]>([])
    let requests = Mutex(0)

    /// To the second server first.
    func next() -> UInt16 {
      let count = requests.withLock { requests in
        requests += 1
        return requests
      }
      return ports.withLock { $0[count % 2] }
    }
  }

  /// What a stalled connection does not take is left out, so that what follows is not late.
  @Test func aStalledConnectionHoldsLittle() async throws {
    let lab = try await RelayLab(isStream: true)
    let (allocation, events) = try await lab.open("tcp")
    guard case .allocated? = await events.next() else {
      Issue.record("no allocation")
      return
    }
    let peer = TransportAddress(ip: .v4(0xc633_6401), port: 9)
    let payload = [UInt8](repeating: 1, count: 1200)
    // What comes before the channel would be dropped for want of it.
    try await lab.run { allocation.send(payload, to: peer) }
    while try await lab.run({ !allocation.hasChannel(to: peer) }) { try await Task.sleep(for: .milliseconds(1)) }
    for _ in 0..<200 {
      try await lab.run { for _ in 0..<50 { allocation.send(payload, to: peer) } }
    }
    let dropped = try await lab.run { allocation.congestionDrops }
    // 10,000 datagrams are 12 MB; what the other side's kernel takes counts, too.
    #expect(dropped > 9000, "\(dropped)")
    try await lab.run { allocation.close() }
  }

  @Test func anotherOwnAddressEndsIt() async throws {
    let lab = try await RelayLab()
    let (allocation, events) = try await lab.open()
    guard case .allocated? = await events.next() else {
      Issue.record("no allocation")
      return
    }
    // By the real routes; then none; then from elsewhere.
    try await lab.run {
      allocation.addressesChanged([])
      allocation.sourceToward = { _ in nil }
      allocation.addressesChanged([])
      #expect(allocation.relayedAddress != nil)
      allocation.sourceToward = { _ in .v4(0xc000_0209) }
      allocation.addressesChanged([.v4(0x7f00_0001)])
    }
    guard case .ended(.transportLost)? = await events.next() else {
      Issue.record("it goes on")
      return
    }
  }

  @Test func aConnectionEndsWithItsAddress() async throws {
    let lab = try await RelayLab(isStream: true)
    let (allocation, events) = try await lab.open("tcp")
    guard case .allocated? = await events.next() else {
      Issue.record("no allocation")
      return
    }
    try await lab.run {
      allocation.sourceToward = { _ in .v4(0xc000_0209) }
      allocation.addressesChanged([.v4(0x7f00_0001), .v4(0xc000_0209)])
      #expect(allocation.relayedAddress != nil)
      allocation.addressesChanged([.v4(0xc000_0209)])
    }
    guard case .ended(.transportLost)? = await events.next() else {
      Issue.record("it goes on")
      return
    }
  }

  @Test func theSourceIsThatOfTheRoute() throws {
    let loopback = [IPAddress.v4(0x7f00_0001), .v6(0, 1)]
    for ip in loopback { #expect(SourceAddress.toward(TransportAddress(ip: ip, port: 9)) == ip) }
    // A socket that may not send to broadcast addresses has no way there.
    #expect(SourceAddress.toward(TransportAddress(ip: .v4(0xffff_ffff), port: 9)) == nil)
  }

  @Test func aNameIsResolvedAndAnotherIsNot() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let addresses = try await RelayResolver.addresses(of: try #require(ICEServerURL("stun:localhost")), on: loop).get()
    #expect(addresses.contains(.v4(0x7f00_0001)) || addresses.contains(.v6(0, 1)))
    let literal = try await RelayResolver.addresses(of: try #require(ICEServerURL("turn:[::1]:1")), on: loop).get()
    #expect(literal == [.v6(0, 1)])
    // No name server is asked about an interface that is not there.
    await #expect(throws: TURNFailure.self) {
      try await RelayResolver.addresses(of: try #require(ICEServerURL("stun:[fe80::1%none9]")), on: loop).get()
    }
  }

  @Test func whatIsClosedBeforeItIsOpenEnds() async throws {
    let lab = try await RelayLab()
    let (allocation, events) = try await lab.open { $0.close() }
    guard case .ended(.closed)? = await events.next() else {
      Issue.record("not closed")
      return
    }
    #expect(try await lab.run { allocation.relayedAddress == nil })
  }
}
