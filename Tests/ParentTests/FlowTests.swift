import Control
import Discovery
import Identity
import NIOCore
import NIOHTTP1
import NIOPosix
import Pairing
import SecureTransport
import Server
import Signaling
import Storage
import Synchronization
import Testing
import Wire

@testable import Parent

/// A parent with a child on loopback, over real sockets: paired, found, commanded, parted.
@Suite(.timeLimit(.minutes(1))) struct FlowTests {
  fileprivate struct Household {
    let child: FakeChild
    let parent: TemporaryState

    static func paired(
      certificateIdentity: NodeIdentity? = nil, away: AwayDocument? = nil, isGreeting: Bool = true
    ) async throws -> Household {
      let child = try await FakeChild.start(
        certificateIdentity: certificateIdentity, away: away, isGreeting: isGreeting)
      let parent = try TemporaryState()
      let call = PairingCall(state: parent.state, name: "Kitchen")
      _ = try await call.pair(child.openPairing().code, at: [#require(ChildAddress("127.0.0.1:\(child.port)"))])
      return Household(child: child, parent: parent)
    }

    /// With nobody on the network, unless told.
    func find(_ text: String? = nil, on discovery: FakeDiscovery = FakeDiscovery(problem: .noAvahi)) async throws
      -> PairedChild
    {
      try await ChildFinder(state: parent.state, discovery: discovery).paired(text)
    }
  }

  @Test func bothEndsStoreThePair() async throws {
    let home = try await Household.paired()
    let record = try #require(try home.parent.state.pairs().records.first)
    #expect(record.id == home.child.identity.id)
    #expect(record.name == "Nursery")
    #expect(record.lastAddress?.addresses == [.v4(0x7f00_0001)])
    #expect(try await home.child.parents().map(\.name) == ["Kitchen"])
    #expect(try await home.child.parents().map(\.id) == [try home.parent.state.identity().id])
    await home.child.stop()
  }

  @Test func aLinkPairsAsWell() async throws {
    let child = try await FakeChild.start()
    let parent = try TemporaryState()
    let outcome = try await PairingCall(state: parent.state, name: "Attic").pair(child.openPairing().link)
    #expect(outcome.words.words.count == CheckWords.count)
    #expect(try parent.state.pairs().records.count == 1)
    await child.stop()
  }

  @Test func aWrongCodeSaysHowManyTriesAreLeft() async throws {
    let child = try await FakeChild.start()
    let parent = try TemporaryState()
    let right = try await child.openPairing().code
    let wrong = try #require(PairingCode("\(right)" == "0000-0000" ? "1111-1111" : "0000-0000"))
    let address = try #require(ChildAddress("127.0.0.1:\(child.port)"))
    await #expect(throws: PairingError.wrongCode(triesLeft: 2)) {
      try await PairingCall(state: parent.state, name: "Kitchen").pair(wrong, at: [address])
    }
    #expect(try parent.state.pairs().records.isEmpty)
    await child.stop()
  }

  @Test func pairingTriesTheNextAddress() async throws {
    let child = try await FakeChild.start()
    let parent = try TemporaryState()
    let addresses = ["127.0.0.1:1", "127.0.0.1:\(child.port)"].compactMap { ChildAddress($0) }
    _ = try await PairingCall(state: parent.state, name: "Kitchen").pair(child.openPairing().code, at: addresses)
    #expect(try parent.state.pairs().records.first?.lastAddress?.port == child.port)
    await child.stop()
  }

  // MARK: - What is asked after pairing

  @Test func howTheChildIsReachedFromElsewhereIsKept() async throws {
    let place = MeetingDocument(kind: "rendezvous", url: "wss://meet.example.org")
    let server = ICEServerDocument(urls: ["turn:turn.example.org"], username: "u", credential: "c")
    let home = try await Household.paired(away: AwayDocument(iceServers: [server], meetings: [place]))
    let before = try home.parent.state.away()
    #expect(before.meetings(of: home.child.identity.id).isEmpty)
    try await AwayCall.ask(home.find())
    let after = try home.parent.state.away()
    #expect(after.meetings(of: home.child.identity.id) == [place])
    #expect(after.servers(of: home.child.identity.id).map(\.urls) == [server.urls])
    await home.child.stop()
  }

  /// It reconnects just then, as after its place was started again.
  @Test func aChildThatIsNotAtItsPlaceIsLookedForOnceMore() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let key = NodeIdentity.generate()
    let asked = Mutex(0)
    let endpoint = WebSocketEndpoint(path: "/signal") { socket in
      socket.onText = { text in
        guard case .register(let room, let client)? = try? RoomMessages.request(text) else { return }
        let isFirst = asked.withLock { count in
          count += 1
          return count == 1
        }
        socket.send(
          RoomMessages.text(
            .registered(
              RoomRegistration(
                room: room, client: client, isInitiator: true, challenge: String(repeating: "A", count: 22),
                host: isFirst ? .absent : .elsewhere(presence: "what it says")))))
      }
    }
    let server = try await HTTPServer.start(
      host: "127.0.0.1", port: 0,
      tls: TLSContext(key: key.key, certificate: Certificate(key: key.key, addresses: [.v4(0x7f00_0001)])),
      webSocket: endpoint, on: loop
    ) { _ in loop.makeSucceededFuture(HTTPResponse(status: .notFound)) }
    let digest = CryptoHashes().sha256(key.publicKeySPKI).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let place = MeetingDocument(kind: "rendezvous", url: "wss://127.0.0.1:\(server.port)", keySHA256: digest)
    let home = try await Household.paired(away: AwayDocument(iceServers: [], meetings: [place]))
    try await AwayCall.ask(home.find())
    await home.child.stop()
    do {
      try await AwayCall.ask(home.find())
      Issue.record("nobody is there")
    } catch { #expect("\(error)".contains("what stands there for the child does not count"), "\(error)") }
    #expect(asked.withLock(\.self) == 2)
    await server.stop()
  }

  @Test func aChildOfAnEarlierVersionHasNothingToTell() async throws {
    let home = try await Household.paired()
    try await AwayCall.ask(home.find())
    #expect(try home.parent.state.away().meetings(of: home.child.identity.id).isEmpty)
    await home.child.stop()
  }

  @Test func aChildThatSaysNothingIsLeftAndStaysPaired() async throws {
    let home = try await Household.paired(isGreeting: false)
    await #expect(throws: ParentError.self) {
      try await AwayCall.ask(home.find(), within: .milliseconds(100))
    }
    #expect(try home.parent.state.pairs().records.count == 1)
    await home.child.stop()
  }

  @Test(arguments: [false, true])
  func aCommandIsAnswered(isCertificateFromElsewhere: Bool) async throws {
    let home = try await Household.paired(certificateIdentity: isCertificateFromElsewhere ? .generate() : nil)
    let session = try await ControlSession.open(home.find())
    #expect(try await session.perform(LightSet(state: .on)).state == .on)
    #expect(try await session.perform(Ping()).time == 1)
    var pushes = session.pushes.makeAsyncIterator()
    guard case .hello(let hello)? = await pushes.next() else { return #expect(Bool(false), "no hello") }
    #expect(hello.name == "Nursery")
    await session.close()
    await home.child.stop()
  }

  /// As a child whose places are all taken: it takes the connection and ends it.
  @Test func aBusyChildIsAskedAgain() async throws {
    let home = try await Household.paired()
    let door = try await BusyDoor.open(to: home.child.port, refused: 1)
    try home.parent.state.changePairs { store in
      store.touch(
        id: home.child.identity.id, date: UnixTime(seconds: 1),
        address: KnownAddress(host: nil, addresses: [.v4(0x7f00_0001)], port: door.port))
      try store.saveNotes()
    }
    let session = try await ControlSession.open(home.find())
    #expect(try await session.perform(Ping()).time == 1)
    #expect(door.knocks == 2)
    await session.close()
    try await door.close()
    await home.child.stop()
  }

  @Test func theChildsRefusalIsTheCommandsFailure() async throws {
    let home = try await Household.paired()
    let session = try await ControlSession.open(home.find())
    await #expect(throws: ControlFailure.refused(ControlError(.unavailable, "There is no such light."))) {
      try await session.perform(LightSet(id: "sun", state: .on))
    }
    await session.close()
    await home.child.stop()
  }

  @Test func aPictureOfSeveralMessagesArrivesWhole() async throws {
    let home = try await Household.paired()
    let session = try await ControlSession.open(home.find())
    #expect(try await session.fetch(ScreenshotTake()).bytes == FakeChild.picture)
    await session.close()
    await home.child.stop()
  }

  @Test func whoWaitsIsToldWhenTheSessionEnds() async throws {
    let home = try await Household.paired()
    let session = try await ControlSession.open(home.find())
    let unanswered = Task { try await session.perform(TalkAcquire()) }
    try await Task.sleep(for: .milliseconds(50))
    await session.close()
    await #expect(throws: ControlFailure.closed) { try await unanswered.value }
    await home.child.stop()
  }

  @Test func theChildIsFoundWhereTheNetworkSaysAndThatIsRemembered() async throws {
    let home = try await Household.paired()
    let id = home.child.identity.id
    try home.parent.state.changePairs { store in
      store.touch(
        id: id, date: UnixTime(seconds: 1), address: KnownAddress(host: nil, addresses: [.v4(0x7f00_0001)], port: 1))
      try store.saveNotes()
    }
    let network = FakeDiscovery([.test("Nursery", id: id, addresses: ["127.0.0.1"], port: home.child.port)])
    let session = try await ControlSession.open(home.find("nursery", on: network))
    await session.close()
    for _ in 0..<100 where try home.parent.state.pairs().records.first?.lastAddress?.port == 1 {
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(try home.parent.state.pairs().records.first?.lastAddress?.port == home.child.port)
    await home.child.stop()
  }

  @Test func aPairedChildIsMeantByItsNameOnTheNetworkToo() async throws {
    let home = try await Household.paired()
    let id = home.child.identity.id
    let network = FakeDiscovery([.test("Nursery #2", id: id), .test("Cellar", id: "000000000000000b")])
    #expect(try await home.find("nursery #2", on: network).record.id == id)
    await #expect(throws: FindingError.notPaired("Cellar", paired: ["Nursery"])) {
      try await home.find("Cellar", on: network)
    }
    await home.child.stop()
  }

  @Test func aChildToPairWithIsFoundWithoutItsName() async throws {
    let parent = try TemporaryState()
    let attic = DiscoveredChild.test("Attic", id: "000000000000000a", addresses: ["192.0.2.8"])
    let nursery = DiscoveredChild.test("Nursery", addresses: ["192.0.2.7"], pairing: .open)
    let finder = ChildFinder(state: parent.state, discovery: FakeDiscovery([attic, nursery]))
    #expect(try await finder.find(nil).addresses.map(\.description) == ["192.0.2.7:8443"])
    #expect(try await finder.find("attic").addresses.map(\.description) == ["192.0.2.8:8443"])
    #expect(try await finder.find("192.0.2.9:1").addresses.map(\.description) == ["192.0.2.9:1"])
    let lonely = ChildFinder(state: parent.state, discovery: FakeDiscovery(problem: .noAvahi))
    await #expect(throws: FindingError.nothingFound(.noAvahi)) { try await lonely.find(nil) }
  }

  @Test func anAddressIsEnoughToFindAPairedChild() async throws {
    let home = try await Household.paired()
    #expect(try await home.find("127.0.0.1:\(home.child.port)").record.id == home.child.identity.id)
    await #expect(throws: FindingError.self) { try await home.find("127.0.0.1:1") }
    await home.child.stop()
  }

  @Test func aChildThatCannotBeReachedIsAClearError() async throws {
    let home = try await Household.paired()
    await home.child.stop()
    let found = try await home.find()
    let error = await #expect(throws: ParentError.self) { try await ControlSession.open(found) }
    #expect(error?.description.contains("“Nursery” cannot be reached") == true, "\(String(describing: error))")
    #expect(error?.isFinal == false)
  }

  @Test func aFarewellEndsThePairingAtTheChild() async throws {
    let home = try await Household.paired()
    let found = try await home.find()
    try await UnpairingCall.send(to: found)
    #expect(try found.forget())
    #expect(try await home.child.parents().isEmpty)
    #expect(try home.parent.state.pairs().records.isEmpty)
    await home.child.stop()
  }

  @Test func aFarewellThatTheChildCannotStoreIsAFailure() async throws {
    let home = try await Household.paired()
    home.child.storesRemovals = false
    let found = try await home.find()
    let error = await #expect(throws: UnpairingCall.NotStored.self) { try await UnpairingCall.send(to: found) }
    #expect(error?.description.contains("could not store that") == true, "\(String(describing: error))")
    await home.child.stop()
  }

  @Test func aChildThatEndedThePairingIsForgotten() async throws {
    let home = try await Household.paired()
    try await home.child.unpairAll()
    let found = try await home.find()
    let error = await #expect(throws: ParentError.self) { try await ControlSession.open(found) }
    #expect(error?.isFinal == true)
    #expect(error?.description.contains("pair again") == true)
    #expect(try home.parent.state.pairs().records.isEmpty)
    await home.child.stop()
  }

  @Test func revokingEndsAnOpenSession() async throws {
    let home = try await Household.paired()
    let session = try await ControlSession.open(home.find())
    try await home.child.unpairAll()
    for await _ in session.pushes {}
    await #expect(throws: ControlFailure.closed) { try await session.perform(Ping()) }
    await session.close()
    await home.child.stop()
  }
}

/// Why watching was given up, from whichever thread.
private final class Ending: Sendable {
  private let stream: AsyncStream<ParentError>
  let tell: @Sendable (ParentError) -> Void

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: ParentError.self)
    self.stream = stream
    tell = { continuation.yield($0) }
  }

  func first() async -> ParentError? {
    for await error in stream { return error }
    return nil
  }
}

extension FlowTests {
  @Test func watchingEndsWhenTheChildEndsThePairing() async throws {
    let home = try await Household.paired()
    let ending = Ending()
    let (connected, up) = AsyncStream.makeStream(of: Void.self)
    let watcher = try await Watcher.start(
      WatchOptions(.child(home.find())), notice: { if $0.kind == .connected { up.yield() } }, ended: ending.tell)
    for await _ in connected { break }
    try await home.child.unpairAll()
    #expect(await ending.first()?.description.contains("pair again") == true)
    _ = await watcher.stop()
    #expect(try home.parent.state.pairs().records.isEmpty)
    await home.child.stop()
  }
}
