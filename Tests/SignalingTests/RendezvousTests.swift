import Identity
import Pairing
import SDP
import SecureTransport
import TestSupport
import Testing
import Wire

@testable import Signaling

/// A room server that many children share, with its hosts at the other end of connections.
@Suite struct RendezvousTests {
  private static let name = "meet.example.org"
  private static let servers = [ICEServerDocument(urls: ["turn:turn.example.org"], username: "u", credential: "c")]

  private static func server(
    children: Set<String>? = nil, _ adjust: (inout RoomLimits) -> Void = { _ in }
  ) -> RoomServer {
    var limits = RoomLimits()
    adjust(&limits)
    let hosts = RoomHosts(
      names: [name], children: children, verifier: PairingPrimitives(), hashes: CryptoHashes())
    return RoomServer(limits: limits, hosts: hosts, random: SeededGenerator(seed: 1)) { borrower, _ in
      borrower.lifetime.map { [ICEServerDocument(urls: ["turn:\($0.components.seconds)"])] } ?? servers
    }
  }

  private static func id(_ number: UInt64) -> RoomConnectionID { RoomConnectionID(number: number) }

  private static func join(
    _ server: inout RoomServer, _ number: UInt64, _ client: String, room: String, now: Instant = .zero
  ) -> [RoomAction] {
    server.connect(id(number), now: now)
      + server.receive(.register(room: room, client: client), from: id(number), now: now)
  }

  private static func registration(_ actions: [RoomAction]) -> RoomRegistration? {
    for case .send(_, .registered(let registration)) in actions { return registration }
    return nil
  }

  private static func proof(of node: LabNode, for room: String? = nil, challenge: String, server: String = name)
    -> String
  {
    node.envelope.seal(
      HostProof(
        child: room ?? node.id, server: server, challenge: challenge, publicKeySPKI: node.identity.publicKeySPKI))
  }

  /// Registers and proves; gives what came of the proof.
  private static func host(
    _ server: inout RoomServer, _ number: UInt64, _ node: LabNode, presence: String = "here", now: Instant = .zero
  ) throws -> [RoomAction] {
    let joined = try #require(registration(join(&server, number, node.id, room: node.id, now: now)))
    let proof = proof(of: node, challenge: joined.challenge)
    return server.receive(.prove(proof: proof, presence: presence), from: id(number), now: now)
  }

