import Identity
import SecureTransport
import TestSupport
import Testing
import Wire

@testable import Signaling

/// Whoever knows a child's id can send to it. That neither fills its connection to the rendezvous nor makes it answer faster
/// than it may, and keeps no parent from being heard.
@Suite struct HostInboxTests {
  private static let host = RoomConnectionID(number: 1)
  private static let child = LabNode()
  private static let attacker: IPAddress = .v4(0xc000_0201)
  private static let family: IPAddress = .v4(0xc633_6402)

  private var server: RoomServer
  private var now: Instant = .zero
  /// What the host's connection was given, in order, and what it has not taken yet.
  private var arrived: [RoomDelivery] = []
  private var isUnderWay = false
  private var errors: [RoomConnectionID: Int] = [:]
  private var closed: [RoomConnectionID: RoomError.Code] = [:]

  init() throws {
    let hosts = RoomHosts(
      names: ["meet.example.org"], children: nil, verifier: PairingPrimitives(), hashes: CryptoHashes())
    server = RoomServer(limits: RoomLimits(), hosts: hosts, random: SeededGenerator(seed: 1))
    try comeBack(Self.host)
  }

  private mutating func comeBack(_ id: RoomConnectionID) throws {
    take(server.connect(id, now: now))
    let room = Self.child.id
    let joined = server.receive(.register(room: room, client: room), from: id, now: now)
    guard case .send(_, .registered(let registration))? = joined.first else { throw RoomError(.other, "\(joined)") }
    let proof = Self.child.envelope.seal(
      HostProof(
        child: room, server: "meet.example.org", challenge: registration.challenge,
        publicKeySPKI: Self.child.identity.publicKeySPKI))
    take(server.receive(.prove(proof: proof, presence: "here"), from: id, now: now))
  }

  private mutating func take(_ actions: [RoomAction]) {
    for action in actions {
      switch action {
      case .deliver(_, .message(let delivery)):
        #expect(!isUnderWay, "one at a time")
        isUnderWay = true
        arrived.append(delivery)
      case .send(let id, .error): errors[id, default: 0] += 1
      case .close(let id, let error): closed[id] = error.code
      case .deliver, .send: break
      }
    }
  }

  private mutating func join(_ number: UInt64, from address: IPAddress) -> RoomConnectionID {
    let id = RoomConnectionID(number: number)
    take(server.connect(id, from: address, now: now))
    take(server.receive(.register(room: Self.child.id, client: "c\(number)"), from: id, now: now))
    return id
  }

  private mutating func send(_ bytes: Int, from id: RoomConnectionID, _ mark: String = "x") {
    let text = mark + String(repeating: "x", count: max(0, bytes - mark.utf8.count))
    take(server.receive(.send(to: Self.child.id, message: text), from: id, now: now))
  }

  /// The host's connection takes what it is given after this time.
  private mutating func pass(_ time: Duration, taking delay: Duration = .zero, host: RoomConnectionID = host) {
    let end = now + time
    while now < end {
      now += max(delay, .milliseconds(1))
      take(server.handleTimeout(now: now))
      guard isUnderWay else { continue }
      isUnderWay = false
      take(server.delivered(to: host, now: now))
    }
  }

  @Test mutating func aFloodComesAtARateThatTheHostMayAnswer() {
    for number in 0..<64 as Range<UInt64> {
      let id = join(number + 2, from: .v6(0, number))
      for _ in 0..<40 { send(200, from: id) }
    }
    pass(.seconds(4))
    // A second's worth at once, then fifty a second.
    #expect((200...260).contains(arrived.count), "\(arrived.count)")
  }

  @Test mutating func theirBytesAreBoundedWhateverTheConnectionTakes() {
    for number in 0..<64 as Range<UInt64> {
      let id = join(number + 2, from: .v6(0, number))
      for _ in 0..<4 { send(60_000, from: id) }
    }
    pass(.seconds(4), taking: .milliseconds(100))
    let bytes = arrived.reduce(0) { $0 + $1.message.utf8.count }
    #expect((300_000...(5 * 256 * 1024 + 64 * 1024)).contains(bytes), "\(bytes)")
    #expect(!errors.isEmpty, "who sends too much is told")
  }

  @Test mutating func oneThatTakesNothingHasOneMessageUnderWay() {
    let id = join(2, from: Self.attacker)
    for _ in 0..<40 { send(1000, from: id) }
    now += .seconds(3)
    take(server.handleTimeout(now: now))
    #expect(arrived.count == 1)
  }

  @Test(arguments: [200, 60_000]) mutating func aParentWaitsForItsTurnAndNoLonger(size: Int) {
    for number in 0..<48 as Range<UInt64> {
      let id = join(number + 2, from: number < 16 ? Self.attacker : .v6(0, number))
      for _ in 0..<64 { send(size, from: id) }
    }
    pass(.seconds(2))
    let parent = join(100, from: Self.family)
    send(8000, from: parent, "offer")
    // Attackers go on.
    for number in 0..<48 as Range<UInt64> { send(size, from: RoomConnectionID(number: number + 2)) }
    pass(.seconds(2))
    #expect(arrived.contains { $0.message.hasPrefix("offer") }, "\(arrived.count)")
    #expect(errors[parent] == nil)
  }

  @Test mutating func whatAParentHasSentComesInItsOrderOnceItIsVouchedFor() {
    let parent = join(2, from: Self.family)
    for index in 0..<60 { send(300, from: parent, "\(index) ") }
    #expect(arrived.count == 1)
    let vouched = server.receive(.vouch(client: "c2", lifetime: nil), from: Self.host, now: now)
    var order = arrived.map(\.message)
    for case .send(Self.host, .message(let delivery)) in vouched { order.append(delivery.message) }
    send(300, from: parent, "60 ")
    guard
      case .send(Self.host, .message(let last))? = server.receive(
        .send(to: Self.child.id, message: "61 "), from: parent, now: now
      ).first
    else { return #expect(Bool(false), "it is no stranger any more") }
    order.append(last.message)
    #expect(order.compactMap { Int($0.prefix { $0 != " " }) } == Array(0..<60) + [61])
  }

  /// 32 messages of 60 kB, which closed the connection for reading slowly at each return.
  @Test mutating func whatWaitedForAnAbsentHostComesOneByOne() throws {
    take(server.disconnect(Self.host))
    let id = join(2, from: Self.attacker)
    for _ in 0..<32 { send(60_000, from: id) }
    let back = RoomConnectionID(number: 3)
    try comeBack(back)
    #expect(arrived.count == 1)
    pass(.seconds(2), host: back)
    #expect(arrived.count <= 10 && closed[back] == nil)
  }

  @Test mutating func whoHasGoneIsForgotten() {
    let id = join(2, from: Self.attacker)
    for _ in 0..<30 { send(500, from: id) }
    take(server.disconnect(id))
    pass(.seconds(3))
    #expect(arrived.count == 1)
  }

  /// Each stranger's message may cost it two commands, a goodbye and a dismissal.
  @Test mutating func aHostMayAnswerWhateverItIsGiven() {
    for second in 0..<10 {
      for number in 0..<128 {
        now += .milliseconds(7)
        take(server.receive(.dismiss(client: "n\(second)-\(number)", reason: ""), from: Self.host, now: now))
      }
    }
    #expect(closed.isEmpty)
  }
}
