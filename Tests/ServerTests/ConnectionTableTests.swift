import Testing
import Web
import Wire

@testable import Server

extension ConnectionTable {
  fileprivate mutating func take(_ address: IPAddress) throws -> (id: ID, evicted: ID?) {
    let place = enter(from: address)
    return try #require(place)
  }

  /// A connection that begins a handshake and is gone again.
  fileprivate mutating func comeAndGreet(_ address: IPAddress, now: Instant = .zero) -> Bool {
    guard let (id, _) = enter(from: address) else { return false }
    defer { leave(id) }
    return greet(id, now: now)
  }
}

/// Who gets a place at the HTTPS port when there are too many.
@Suite struct ConnectionTableTests {
  private static let family: IPAddress = .v4(0xc0a8_0102)
  private static let attacker: IPAddress = .v4(0xc0a8_0166)

  private static func table(_ adjust: (inout ConnectionTable.Limits) -> Void = { _ in }) -> ConnectionTable {
    var limits = ConnectionTable.Limits()
    limits.places = 8
    adjust(&limits)
    return ConnectionTable(limits: limits)
  }

  @Test func aCrowdFromOneAddressDisplacesItself() throws {
    var table = Self.table()
    let parent = try table.take(Self.family).id
    var crowd: [ConnectionTable.ID] = []
    for _ in 0..<7 { crowd.append(try table.take(Self.attacker).id) }
    for number in 0..<5000 {
      let (id, evicted) = try table.take(Self.attacker)
      #expect(evicted == crowd[number])
      crowd.append(id)
    }
    #expect(table.count == 8 && table.greet(parent, now: .zero))
  }

  /// Behind a proxy all connections seem to come from it, until it says where they come from.
  @Test func aCrowdBehindAProxyDisplacesItself() throws {
    var table = Self.table()
    let proxy: IPAddress = .v4(0x7f00_0001)
    let parent = try table.take(proxy).id
    table.move(parent, to: Self.family)
    for _ in 0..<100 {
      let (id, _) = try table.take(proxy)
      table.move(id, to: Self.attacker)
    }
    #expect(table.count == 8 && table.greet(parent, now: .zero))
  }

  @Test func theNewestOfTheSameAddressGetsIn() throws {
    var table = Self.table()
    let first = try table.take(Self.family).id
    for _ in 0..<7 { _ = table.enter(from: Self.family) }
    let (parent, evicted) = try table.take(Self.family)
    #expect(evicted == first && table.greet(parent, now: .zero))
  }

  @Test func whoHasProvenItselfStays() throws {
    var table = Self.table()
    var proven: [ConnectionTable.ID] = []
    for _ in 0..<8 {
      let id = try table.take(Self.family).id
      table.prove(id)
      proven.append(id)
    }
    #expect(table.enter(from: Self.attacker) == nil && table.enter(from: Self.family) == nil)
    table.leave(proven[3])
    let stranger = try table.take(Self.attacker).id
    let (_, evicted) = try table.take(Self.family)
    #expect(evicted == stranger)
  }

  @Test func connectionsThatSpokeLeaveThoseThatDidNotSomeTime() throws {
    var table = Self.table()
    for _ in 0..<6 {
      let id = try table.take(Self.family).id
      #expect(table.greet(id, now: .zero) == true)
    }
    let silent = [try table.take(Self.family).id, try table.take(Self.family).id]
    // Six have spoken and two have not: the former give way until there are as many of these.
    for _ in 0..<2 {
      let evicted = try table.take(Self.family).evicted
      #expect(evicted.map(silent.contains) == false)
    }
    let evicted = try table.take(Self.family).evicted
    #expect(evicted == silent[0])
  }

  @Test func handshakesAreCountedForEachAddress() throws {
    var table = Self.table({ $0.handshakeBurst = 3 })
    for _ in 0..<3 { #expect(table.comeAndGreet(Self.attacker) == true) }
    for _ in 0..<100 { #expect(table.comeAndGreet(Self.attacker) == false) }
    #expect(table.comeAndGreet(Self.family) == true)
    // Being refused costs nothing more: one comes back in the time for one.
    #expect(table.comeAndGreet(Self.attacker, now: .zero + .milliseconds(50)) == true)
  }

  @Test func silentConnectionsAreNotCountedAsHandshakes() throws {
    var table = Self.table({ $0.handshakeBurst = 1 })
    for _ in 0..<1000 { _ = table.enter(from: Self.family) }
    let id = try table.take(Self.family).id
    #expect(table.greet(id, now: .zero) == true)
  }

  @Test func anAddressWhereSomebodyWasKnownIsNotHeldUpByManyStrangers() throws {
    var table = Self.table({
      $0.handshakeBurst = 2
      $0.strangers = 2
    })
    let parent = try table.take(Self.family).id
    table.prove(parent)
    var taken = 0
    // As in an IPv6 network, where one machine takes as many addresses as it likes.
    for number in 0..<100 where table.comeAndGreet(.v6(0x2001_0db8 << 32, UInt64(number))) { taken += 1 }
    #expect(taken == 4)
    #expect(table.comeAndGreet(Self.family) == true)
    #expect(table.comeAndGreet(.v4(1)) == false)
  }

  @Test func requestsOfStrangersAreCountedAndThoseOfGuestsAreNot() throws {
    var table = Self.table({ $0.requestBurst = 5 })
    let stranger = try table.take(Self.attacker).id
    for _ in 0..<5 { #expect(table.ask(stranger, now: .zero) == nil) }
    #expect(table.ask(stranger, now: .zero) == .milliseconds(50))
    let again = try table.take(Self.attacker).id
    #expect(table.ask(again, now: .zero) != nil)
    table.prove(again)
    for _ in 0..<100 { #expect(table.ask(again, now: .zero) == nil) }
  }

  /// Through one router: before any of them has paired, each file twice (the page and its service worker).
  @Test func eightPhonesMayOpenThePageForTheFirstTimeInTheSameMoment() throws {
    var table = ConnectionTable()
    let files = WebPages.names.count
    for _ in 0..<8 {
      let phone = try table.take(Self.family).id
      for _ in 0..<2 * files { #expect(table.ask(phone, now: .zero) == nil) }
    }
  }
}