  @Test func aChildHostsTheRoomOfItsKeyAndItsPresenceIsShown() throws {
    var server = Self.server()
    let child = LabNode()
    #expect(try Self.host(&server, 1, child) == [.send(Self.id(1), .proved(iceServers: Self.servers))])
    let parent = try #require(Self.registration(Self.join(&server, 2, "anna", room: child.id)))
    #expect(parent.host == .elsewhere(presence: "here") && parent.isInitiator)
    let newer = server.receive(.announce(presence: "newer"), from: Self.id(1), now: .zero)
    #expect(
      newer == [.send(Self.id(1), .proved(iceServers: Self.servers)), .send(Self.id(2), .presence("newer"))])
    let sent = server.receive(.send(to: child.id, message: "hello"), from: Self.id(2), now: .zero)
    guard case .deliver(Self.id(1), .message(let delivery))? = sent.first else {
      return #expect(Bool(false), "the offer reaches the child")
    }
    #expect(delivery.from == "anna" && delivery.message == "hello")
    #expect(server.occupancy == (1, 2, 1))
  }

  @Test func parentsHearAtOnceThatTheChildComesAndGoes() throws {
    var server = Self.server()
    let child = LabNode()
    #expect(Self.registration(Self.join(&server, 2, "anna", room: child.id))?.host == .absent)
    #expect(try Self.host(&server, 1, child).contains(.send(Self.id(2), .presence("here"))))
    #expect(server.disconnect(Self.id(1)) == [.send(Self.id(2), .presence(nil))])
    #expect(Self.registration(Self.join(&server, 3, "otto", room: child.id))?.host == .absent)
  }

  @Test func servingParentsGetRelaysOnlyWhenTheChildVouchesForThem() throws {
    var server = Self.server()
    let child = LabNode()
    _ = try Self.host(&server, 1, child)
    _ = Self.join(&server, 2, "anna", room: child.id)
    let vouched = server.receive(.vouch(client: "anna", lifetime: nil), from: Self.id(1), now: .zero)
    #expect(vouched == [.send(Self.id(2), .vouched(iceServers: Self.servers))])
    // A guest's end with its access.
    _ = Self.join(&server, 4, "guest", room: child.id)
    let guest = server.receive(.vouch(client: "guest", lifetime: .seconds(60)), from: Self.id(1), now: .zero)
    #expect(guest == [.send(Self.id(4), .vouched(iceServers: [ICEServerDocument(urls: ["turn:60"])]))])
    // Once is enough, and a stranger cannot.
    #expect(server.receive(.vouch(client: "anna", lifetime: nil), from: Self.id(1), now: .zero).isEmpty)
    _ = Self.join(&server, 3, "eve", room: child.id)
    guard
      case .send(_, .error(let error))? = server.receive(
        .vouch(client: "eve", lifetime: nil), from: Self.id(3), now: .zero
      ).first
    else { return #expect(Bool(false), "a client vouches for nobody") }
    #expect(error.code == .notHost)
    let dismissed = server.receive(.dismiss(client: "eve", reason: "not paired"), from: Self.id(1), now: .zero)
    #expect(dismissed == [.close(Self.id(3), RoomError(.refused, "not paired"))])
  }

  /// A child of an attacker's own would fill the room and the server with clients that it vouches for.
  @Test func aChildVouchesForSoManyAndNoMore() throws {
    var server = Self.server { $0.maximumVouchedPerRoom = 3 }
    let child = LabNode()
    _ = try Self.host(&server, 1, child)
    var closed: [RoomConnectionID] = []
    for number in 2...11 as ClosedRange<UInt64> {
      _ = Self.join(&server, number, "c\(number)", room: child.id)
      let actions = server.receive(.vouch(client: "c\(number)", lifetime: nil), from: Self.id(1), now: .zero)
      for case .close(let id, _) in actions { closed.append(id) }
    }
    #expect(closed == (2...8).map { Self.id($0) })
  }

  @Test func aHostIsKnownSinceItCameUnlessItWasAwayForLong() throws {
    var limits = RoomLimits()
    limits.maximumRooms = 8
    let hosts = RoomHosts(
      names: [Self.name], children: nil, verifier: PairingPrimitives(), hashes: CryptoHashes())
    // Says what it was asked.
    var server = RoomServer(limits: limits, hosts: hosts, random: SeededGenerator(seed: 1)) { borrower, _ in
      [ICEServerDocument(urls: ["\(borrower.hostKnownFor.components.seconds)"], username: borrower.room)]
    }
    func known(_ actions: [RoomAction]) -> String? {
      for case .send(_, .proved(let servers)) in actions { return servers.first?.urls.first }
      return nil
    }
    let child = LabNode()
    #expect(known(try Self.host(&server, 1, child)) == "0")
    for hour in 1...5 as ClosedRange<Int64> {
      let announced = server.receive(
        .announce(presence: "p"), from: Self.id(1), now: .zero + .seconds(3600 * hour))
      #expect(known(announced) == "\(3600 * hour)")
    }
    // Its network was gone for an hour.
    server.disconnect(Self.id(1))
    #expect(known(try Self.host(&server, 2, child, now: .zero + .seconds(6 * 3600))) == "\(6 * 3600)")
    // Many keys that somebody makes push nobody out who is here.
    for number in 10..<40 as Range<UInt64> {
      _ = try Self.host(&server, number, LabNode(), now: .zero + .seconds(6 * 3600))
      server.disconnect(Self.id(number))
      _ = server.receive(.announce(presence: "p"), from: Self.id(2), now: .zero + .seconds(6 * 3600 + 1))
    }
    let later = Instant.zero + .seconds(7 * 3600)
    #expect(known(server.receive(.announce(presence: "p"), from: Self.id(2), now: later)) == "\(7 * 3600)")
    server.disconnect(Self.id(2))
    #expect(known(try Self.host(&server, 3, child, now: .zero + .seconds(10 * 3600))) == "0")
  }

  @Test func aStrangerUnderTheChildsNameGetsNothingAndDisturbsNobody() throws {
    var server = Self.server()
    let (child, stranger) = (LabNode(), LabNode())
    _ = try Self.host(&server, 1, child)
    _ = Self.join(&server, 2, "anna", room: child.id)
    let joined = try #require(Self.registration(Self.join(&server, 3, child.id, room: child.id)))
    // Not before it has proven anything, either.
    let sent = server.receive(.send(to: child.id, message: "hello"), from: Self.id(2), now: .zero)
    #expect(sent.allSatisfy { if case .deliver(Self.id(1), _) = $0 { true } else { false } } && sent.count == 1)
    let forged = [
      // Its own key under the child's name, and under its own.
      Self.proof(of: stranger, for: child.id, challenge: joined.challenge),
      Self.proof(of: stranger, challenge: joined.challenge),
      // What the child has signed for another registration, or another server.
      Self.proof(of: child, challenge: "AAAAAAAAAAAAAAAAAAAAAA"),
      Self.proof(of: child, challenge: joined.challenge, server: "evil.example"),
      "e30.e30.AAAA", "",
    ]
    for proof in forged {
      var server = server
      let actions = server.receive(.prove(proof: proof, presence: "mine"), from: Self.id(3), now: .zero)
      guard case .close(Self.id(3), let error)? = actions.first, actions.count == 1 else {
        #expect(Bool(false), "accepted: \(proof)")
        continue
      }
      #expect(error.code == .refused)
      #expect(server.connection(of: child.id, in: child.id) == Self.id(1))
    }
    // Without a word it is sent away, and nobody hears of it.
    let late = server.handleTimeout(now: .zero + .seconds(6))
    #expect(late == [.close(Self.id(3), RoomError(.timeout, "no valid offer in time"))])
  }

  @Test func aChildThatComesBackTakesItsOwnPlace() throws {
    var server = Self.server()
    let child = LabNode()
    _ = try Self.host(&server, 1, child)
    _ = Self.join(&server, 2, "anna", room: child.id)
    let back = try Self.host(&server, 3, child, presence: "again")
    #expect(back.first == .close(Self.id(1), RoomError(.replaced, "the child has registered again")))
    #expect(back.last == .send(Self.id(2), .presence("again")))
    #expect(server.connection(of: child.id, in: child.id) == Self.id(3))
  }

  @Test func onlyListedChildrenHaveRooms() throws {
    let (ours, theirs) = (LabNode(), LabNode())
    var server = Self.server(children: [ours.id])
    _ = try Self.host(&server, 1, ours)
    for (number, client) in [(2, theirs.id), (3, "anna")] as [(UInt64, String)] {
      guard case .send(_, .error(let error))? = Self.join(&server, number, client, room: theirs.id).first else {
        #expect(Bool(false), "there is no such room")
        continue
      }
      #expect(error.code == .noSuchRoom)
    }
  }

  @Test func whoeverNamesARoomThatNoKeyHasGetsNone() {
    var server = Self.server()
    for room in ["one", "0123456789ABCDEF", "0123456789abcde"] {
      guard case .send(_, .error(let error))? = Self.join(&server, 1, "a", room: room).first else {
        #expect(Bool(false), "\(room) is no node's id")
        continue
      }
      #expect(error.code == .noSuchRoom)
      server.disconnect(Self.id(1))
    }
  }

  @Test func roomsAreBoundedAndForgotten() throws {
    var server = Self.server { $0.maximumRooms = 1 }
    let (one, two) = (LabNode(), LabNode())
    _ = try Self.host(&server, 1, one)
    guard case .close(_, let error)? = try Self.host(&server, 2, two).first else {
      return #expect(Bool(false), "there is room for one")
    }
    #expect(error.code == .full)
    server.disconnect(Self.id(1))
    #expect(try Self.host(&server, 3, two) == [.send(Self.id(3), .proved(iceServers: Self.servers))])
  }

  @Test func roomsOfStrangersKeepNoChildOut() throws {
    var server = Self.server {
      $0.maximumRooms = 1
      $0.maximumRoomsWithoutHost = 2
    }
    for number in 1...3 as ClosedRange<UInt64> {
      let joined = Self.join(&server, number, "x", room: "000000000000000\(number)")
      guard number == 3 else { continue }
      guard case .close(_, let error)? = joined.first else { return #expect(Bool(false), "there are two") }
      #expect(error.code == .full)
    }
    let child = LabNode()
    #expect(try Self.host(&server, 4, child) == [.send(Self.id(4), .proved(iceServers: Self.servers))])
    #expect(server.occupancy == (1, 3, 3))
    for number in 1...4 as ClosedRange<UInt64> { server.disconnect(Self.id(number)) }
    #expect(server.occupancy == (0, 0, 0))
  }

  // MARK: - Child and parent

  /// A child that is met elsewhere, and what it has announced.
  private static func child(
    _ lab: inout SignalingLab
  ) -> String {
    lab.child.presence(now: lab.now, wallClock: WallClockReference(instant: .zero, unixNanoseconds: 0)).statement
  }

  private static func parent(_ node: LabNode, of lab: SignalingLab, clock: Int64 = 0) -> PairedParentSession {
    PairedParentSession(
      envelope: node.envelope, child: lab.childNode.peer,
      wallClock: WallClockReference(instant: .zero, unixNanoseconds: clock * 1_000_000_000),
      random: SeededGenerator(seed: 5))
  }

  /// The offer that a parent makes when a place shows it this; or why it makes none.
  private static func offer(
    _ parent: inout PairedParentSession, _ host: RoomRegistration.Host, in lab: SignalingLab
  ) throws -> [PairedParentAction] {
    let begun = parent.start(offer: SignalingLab.offer, now: lab.now)
    guard case .send(.register(let room, let client))? = begun.first else { return begun }
    let registration = RoomRegistration(
      room: room, client: client, isInitiator: true, challenge: "EEEEEEEEEEEEEEEEEEEEEA", host: host)
    return parent.receive(.registered(registration), now: lab.now)
  }

  private static func message(_ actions: [PairedParentAction]) -> String? {
    guard case .send(.send(_, let message))? = actions.first else { return nil }
    return message
  }

  @Test func anOfferLeftAtAMeetingPlaceHasTheChildsOwnChallenge() throws {
    var lab = SignalingLab()
    let node = LabNode()
    lab.pair(node)
    let statement = Self.child(&lab)
    var parent = Self.parent(node, of: lab)
    let message = try #require(Self.message(try Self.offer(&parent, .elsewhere(presence: statement), in: lab)))
    let place = MeetingPlaceID(number: 1)
    let actions = lab.child.receive(
      RoomDelivery(from: "anna", message: message, place: place), pairs: { lab.pairs[$0] }, now: lab.now)
    // Nobody vouches before there is a session.
    guard actions.count == 1, case .offered(let offer)? = actions.last else {
      return #expect(Bool(false), "the offer is accepted")
    }
    let answered = lab.child.answer(offer.session, SignalingLab.answer)
    #expect(answered.first == .vouch(client: RoomClient("anna", at: place), parent: node.id))
    guard case .send(let client, let answer)? = answered.dropFirst().first else {
      return #expect(Bool(false), "it is answered")
    }
    #expect(client == RoomClient("anna", at: place))
    let received = parent.receive(.message(RoomDelivery(from: lab.childNode.id, message: answer)), now: lab.now)
    #expect(received == [.answered(SignalingLab.answer)])
    let lent = [ICEServerDocument(urls: ["turn:t"], username: "u", credential: "c")]
    #expect(parent.receive(.vouched(iceServers: lent), now: lab.now) == [.iceServers(lent)])
  }

  /// A session with a child that was met by `statement`.
  private static func open(_ statement: String, by node: LabNode, in lab: inout SignalingLab) throws
    -> PairedParentSession
  {
    var session = parent(node, of: lab)
    let message = try #require(message(try offer(&session, .elsewhere(presence: statement), in: lab)))
    let actions = lab.child.receive(
      RoomDelivery(from: "anna", message: message, place: MeetingPlaceID(number: 1)), pairs: { lab.pairs[$0] },
      now: lab.now)
    guard case .offered(let offer)? = actions.last,
      case .send(_, let answer)? = lab.child.answer(offer.session, SignalingLab.answer).last
    else { throw Problem(500, "the offer is not answered: \(actions)") }
    _ = session.receive(.message(RoomDelivery(from: lab.childNode.id, message: answer)), now: lab.now)
    try #require(session.isOpen)
    return session
  }

  /// Killed and started again within a second: the place may not even have missed it, and it refuses our restart.
  @Test(arguments: [false, true]) func aChildThatHasBegunAgainIsAnother(isRestarting: Bool) throws {
    var lab = SignalingLab()
    let node = LabNode()
    lab.pair(node)
    var parent = try Self.open(Self.child(&lab), by: node, in: &lab)
    if isRestarting { #expect(!parent.restartICE(SignalingLab.fragment, now: lab.now).isEmpty) }
    lab.child = PairedChildSessions(envelope: lab.childNode.envelope, random: SeededGenerator(seed: 9))
    let statement = Self.child(&lab)
    #expect(parent.receive(.presence(statement), now: lab.now) == [.replaced] && parent.isOpen)
    // So it is for who comes back to the place.
    _ = parent.reattach()
    let registration = RoomRegistration(
      room: lab.childNode.id, client: parent.client, isInitiator: true, challenge: "AAAAAAAAAAAAAAAAAAAAAA",
      host: .elsewhere(presence: statement))
    #expect(parent.receive(.registered(registration), now: lab.now) == [.replaced])
  }

  /// The same process, with the challenge of the next hour: nothing is interrupted.
  @Test func aChildThatAnnouncesItselfAgainIsNoOther() throws {
    var lab = SignalingLab()
    let (node, stranger) = (LabNode(), LabNode())
    lab.pair(node)
    let first = Self.child(&lab)
    var parent = try Self.open(first, by: node, in: &lab)
    lab.now += .seconds(3600)
    let second = Self.child(&lab)
    let forged = stranger.envelope.seal(
      Presence(child: lab.childNode.id, challenge: "AAAAAAAAAAAAAAAAAAAAAA", expires: 9_999_999_999, process: "other"))
    // Nor is one of an earlier version, which does not say, or what another has signed.
    let earlier = lab.childNode.envelope.seal(
      Presence(child: lab.childNode.id, challenge: "AAAAAAAAAAAAAAAAAAAAAA", expires: 9_999_999_999))
    #expect(first != second)
    for statement in [first, second, forged, earlier, "x"] {
      #expect(parent.receive(.presence(statement), now: lab.now).isEmpty && parent.isOpen)
    }
    #expect(!parent.restartICE(SignalingLab.fragment, now: lab.now).isEmpty)
    #expect(parent.receive(.presence(second), now: lab.now) == [.attached])
  }

  @Test func aChildThatIsFoundGoneWhileItShouldAnswerIsAbsent() throws {
    var lab = SignalingLab()
    let node = LabNode()
    let statement = Self.child(&lab)
    var parent = Self.parent(node, of: lab)
    #expect(Self.message(try Self.offer(&parent, .elsewhere(presence: statement), in: lab)) != nil)
    #expect(parent.receive(.presence(statement), now: lab.now).isEmpty)
    #expect(parent.receive(.presence(nil), now: lab.now) == [.failed(.absent)])
  }

  @Test func aPlaceCannotRepeatWhatWasLeftThere() throws {
    var lab = SignalingLab()
    let node = LabNode()
    lab.pair(node)
    let statement = Self.child(&lab)
    var parent = Self.parent(node, of: lab)
    let message = try #require(Self.message(try Self.offer(&parent, .elsewhere(presence: statement), in: lab)))
    lab.deliver(RoomDelivery(from: "anna", message: message, place: MeetingPlaceID(number: 0)))
    lab.deliver(RoomDelivery(from: "eve", message: message, place: MeetingPlaceID(number: 0)))
    #expect(lab.offers.count == 1 && lab.refusals == [.replayed])
    // Nor when the child has been started anew and remembers nothing.
    lab.child = PairedChildSessions(envelope: lab.childNode.envelope, random: SeededGenerator(seed: 9))
    _ = Self.child(&lab)
    lab.deliver(RoomDelivery(from: "eve", message: message, place: MeetingPlaceID(number: 0)))
    #expect(lab.offers.count == 1 && lab.refusals.last == .wrongChallenge)
  }

  @Test func aChallengeCountsUntilItsEndAndIsRenewedBefore() throws {
    var lab = SignalingLab()
    let node = LabNode()
    lab.pair(node)
    let clock = WallClockReference(instant: .zero, unixNanoseconds: 1_000_000_000_000)
    let (first, renewal) = lab.child.presence(now: lab.now, wallClock: clock)
    #expect(renewal == .zero + .seconds(3600))
    var parent = Self.parent(node, of: lab, clock: 1000)
    let message = try #require(Self.message(try Self.offer(&parent, .elsewhere(presence: first), in: lab)))
    let presence = try node.envelope.openPresence(first, of: lab.childNode.peer)
    #expect(presence.expires == 1000 + 7200 && presence.child == lab.childNode.id)
    lab.now = .zero + .seconds(3599)
    #expect(
      try node.envelope.openPresence(
        lab.child.presence(now: lab.now, wallClock: clock).statement, of: lab.childNode.peer) == presence)
    lab.now = renewal
    let second = lab.child.presence(now: lab.now, wallClock: clock).statement
    #expect(try node.envelope.openPresence(second, of: lab.childNode.peer).challenge != presence.challenge)
    // Half an hour later both still count: an offer may be on its way.
    lab.now = .zero + .seconds(5400)
    lab.deliver(RoomDelivery(from: "anna", message: message, place: MeetingPlaceID(number: 0)))
    #expect(lab.offers.count == 1 && lab.refusals.isEmpty)
    lab.child = PairedChildSessions(envelope: lab.childNode.envelope, random: SeededGenerator(seed: 2))
    _ = lab.child.presence(now: .zero, wallClock: clock)
    lab.now = .zero + .seconds(7201)
    lab.deliver(RoomDelivery(from: "anna", message: message, place: MeetingPlaceID(number: 0)))
    #expect(lab.offers.count == 1 && lab.refusals == [.wrongChallenge])
  }

  @Test func aParentMakesNoOfferWithoutTheChildsTrueWord() throws {
    var lab = SignalingLab()
    let (node, stranger) = (LabNode(), LabNode())
    let forged = stranger.envelope.seal(
      Presence(child: lab.childNode.id, challenge: "AAAAAAAAAAAAAAAAAAAAAA", expires: 9_999_999_999))
    let cases: [(RoomRegistration.Host, PairedSessionError)] = [
      (.absent, .absent),
      (.elsewhere(presence: forged), .noPresence(.wrongSender)),
      (.elsewhere(presence: "x"), .noPresence(.malformed("a compact JWS has three parts"))),
    ]
    for (host, error) in cases {
      var parent = Self.parent(node, of: lab)
      #expect(try Self.offer(&parent, host, in: lab) == [.failed(error)])
    }
    // Ten minutes between two clocks are forgiven, a day is not.
    let statement = Self.child(&lab)
    var late = Self.parent(node, of: lab, clock: 7200 + 600)
    #expect(Self.message(try Self.offer(&late, .elsewhere(presence: statement), in: lab)) != nil)
    var tooLate = Self.parent(node, of: lab, clock: 86_400)
    #expect(try Self.offer(&tooLate, .elsewhere(presence: statement), in: lab) == [.failed(.noPresence(.tooOld))])
  }
}
