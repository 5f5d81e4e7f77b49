import TestSupport
import Testing
import Wire

@testable import Signaling

@Suite struct RoomServerTests {
  private static let room = "0123456789abcdef"
  private static let host = RoomConnectionID(number: 0)

  private static func start(
    _ adjust: (inout RoomLimits) -> Void = { _ in }, opening: Bool = true
  ) -> RoomServer {
    var limits = RoomLimits()
    adjust(&limits)
    var server = RoomServer(limits: limits, random: SeededGenerator(seed: 1))
    if opening { server.open(room: room, host: host) }
    return server
  }

  private static func id(_ number: UInt64) -> RoomConnectionID { RoomConnectionID(number: number) }

  private static func join(
    _ server: inout RoomServer, _ number: UInt64, _ client: String, room: String = room, now: Instant = .zero
  ) -> [RoomAction] {
    server.connect(id(number), now: now)
      + server.receive(.register(room: room, client: client), from: id(number), now: now)
  }

  private static func registration(_ actions: [RoomAction]) -> RoomRegistration? {
    for case .send(_, .registered(let registration)) in actions { return registration }
    return nil
  }

  private static func error(_ actions: [RoomAction]) -> RoomError.Code? {
    for action in actions {
      switch action {
      case .send(_, .error(let error)), .close(_, let error): return error.code
      case .send, .deliver: continue
      }
    }
    return nil
  }

  @Test func aClientAndTheHostSpeakWithEachOther() throws {
    var server = Self.start()
    let joined = try #require(Self.registration(Self.join(&server, 1, "anna")))
    #expect(joined.isInitiator && joined.room == Self.room && joined.messages.isEmpty)
    #expect(SignedMessage.isChallenge(joined.challenge) && joined.challenge.utf8.count == 22)
    let there = server.receive(.send(to: Self.room, message: "hello"), from: Self.id(1), now: .zero)
    #expect(
      there == [
        .send(Self.host, .message(RoomDelivery(from: "anna", message: "hello", challenge: joined.challenge)))
      ])
    guard
      case .send(let back, .message(let delivery))? = server.receive(
        .send(to: "anna", message: "welcome"), from: Self.host, now: .zero
      ).first
    else { return #expect(Bool(false), "the answer is delivered") }
    #expect(back == Self.id(1) && delivery.from == Self.room && delivery.message == "welcome")
  }

  @Test func everyRegistrationHasAChallengeOfItsOwn() {
    var server = Self.start()
    let first = Self.registration(Self.join(&server, 1, "anna"))?.challenge
    let second = Self.registration(Self.join(&server, 2, "bert"))?.challenge
    let again = Self.registration(
      server.receive(.register(room: Self.room, client: "anna"), from: Self.id(1), now: .zero))?.challenge
    #expect(Set([first, second, again]).count == 3)
  }

