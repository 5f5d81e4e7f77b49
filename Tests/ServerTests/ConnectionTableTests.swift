import Testing
import Web
import Wire

@testable import Server

extension ConnectionTable {
  fileprivate mutating func prove(_ id: ID, as name: String = "token", isParent: Bool = false, maximum: Int = 4) {
    raise(id, to: .holder(ConnectionCredential(id: name, isParent: isParent, maximumConnections: maximum)))
  }

  fileprivate mutating func revoke(_ name: String) {
    review { $0 == name ? nil : ConnectionCredential(id: $0, isParent: true, maximumConnections: 16) }
  }

  fileprivate mutating func take(_ address: IPAddress) throws -> (id: ID, evicted: ID?) {
    let place = enter(from: address)
    return try #require(place)
  }

  /// A connection that begins a handshake and is gone again.
  fileprivate mutating func comeAndGreet(_ address: IPAddress, now: Instant = .zero) -> Bool {
    guard let (id, _) = enter(from: address) else { return false }
    defer { leave(id) }
    return greet(id, now: now) == nil
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
    #expect(table.count == 8 && table.greet(parent, now: .zero) == nil)
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
    #expect(table.count == 8 && table.greet(parent, now: .zero) == nil)
  }

  /// A proxy may send several clients' requests over one connection.
  @Test func whatOneClientHasShownIsNotAnothers() throws {
    var table = Self.table()
    let shared = try table.take(.v4(0x7f00_0001)).id
    #expect(table.greet(shared, now: .zero) == nil)
    table.move(shared, to: Self.family)
    table.raise(shared, to: .holder(.init(id: "parent", isParent: true, maximumConnections: 4)))
    table.move(shared, to: Self.family)
    for _ in 0..<20 { #expect(table.greet(try table.take(Self.family).id, now: .zero) == nil) }
    #expect(table.address(of: shared) == Self.family)
    table.move(shared, to: Self.attacker)
    for _ in 0..<20 { #expect(table.greet(try table.take(Self.attacker).id, now: .zero) == nil) }
    #expect(table.address(of: shared) == nil)
  }

  @Test func theNewestOfTheSameAddressGetsIn() throws {
    var table = Self.table()
    let first = try table.take(Self.family).id
    for _ in 0..<7 { _ = table.enter(from: Self.family) }
    let (parent, evicted) = try table.take(Self.family)
    #expect(evicted == first && table.greet(parent, now: .zero) == nil)
  }

  @Test func whoHasProvenItselfStays() throws {
    var table = Self.table()
    var proven: Set<ConnectionTable.ID> = []
    for number in 0..<7 {
      let id = try table.take(Self.family).id
      table.prove(id, as: "\(number)", isParent: true)
      proven.insert(id)
    }
    var stranger = try table.take(Self.attacker).id
    for _ in 0..<100 {
      let (id, evicted) = try table.take(Self.attacker)
      #expect(evicted == stranger)
      stranger = id
    }
  }

  /// Whatever credentials there are, a newcomer gets in: it may be a health probe, a parent, or pairing.
  @Test func noCredentialsTakeTheLastPlace() throws {
    var table = Self.table()
    for number in 0..<100 {
      table.prove(try table.take(Self.attacker).id, as: "\(number)", isParent: true)
      _ = try table.take(Self.family)
    }
    #expect(table.count == 8)
  }

  @Test func aCredentialHasItsPlacesAndNoMore() throws {
    var table = ConnectionTable()
    var family: [ConnectionTable.ID] = []
    for _ in 0..<20 {
      let id = try table.take(Self.family).id
      family.append(id)
      table.prove(id, as: "pair", isParent: true, maximum: 16)
    }
    for _ in 0..<1000 {
      let (id, evicted) = try table.take(Self.attacker)
      table.prove(id)
      #expect(evicted.map { family.suffix(16).contains($0) } != true)
    }
    #expect(table.count == 256)
    // What is over the limit of either counts as a stranger's.
    var gone: Set<ConnectionTable.ID> = []
    for _ in 0..<500 { if let evicted = try table.take(.v4(9)).evicted { gone.insert(evicted) } }
    #expect(gone.isDisjoint(with: family.suffix(16)))
  }

  /// A hundred tokens or guests, as an invitation of an owner's makes them, are no more than one together.
  @Test func tokensAndGuestsLeavePlacesToParents() throws {
    var table = ConnectionTable()
    for number in 0..<100 {
      for _ in 0..<4 { table.prove(try table.take(Self.attacker).id, as: "\(number)") }
    }
    var parents: [ConnectionTable.ID] = []
    for number in 0..<50 {
      let id = try table.take(Self.family).id
      table.prove(id, as: "pair \(number)", isParent: true)
      parents.append(id)
    }
    for number in 0..<1000 {
      let (id, evicted) = try table.take(Self.attacker)
      table.prove(id, as: "\(number)")
      #expect(evicted.map(parents.contains) != true)
    }
  }

  @Test func aRevokedCredentialGivesItsPlacesBack() throws {
    var table = Self.table({
      $0.handshakeBurst = 1; $0.strangers = 1
    })
    let places = try (0..<4).map { _ in try table.take(Self.attacker).id }
    for id in places { table.prove(id) }
    table.revoke("token")
    for id in places { #expect(table.ask(id, now: .zero) == nil) }
    let family = try table.take(Self.family).id
    table.prove(family, as: "pair", isParent: true)
    // The attacker's address has most strangers now, and is no longer known.
    let evicted = try (0..<6).compactMap { try table.take(.v4(100 + $0)).evicted }
    #expect(evicted == Array(places[..<3]))
    #expect(table.comeAndGreet(.v4(8)) == true)
    #expect(table.comeAndGreet(Self.attacker) == false)
    #expect(table.comeAndGreet(Self.family) == true)
  }

  @Test func aCredentialThatMayDoLessHasFewerPlaces() throws {
    var table = Self.table()
    for _ in 0..<6 { table.prove(try table.take(Self.family).id, as: "pair", isParent: true, maximum: 16) }
    table.review { ConnectionCredential(id: $0, isParent: false, maximumConnections: 2) }
    // Of the family's six, the four oldest are strangers' now, until its address has no more than any other.
    let evicted = try (0..<20).compactMap { try table.take(.v4(100 + $0)).evicted }
    #expect(Array(evicted[..<3]) == [1, 2, 3] && !evicted.contains(5) && !evicted.contains(6))
  }

  @Test func whoPairsStaysAndCannotTakeAllPlaces() throws {
    var table = Self.table()
    let phone = try table.take(Self.family).id
    table.raise(phone, to: .pairing)
    for _ in 0..<1000 {
      let (id, evicted) = try table.take(Self.attacker)
      // One for each address: it takes the one of its own.
      table.raise(id, to: .pairing)
      #expect(evicted != phone)
    }
    for number in 0..<100 {
      let id = try table.take(.v4(100 + UInt32(number))).id
      table.raise(id, to: .pairing)
    }
    #expect(table.count == 8 && table.enter(from: Self.family) != nil)
  }

  @Test func connectionsThatSpokeLeaveThoseThatDidNotSomeTime() throws {
    var table = Self.table()
    for _ in 0..<6 {
      let id = try table.take(Self.family).id
      #expect(table.greet(id, now: .zero) == nil)
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
    let waiting = try table.take(Self.attacker).id
    #expect(table.greet(waiting, now: .zero) == .milliseconds(50))
    #expect(table.comeAndGreet(Self.attacker, now: .zero + .milliseconds(50)) == true)
  }

  @Test func silentConnectionsAreNotCountedAsHandshakes() throws {
    var table = Self.table({ $0.handshakeBurst = 1 })
    for _ in 0..<1000 { _ = table.enter(from: Self.family) }
    let id = try table.take(Self.family).id
    #expect(table.greet(id, now: .zero) == nil)
  }

  @Test func anAddressWhereSomebodyWasKnownIsNotHeldUpByManyStrangers() throws {
    var table = Self.table({
      $0.handshakeBurst = 2
      $0.strangers = 2
    })
    let parent = try table.take(Self.family).id
    table.prove(parent, as: "pair", isParent: true)
    var taken = 0
    // As in an IPv6 network, where one machine takes as many addresses as it likes.
    for number in 0..<100 where table.comeAndGreet(.v6(0x2001_0db8 << 32, UInt64(number))) { taken += 1 }
    #expect(taken == 4)
    #expect(table.comeAndGreet(Self.family) == true)
    #expect(table.comeAndGreet(.v4(1)) == false)
  }

  @Test func requestsAreCountedByAddressUntilTheCredentialIsKnownAndThenByThat() throws {
    var table = Self.table({ $0.requestBurst = 5 })
    let stranger = try table.take(Self.attacker).id
    for _ in 0..<5 { #expect(table.ask(stranger, now: .zero) == nil) }
    #expect(table.ask(stranger, now: .zero) == .milliseconds(50))
    let again = try table.take(Self.attacker).id
    #expect(table.ask(again, now: .zero) != nil)
    table.prove(again)
    for _ in 0..<5 { #expect(table.ask(again, now: .zero) == nil) }
    // With another connection, from elsewhere, it is the same; another credential's are its own.
    let third = try table.take(Self.family).id
    table.prove(third)
    #expect(table.ask(again, now: .zero) == .milliseconds(50) && table.ask(third, now: .zero) == .milliseconds(50))
    let parent = try table.take(Self.attacker).id
    table.prove(parent, as: "parent", isParent: true)
    #expect(table.ask(parent, now: .zero) == nil)
    #expect(table.ask(again, now: .zero + .milliseconds(50)) == nil)
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
