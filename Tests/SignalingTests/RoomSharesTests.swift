import Identity
import Pairing
import SecureTransport
import TestSupport
import Testing
import Wire

@testable import Signaling

/// A server that is open to all: who makes up children and clients there takes nobody's place but its own.
@Suite struct RoomSharesTests {
  private static let attacker: IPAddress = .v4(0xc000_0201)
  private static let family: IPAddress = .v4(0xc633_6402)

  private var server: RoomServer
  private var now: Instant = .zero
  private var lastNumber: UInt64 = 0
  private var closed: [RoomConnectionID: RoomError.Code] = [:]

  init() {
    var limits = RoomLimits()
    limits.maximumRooms = 8
    limits.maximumConnections = 8 + 24
    limits.maximumVouched = 16
    limits.maximumClientsPerRoom = 32
    limits.maximumVouchedPerRoom = 6
    let hosts = RoomHosts(
      names: ["meet.example.org"], children: nil, verifier: PairingPrimitives(), hashes: CryptoHashes())
    server = RoomServer(limits: limits, hosts: hosts, random: SeededGenerator(seed: 1))
  }

  private mutating func take(_ actions: [RoomAction]) {
    for case .close(let id, let error) in actions { closed[id] = error.code }
  }

  private mutating func connect(from address: IPAddress) -> RoomConnectionID {
    lastNumber += 1
    let id = RoomConnectionID(number: lastNumber)
    take(server.connect(id, from: address, now: now))
    return id
  }

  /// A child comes and proves its key.
  private mutating func host(_ child: LabNode = LabNode(), from address: IPAddress) throws -> RoomConnectionID {
    let id = connect(from: address)
    let joined = server.receive(.register(room: child.id, client: child.id), from: id, now: now)
    guard case .send(_, .registered(let registration))? = joined.first else { throw RoomError(.other, "\(joined)") }
    let proof = child.envelope.seal(
      HostProof(
        child: child.id, server: "meet.example.org", challenge: registration.challenge,
        publicKeySPKI: child.identity.publicKeySPKI))
    take(server.receive(.prove(proof: proof, presence: "here"), from: id, now: now))
    return id
  }

  private mutating func announce(_ id: RoomConnectionID) {
    take(server.receive(.announce(presence: "here"), from: id, now: now))
  }

  private func isHosted(_ child: LabNode) -> Bool { server.remoteHost(of: child.id) != nil }

  /// A client comes, and the host vouches for it.
  private mutating func vouched(_ room: LabNode, by host: RoomConnectionID, from address: IPAddress) -> RoomConnectionID
  {
    let id = connect(from: address)
    take(server.receive(.register(room: room.id, client: "c\(id.number)"), from: id, now: now))
    now += .milliseconds(10)
    take(server.receive(.vouch(client: "c\(id.number)", lifetime: nil), from: host, now: now))
    return id
  }

  // MARK: - Hosts

  @Test mutating func whoMakesUpChildrenLosesItsOwnPlaces() throws {
    let (here, later) = (LabNode(), LabNode())
    let first = try host(here, from: Self.family)
    for _ in 0..<30 { _ = try host(from: Self.attacker) }
    #expect(closed[first] == nil && isHosted(here))
    // One that comes now, and one that comes back.
    let second = try host(later, from: .v4(0xc633_6403))
    #expect(closed[second] == nil && isHosted(later))
    server.disconnect(first)
    _ = try host(from: Self.attacker)
    let again = try host(here, from: Self.family)
    #expect(closed[again] == nil && isHosted(here) && isHosted(later))
    #expect(server.occupancy.hosts == 8)
  }

  @Test mutating func theAddressesOfOneNetworkAreOne() throws {
    let here = LabNode()
    for number in 1...20 as ClosedRange<UInt64> { _ = try host(from: .v6(0x2001_0db8_0000_0001, number)) }
    _ = try host(here, from: .v6(0x2001_0db8_0000_0002, 1))
    for number in 30...50 as ClosedRange<UInt64> { _ = try host(from: .v6(0x2001_0db8_0000_0001, number)) }
    #expect(isHosted(here))
  }

  @Test mutating func manyFamiliesBehindOneAddressHaveAllPlacesUntilAnotherNeedsOne() throws {
    var hosts: [RoomConnectionID] = []
    for _ in 0..<8 { hosts.append(try host(from: Self.family)) }
    #expect(closed.isEmpty)
    let ninth = try host(from: Self.family)
    #expect(closed == [ninth: .full])
    _ = try host(from: Self.attacker)
    #expect(closed == [ninth: .full, hosts[7]: .full])
  }

  @Test mutating func patienceDoesNotMakeHoarding() throws {
    let attackers = try (0..<8).map { _ in try host(from: Self.attacker) }
    now += .seconds(1800)
    for id in attackers { announce(id) }
    let here = LabNode()
    _ = try host(here, from: Self.family)
    #expect(isHosted(here) && server.occupancy.hosts == 8)
    for _ in 0..<30 { _ = try host(from: Self.attacker) }
    #expect(isHosted(here))
  }