  @Test func theNewerOfTwoWithOneNameStays() {
    var server = Self.start()
    _ = Self.join(&server, 1, "anna")
    let actions = Self.join(&server, 2, "anna")
    #expect(actions.first == .close(Self.id(1), RoomError(.replaced, "the client has registered again")))
    #expect(server.receive(.send(to: Self.room, message: "x"), from: Self.id(1), now: .zero).isEmpty)
    // The older connection's end takes nothing from the newer one.
    server.disconnect(Self.id(1))
    #expect(
      server.receive(.send(to: "anna", message: "x"), from: Self.host, now: .zero).first.map {
        if case .send(Self.id(2), _) = $0 { true } else { false }
      } == true)
  }

  @Test func nobodyTakesTheHostsPlace() {
    var server = Self.start()
    #expect(Self.error(Self.join(&server, 1, Self.room)) == .nameTaken)
    #expect(server.dismiss(Self.room, from: Self.room, reason: "").isEmpty)
    server.disconnect(Self.host)
    #expect(Self.registration(Self.join(&server, 2, "anna")) != nil)
    #expect(!server.receive(.send(to: Self.room, message: "x"), from: Self.id(2), now: .zero).isEmpty)
  }

  @Test func messagesWaitForWhoComesLater() throws {
    var server = Self.start({ $0.maximumRegistrationBytes = 10 })
    for text in ["first", "other", "third"] {
      #expect(server.receive(.send(to: "anna", message: text), from: Self.host, now: .zero).isEmpty)
    }
    let actions = Self.join(&server, 1, "anna", now: .zero + .seconds(29))
    #expect(try #require(Self.registration(actions)).messages.map(\.message) == ["first", "other"])
    guard case .send(_, .message(let rest))? = actions.last else { return #expect(Bool(false), "the rest follows") }
    #expect(rest.message == "third")
    // Once only.
    let again = server.receive(
      .register(room: Self.room, client: "anna"), from: Self.id(1), now: .zero + .seconds(29))
    #expect(Self.registration(again)?.messages == [])
  }

  @Test func messagesDoNotWaitForever() {
    var server = Self.start()
    _ = server.receive(.send(to: "anna", message: "old"), from: Self.host, now: .zero)
    #expect(server.nextDeadline == .zero + .seconds(30))
    _ = server.handleTimeout(now: .zero + .seconds(30))
    #expect(server.nextDeadline == nil)
    #expect(Self.registration(Self.join(&server, 1, "anna", now: .zero + .seconds(31)))?.messages == [])
  }

  @Test func whatWaitsIsBounded() {
    var server = Self.start({
      $0.maximumWaitingMessages = 2
      $0.maximumAbsentClients = 2
      // Three messages of ten bytes, with what they take besides.
      $0.maximumWaitingBytes = 10 + 3 * 256
    })
    let send = { (server: inout RoomServer, client: String, text: String) in
      Self.error(server.receive(.send(to: client, message: text), from: Self.host, now: .zero))
    }
    #expect(send(&server, "a", "1") == nil && send(&server, "a", "2") == nil)
    #expect(send(&server, "a", "3") == .tooManyWaiting)
    #expect(send(&server, "b", "12345678") == nil)
    #expect(send(&server, "b", "1") == .tooManyWaiting)
    #expect(send(&server, "c", "") == .tooManyWaiting)
    // What has been fetched makes room.
    _ = Self.join(&server, 1, "b")
    #expect(send(&server, "c", "12345678") == nil)
  }

  @Test func whoDoesNotRegisterIsClosed() {
    var server = Self.start()
    #expect(server.connect(Self.id(1), now: .zero).isEmpty)
    #expect(server.nextDeadline == .zero + .seconds(5))
    #expect(server.handleTimeout(now: .zero + .seconds(4)).isEmpty)
    #expect(Self.error(server.handleTimeout(now: .zero + .seconds(5))) == .timeout)
    #expect(server.receive(.register(room: Self.room, client: "a"), from: Self.id(1), now: .zero).isEmpty)
  }

  @Test func whoNobodyVouchesForIsClosed() {
    var server = Self.start()
    _ = Self.join(&server, 1, "anna")
    _ = Self.join(&server, 2, "stranger")
    server.vouch(for: "anna", in: Self.room)
    let closed = server.handleTimeout(now: .zero + .seconds(20))
    #expect(closed.count == 1)
    guard case .close(Self.id(2), _)? = closed.first else { return #expect(Bool(false), "the stranger goes") }
    #expect(server.nextDeadline == nil)
  }

  @Test func theHostSendsClientsAway() {
    var server = Self.start()
    _ = Self.join(&server, 1, "anna")
    #expect(
      server.dismiss("anna", from: Self.room, reason: "not paired")
        == [.close(Self.id(1), RoomError(.refused, "not paired"))])
    #expect(server.dismiss("anna", from: Self.room, reason: "not paired").isEmpty)
  }

  @Test func whatIsWrongIsSaid() {
    var server = Self.start({ $0.maximumMessageBytes = 4 })
    #expect(Self.error(Self.join(&server, 1, "anna", room: "elsewhere")) == .noSuchRoom)
    #expect(
      Self.error(server.receive(.send(to: "x", message: ""), from: Self.id(1), now: .zero)) == .notRegistered)
    for name in ["", "a b", "ä", String(repeating: "a", count: 65)] {
      let actions = server.receive(.register(room: Self.room, client: name), from: Self.id(1), now: .zero)
      #expect(Self.error(actions) == .badName)
    }
    _ = server.receive(.register(room: Self.room, client: "anna"), from: Self.id(1), now: .zero)
    let other = server.receive(.register(room: Self.room, client: "bert"), from: Self.id(1), now: .zero)
    #expect(Self.error(other) == .alreadyRegistered)
    let large = server.receive(.send(to: Self.room, message: "12345"), from: Self.id(1), now: .zero)
    #expect(Self.error(large) == .messageTooLarge)
    #expect(Self.error(server.receive(.send(to: "", message: ""), from: Self.id(1), now: .zero)) == .badName)
  }

  @Test func aFloodIsCutOff() {
    var server = Self.start({ $0.burst = 10 })
    _ = Self.join(&server, 1, "anna")
    var passed = 0
    var last: RoomError.Code?
    for _ in 0..<100 {
      let actions = server.receive(.send(to: Self.room, message: "x"), from: Self.id(1), now: .zero)
      if let code = Self.error(actions) { last = code } else if !actions.isEmpty { passed += 1 }
    }
    #expect(passed == 9 && last == .tooManyMessages)
  }

  @Test func connectionsAndPlacesAreBounded() {
    var server = Self.start({
      $0.maximumConnections = 3
      $0.maximumClientsPerRoom = 3
    })
    #expect(Self.registration(Self.join(&server, 1, "a")) != nil)
    #expect(Self.registration(Self.join(&server, 2, "b")) != nil)
    // The host has a place too. The oldest that nobody has vouched for gives way to the newest.
    server.vouch(for: "a", in: Self.room)
    let third = Self.join(&server, 3, "c")
    guard case .close(Self.id(2), let error)? = third.first else { return #expect(Bool(false), "\(third)") }
    #expect(error.code == .full && Self.registration(third) != nil)
    server.vouch(for: "c", in: Self.room)
    // Those that the host knows do not.
    guard case .close(Self.id(4), let other)? = Self.join(&server, 4, "d").first else {
      return #expect(Bool(false), "the room is full")
    }
    #expect(other.code == .full)
    _ = server.connect(Self.id(5), now: .zero)
    guard case .close(Self.id(5), let last)? = server.connect(Self.id(6), now: .zero).first else {
      return #expect(Bool(false), "there are three places")
    }
    #expect(last.code == .full)
  }

  /// One that writes and one that does not read would fill the server's memory.
  @Test func strangersHaveNothingToSayToEachOther() {
    var server = Self.start()
    _ = Self.join(&server, 1, "a")
    _ = Self.join(&server, 2, "b")
    let message = RoomRequest.send(to: "b", message: "x")
    #expect(Self.error(server.receive(message, from: Self.id(1), now: .zero)) == .tooManyWaiting)
    #expect(
      server.receive(.send(to: Self.room, message: "x"), from: Self.id(1), now: .zero).contains {
        if case .send(_, .message) = $0 { true } else { false }
      })
  }
}
