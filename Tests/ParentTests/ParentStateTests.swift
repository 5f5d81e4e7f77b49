import Identity
import Pairing
import Storage
import Testing

@testable import Parent

@Suite struct ParentStateTests {
  private static func record() -> PairRecord {
    let identity = NodeIdentity.generate()
    return PairRecord(
      id: identity.id, name: "Nursery", role: .child, publicKey: identity.publicKeySPKI, permissions: .all,
      createdAt: UnixTime(seconds: 1))
  }

  @Test func theIdentityIsMadeOnce() throws {
    let parent = try TemporaryState()
    let id = try parent.state.identity().id
    #expect(try ParentState(path: parent.state.path).identity().id == id)
    #expect(try AtomicFile(path: "\(parent.state.path)/identity.pem").currentMode() == 0o600)
  }

  @Test func aDamagedIdentityIsReportedAndLeftAsItIs() throws {
    let parent = try TemporaryState()
    let file = AtomicFile(path: "\(parent.state.path)/identity.pem")
    try file.write(Array("no key".utf8))
    #expect(throws: ParentError.self) { try parent.state.identity() }
    #expect(try file.read() == Array("no key".utf8))
  }

  @Test func programsThatStartTogetherHaveOneIdentity() async throws {
    let parent = try TemporaryState()
    let state = parent.state
    let ids = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<4 { group.addTask { try state.identity().id } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
  }

  @Test func changesOfSeveralProgramsAtOnceAreAllKept() async throws {
    let parent = try TemporaryState()
    let path = parent.state.path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let record = Self.record()
          try ParentState(path: path).changePairs { try $0.add(record) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try parent.state.pairs().records.count == 8)
  }
}