  @Test mutating func whoWasHereForLongGoesBeforeNewcomers() throws {
    // Four families behind one address.
    var families: [(LabNode, RoomConnectionID)] = []
    for _ in 0..<4 {
      let child = LabNode()
      families.append((child, try host(child, from: Self.family)))
    }
    now += .seconds(1800)
    for (_, id) in families { announce(id) }
    // Strangers from everywhere, one from each address.
    for number in 0..<30 as Range<UInt32> { _ = try host(from: .v4(0x0a00_0000 + number)) }
    #expect(families.allSatisfy { isHosted($0.0) })
    // Its line was cut, its place taken.
    server.disconnect(families[0].1)
    now += .seconds(3600)
    for number in 30..<60 as Range<UInt32> { _ = try host(from: .v4(0x0a00_0000 + number)) }
    #expect(server.occupancy.hosts == 8)
    _ = try host(families[0].0, from: Self.family)
    #expect(families.allSatisfy { isHosted($0.0) })
  }

  @Test mutating func havingBeenHereOnceIsNotHavingStayed() throws {
    let (visitor, resident) = (LabNode(), LabNode())
    let (once, always) = (try host(visitor, from: Self.attacker), try host(resident, from: Self.family))
    server.disconnect(once)
    now += .seconds(3600)
    announce(always)
    for number in 0..<7 as Range<UInt32> { _ = try host(from: .v4(0x0a00_0000 + number)) }
    let back = try host(visitor, from: Self.attacker)
    #expect(closed[back] == .full)
  }

  @Test mutating func keysThatSomebodyMakesPushNobodyOutOfMemory() throws {
    let (resident, silent) = (LabNode(), LabNode())
    let (first, second) = (try host(resident, from: Self.family), try host(silent, from: Self.family))
    now += .seconds(1800)
    announce(first)
    server.disconnect(first)
    // More than are kept in mind, while one says nothing and the other is away.
    for number in 0..<100 as Range<UInt32> { server.disconnect(try host(from: .v4(0x0a00_0000 + number))) }
    for number in 0..<7 as Range<UInt32> { _ = try host(from: .v4(0x0a00_0000 + number)) }
    let back = try host(resident, from: Self.family)
    #expect(closed[back] == nil && isHosted(resident))
    announce(second)
    server.disconnect(second)
    _ = try host(from: .v4(0x0a00_1000))
    _ = try host(silent, from: Self.family)
    #expect(isHosted(silent))
  }

  // MARK: - Clients

  @Test mutating func clientsThatAnAttackersChildrenVouchForLeavePlacesToOthers() throws {
    let child = LabNode()
    let home = try host(child, from: Self.family)
    let parent = vouched(child, by: home, from: Self.family)
    // Children that come and go; their clients stay.
    for _ in 0..<10 {
      let room = LabNode()
      let host = try host(room, from: Self.attacker)
      for _ in 0..<6 { _ = vouched(room, by: host, from: Self.attacker) }
      server.disconnect(host)
    }
    let later = vouched(child, by: home, from: .v4(0xc633_6403))
    #expect(closed[parent] == nil && closed[later] == nil)
    #expect(server.room(of: parent) == child.id && server.room(of: later) == child.id)
    #expect(server.occupancy.connections <= 1 + 16)
  }

  @Test mutating func ofClientsFromAsManyAddressesTheLargestRoomLosesOne() throws {
    let (child, crowd) = (LabNode(), LabNode())
    let (home, other) = (try host(child, from: Self.family), try host(crowd, from: Self.attacker))
    let parent = vouched(child, by: home, from: .v4(0xc633_6403))
    for number in 0..<6 as Range<UInt32> { _ = vouched(crowd, by: other, from: .v4(0x0a00_0000 + number)) }
    var rest: [RoomConnectionID] = []
    for number in 6..<15 as Range<UInt32> {
      let room = LabNode()
      rest.append(vouched(room, by: try host(room, from: Self.attacker), from: .v4(0x0a00_0000 + number)))
    }
    let last = vouched(child, by: home, from: .v4(0xc633_6404))
    #expect(closed[parent] == nil && closed[last] == nil)
  }

  @Test mutating func longMessagesForWhoIsAwayLeaveRoomForOthers() throws {
    let child = LabNode()
    let home = try host(child, from: Self.family)
    let guest = vouched(child, by: home, from: Self.attacker)
    let long = String(repeating: "m", count: 60_000)
    func isKept(_ actions: [RoomAction]) -> Bool { actions.isEmpty }
    #expect(isKept(server.receive(.send(to: "a0", message: long), from: guest, now: now)))
    #expect(!isKept(server.receive(.send(to: "a0", message: long), from: guest, now: now)), "one client's share")
    var kept = 0
    for number in 1...15 where isKept(server.receive(.send(to: "a\(number)", message: long), from: guest, now: now)) {
      kept += 1
    }
    #expect(kept == 3, "one address's share")
    let parent = vouched(child, by: home, from: Self.family)
    #expect(isKept(server.receive(.send(to: "b", message: long), from: parent, now: now)))
    // They expire, and count no more.
    now += .seconds(31)
    take(server.handleTimeout(now: now))
    #expect(isKept(server.receive(.send(to: "a1", message: long), from: guest, now: now)))
  }
}
