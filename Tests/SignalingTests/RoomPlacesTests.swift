import TestSupport
import Testing
import Wire

@testable import Signaling

/// The places of a child's room: who fills them does not keep a parent out.
@Suite struct RoomPlacesTests {
  private static let room = "0123456789abcdef"
  private static let host = RoomConnectionID(number: 0)
  private static let attacker: IPAddress = .v4(0xc0a8_0166)
  private static let family: IPAddress = .v4(0xc0a8_0102)

  private var server: RoomServer = {
    var server = RoomServer(random: SeededGenerator(seed: 1))
    server.open(room: room, host: host)
    return server
  }()
  private var lastNumber: UInt64 = 0

  /// Those that were closed for it.
  private mutating func join(from address: IPAddress) -> (id: RoomConnectionID, closed: [RoomConnectionID]) {
    lastNumber += 1
    let id = RoomConnectionID(number: lastNumber)
    let actions =
      server.connect(id, from: address, now: .zero)
      + server.receive(.register(room: Self.room, client: "c\(lastNumber)"), from: id, now: .zero)
    return (id, actions.compactMap { if case .close(let id, _) = $0 { id } else { nil } })
  }

  private mutating func isHere(_ id: RoomConnectionID) -> Bool {
    !server.receive(.send(to: Self.room, message: "x"), from: id, now: .zero).isEmpty
  }

  @Test mutating func oneAddressHoldsNoMoreThanItsShare() {
    var held: [RoomConnectionID] = []
    for number in 0..<100 {
      let (id, closed) = join(from: Self.attacker)
      #expect(closed == (number < 16 ? [] : [held[number - 16]]))
      held.append(id)
    }
    #expect(held.filter { isHere($0) }.count == 16)
  }

  @Test mutating func fullOfStrangersFromManyAddressesAParentStillGetsIn() {
    for number in 0..<64 { #expect(join(from: .v6(0, UInt64(number) + 2)).closed.isEmpty) }
    let (parent, closed) = join(from: Self.family)
    #expect(closed == [RoomConnectionID(number: 1)] && isHere(parent))
    server.vouch(for: "c65", in: Self.room)
    for number in 0..<500 { _ = join(from: .v6(1, UInt64(number))) }
    #expect(isHere(parent))
  }

  @Test mutating func theNewestBehindTheSameRouterStaysUntilItIsVouchedFor() {
    for _ in 0..<30 { _ = join(from: Self.family) }
    let (parent, _) = join(from: Self.family)
    for _ in 0..<15 { _ = join(from: Self.family) }
    #expect(isHere(parent))
    server.vouch(for: "c31", in: Self.room)
    for _ in 0..<100 { _ = join(from: Self.family) }
    #expect(isHere(parent))
  }

  @Test mutating func whenAllAreVouchedForTheNewestIsRefused() {
    for number in 0..<64 {
      _ = join(from: .v6(0, UInt64(number) + 2))
      #expect(server.vouch(for: "c\(number + 1)", in: Self.room) != nil)
    }
    let (stranger, closed) = join(from: Self.attacker)
    #expect(closed == [stranger])
    // Each leaves one place.
    server.disconnect(RoomConnectionID(number: 5))
    #expect(join(from: Self.attacker).closed.isEmpty)
  }

  private mutating func registerAgain(_ id: RoomConnectionID, at now: Instant) -> [RoomAction] {
    server.receive(.register(room: Self.room, client: "c\(id.number)"), from: id, now: now)
  }

  @Test mutating func registeringAgainBuysNoTime() {
    let (squatter, _) = join(from: Self.attacker)
    for second in 1...14 { #expect(registerAgain(squatter, at: .zero + .seconds(second)).count == 1) }
    #expect(
      server.handleTimeout(now: .zero + .seconds(15)) == [
        .close(squatter, RoomError(.timeout, "no valid offer in time"))
      ])
    #expect(registerAgain(squatter, at: .zero + .seconds(15)).isEmpty)
  }

  @Test mutating func aClientThatWasVouchedForMayRegisterAgain() {
    let (parent, _) = join(from: Self.family)
    server.vouch(for: "c1", in: Self.room)
    #expect(registerAgain(parent, at: .zero + .seconds(1)).count == 1)
    #expect(server.handleTimeout(now: .zero + .seconds(60)).isEmpty && isHere(parent))
  }

  @Test mutating func strangersSpeakToTheHostAlone() {
    let (stranger, _) = join(from: Self.attacker)
    let refused = server.receive(.send(to: "absent", message: "x"), from: stranger, now: .zero)
    guard case .send(stranger, .error(let error))? = refused.first, error.code == .tooManyWaiting else {
      return #expect(Bool(false), "nothing is kept for others")
    }
    #expect(isHere(stranger))
  }
}
