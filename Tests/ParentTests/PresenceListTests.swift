import Control
import Identity
import NIOCore
import NIOPosix
import Pairing
import Storage
import Testing
import Wire

@testable import Parent

@Suite struct PresenceListTests {
  /// One server takes the connection and never answers, another is not there: both are named, and nobody waits for long.
  @Test func aServerThatNeverAnswersIsNamed() async throws {
    let frozen = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let closed = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(frozen.localAddress?.port)
    let closedPort = try #require(closed.localAddress?.port)
    try await closed.close()
    let parent = try TemporaryState()
    let identities = (NodeIdentity.generate(), NodeIdentity.generate())
    for (identity, name) in [(identities.0, "Cot"), (identities.1, "Door")] {
      try parent.state.changePairs {
        try $0.add(
          PairRecord(
            id: identity.id, name: name, role: .child, publicKey: identity.publicKeySPKI, permissions: .all,
            createdAt: UnixTime(seconds: 1)))
      }
    }
    let meetings = [port, closedPort].map { MeetingDocument(kind: "rendezvous", url: "wss://127.0.0.1:\($0)") }
    try parent.state.changeAway { try $0.remember([], meetings: meetings, of: identities.0.id) }
    let list = PresenceList(state: parent.state)
    #expect(try list.needsLooking())
    let start = ContinuousClock.now
    let result = try await list.look(within: .seconds(1))
    #expect(ContinuousClock.now - start < .seconds(10), "it would be 12 s else")
    #expect(result.children.map(\.name) == ["Cot", "Door"])
    #expect(result.children.map(\.presence) == ["unreachable", nil])
    try #require(result.unreachable.count == 2)
    #expect(result.unreachable.contains("wss://127.0.0.1:\(port): no answer in 1 s"), "\(result.unreachable)")
    #expect(result.unreachable.contains { $0.hasPrefix("wss://127.0.0.1:\(closedPort): ") }, "\(result.unreachable)")
    try await frozen.close()
  }
}
